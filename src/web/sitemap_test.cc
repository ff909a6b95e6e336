#include "web/sitemap.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "web/testing.h"

namespace meguri::web {
namespace {

std::vector<std::string> locs(const Sitemap& sitemap) {
  std::vector<std::string> urls;
  for (const SitemapEntry& entry : sitemap.entries) urls.push_back(entry.loc);
  return urls;
}

using Urls = std::vector<std::string>;

TEST(Sitemap, PlainTextIsAListOfUrls) {
  for (const char* name : {"sitemaps/sitemap.txt", "sitemaps/sitemap-with-bom.txt"}) {
    READ_TEST_DATA(file, name);
    const Sitemap sitemap = parse_sitemap(file);
    EXPECT_EQ(sitemap.report.kind, DocumentKind::kTextSitemap);
    EXPECT_EQ(locs(sitemap),
              (Urls{"http://www.domain.com/page1.html", "http://www.domain.com/page2.html"}));
  }
  const Sitemap mixed = parse_sitemap("http://a/\r\n\r\n# note\r  https://b/ \nftp://c/\n");
  EXPECT_EQ(locs(mixed), (Urls{"http://a/", "https://b/"}));
  EXPECT_EQ(mixed.report.skipped, 2);
}

TEST(Sitemap, NamespacesMayBeWrongOrPrefixed) {
  for (const char* name : {"sitemaps/sitemap.badns.xml", "sitemaps/sitemap.ns.xml"}) {
    READ_TEST_DATA(file, name);
    const Sitemap sitemap = parse_sitemap(file);
    EXPECT_EQ(sitemap.report.kind, DocumentKind::kSitemap);
    EXPECT_EQ(sitemap.report.end, XmlEnd::kComplete);
    ASSERT_EQ(locs(sitemap), (Urls{"http://www.example.com/1", "http://www.example.com/2"}));
    for (const SitemapEntry& entry : sitemap.entries) {
      EXPECT_EQ(entry.change_frequency, ChangeFrequency::kDaily);
    }
  }
  EXPECT_EQ(locs(parse_sitemap("<x:urlset><x:url><x:loc>http://a/</x:loc></x:url></x:urlset>")),
            Urls{"http://a/"});
}

TEST(Sitemap, TextDirectlyInAnIndexEntryIsItsUrl) {
  READ_TEST_DATA(file, "sitemaps/sitemap.index.xml");
  const Sitemap sitemap = parse_sitemap(file);
  EXPECT_EQ(sitemap.report.kind, DocumentKind::kSitemapIndex);
  ASSERT_EQ(sitemap.entries.size(), 15);
  EXPECT_EQ(sitemap.entries[0].loc, "https://example.com/sitemap.jss?portalCode=10260&lang=en");
  EXPECT_EQ(sitemap.entries[14].loc, "https://example.com/sitemap.jss?portalCode=10570&lang=en");
}

TEST(Sitemap, IndexEntriesHaveLocAndDate) {
  const Sitemap sitemap = parse_sitemap(
      "<sitemapindex><sitemap><loc>http://a/1.xml.gz</loc><lastmod>2004-10-01T18:23:17+00:00"
      "</lastmod></sitemap><url><loc>http://a/no</loc></url></sitemapindex>");
  ASSERT_EQ(locs(sitemap), Urls{"http://a/1.xml.gz"});
  EXPECT_EQ(sitemap.entries[0].lastmod, "2004-10-01T18:23:17+00:00");
}

TEST(Sitemap, NewsHaveADateOfPublication) {
  READ_TEST_DATA(file, "sitemaps/sitemap-news.xml");
  const Sitemap sitemap = parse_sitemap(file);
  ASSERT_EQ(locs(sitemap), (Urls{"http://www.example.org/business/article55.html",
                                 "http://www.example.org/empty_news_name.html"}));
  EXPECT_EQ(sitemap.entries[0].publication_date, "2008-12-23");
  EXPECT_EQ(sitemap.entries[1].publication_date, "2025-05-27");
}

TEST(Sitemap, FieldsOfTheProtocolAreRead) {
  // The content of sitemaps/xmlSitemap.gz, which is compressed there.
  const Sitemap sitemap = parse_sitemap(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
      "<url><loc>http://www.example.com/</loc><lastmod>2005-01-01</lastmod>"
      "<changefreq>monthly</changefreq><priority>0.8</priority></url>\n"
      "<url><loc>http://www.example.com/catalog?item=12&amp;desc=vacation_hawaii</loc>"
      "<changefreq>weekly</changefreq></url>\n"
      "<url><loc>http://www.example.com/catalog?item=74&amp;desc=x</loc>"
      "<lastmod>2004-12-23T18:00:15+00:00</lastmod><priority>0.3</priority></url></urlset>");
  ASSERT_EQ(sitemap.entries.size(), 3);
  EXPECT_EQ(sitemap.entries[0].lastmod, "2005-01-01");
  EXPECT_EQ(sitemap.entries[0].change_frequency, ChangeFrequency::kMonthly);
  EXPECT_EQ(sitemap.entries[0].priority, 0.8);
  EXPECT_EQ(sitemap.entries[1].loc, "http://www.example.com/catalog?item=12&desc=vacation_hawaii");
  EXPECT_FALSE(sitemap.entries[1].priority);
  EXPECT_EQ(sitemap.entries[2].lastmod, "2004-12-23T18:00:15+00:00");
  for (const std::string_view bad : {"", "high", "1.1", "-0.1", "nan", "0.5x", "1e0"}) {
    const auto one = parse_sitemap("<urlset><url><loc>http://a/</loc><priority>" +
                                   std::string(bad) + "</priority></url></urlset>");
    EXPECT_FALSE(one.entries.at(0).priority) << bad;
  }
}

TEST(Sitemap, ImagesVideosAndTranslationsAreGathered) {
  const Sitemap sitemap = parse_sitemap(
      "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
      " xmlns:img='http://www.google.com/schemas/sitemap-image/1.1'"
      " xmlns:xhtml='http://www.w3.org/1999/xhtml'><url>"
      "<img:image><img:loc>http://a/1.png</img:loc><img:title>t</img:title></img:image>"
      "<image:image><image:loc>http://a/2.png</image:loc></image:image>"
      "<image><loc>http://a/3.png</loc></image>"
      "<loc>http://a/</loc>"
      "<video:video><video:content_loc>http://a/v.mp4</video:content_loc>"
      "<video:player_loc allow_embed='yes'>http://a/p?v=1</video:player_loc>"
      "<video:thumbnail_loc>http://a/t.png</video:thumbnail_loc></video:video>"
      "<xhtml:link rel='alternate' hreflang='de' href='http://a/de'/>"
      "<xhtml:link rel='canonical' href='http://a/c'/>"
      "<xhtml:link rel='alternate' hreflang='x-default' href=' http://a/x '/>"
      "</url></urlset>");
  ASSERT_EQ(sitemap.entries.size(), 1);
  const SitemapEntry& entry = sitemap.entries[0];
  EXPECT_EQ(entry.loc, "http://a/");
  EXPECT_EQ(entry.images, (Urls{"http://a/1.png", "http://a/2.png", "http://a/3.png"}));
  EXPECT_EQ(entry.videos, (Urls{"http://a/v.mp4", "http://a/p?v=1"}));
  EXPECT_EQ(entry.alternates,
            (std::vector<SitemapAlternate>{{"de", "http://a/de"}, {"x-default", "http://a/x"}}));
}

TEST(Sitemap, WhatWasReadBeforeAFaultStays) {
  const std::string good = "<urlset><url><loc>http://a/</loc></url>";
  EXPECT_EQ(locs(parse_sitemap(good + "<url><loc>http://b/</loc><lastmod>20")),
            (Urls{"http://a/", "http://b/"}));
  EXPECT_EQ(locs(parse_sitemap(good + "<url><loc>http://b/c")), Urls{"http://a/"});
  EXPECT_EQ(locs(parse_sitemap(good + "</wrong>")), Urls{"http://a/"});
  const Sitemap ampersand = parse_sitemap(
      "<urlset><url><loc>http://a/?x=1&y=2&copy=3</loc></url><url><loc>http://b/</loc></url></"
      "urlset>");
  EXPECT_EQ(locs(ampersand), (Urls{"http://a/?x=1&y=2&copy=3", "http://b/"}));
}

TEST(Sitemap, OtherDocumentsAreNotRead) {
  EXPECT_EQ(parse_sitemap("<rss><url><loc>http://a/</loc></url></rss>").report.kind,
            DocumentKind::kRss);
  EXPECT_EQ(parse_sitemap("<!DOCTYPE html><html><body>").report.kind, DocumentKind::kHtml);
  EXPECT_EQ(parse_sitemap("").report.kind, DocumentKind::kOther);
  EXPECT_TRUE(parse_sitemap("<rss><url><loc>http://a/</loc></url></rss>").entries.empty());
}

TEST(Sitemap, EntriesWithoutAUsableUrlAreSkipped) {
  const std::string longest = "http://a/" + std::string(kSitemapUrlBytesMax - 9, 'x');
  const Sitemap sitemap = parse_sitemap(
      "<urlset><url></url><url><loc> </loc></url><url><loc>" + longest + "x</loc></url><url><loc>" +
      std::string(9000, ' ') + longest + std::string(9000, '\n') + "</loc></url></urlset>");
  EXPECT_EQ(locs(sitemap), Urls{longest});
  EXPECT_EQ(sitemap.report.skipped, 3);
}

TEST(Sitemap, UrlsBeyondTheLimitAreCutAndSaid) {
  std::string xml = "<urlset>";
  std::string text;
  for (std::size_t i = 0; i <= kSitemapUrlsMax; ++i) {
    const std::string url = "http://a/" + std::to_string(i);
    xml += "<url><loc>" + url + "</loc></url>";
    text += url + "\n";
  }
  for (const std::string& file : {xml, text}) {
    const Sitemap sitemap = parse_sitemap(file);
    EXPECT_EQ(sitemap.entries.size(), kSitemapUrlsMax);
    EXPECT_EQ(sitemap.report.entries, kSitemapUrlsMax);
    EXPECT_TRUE(sitemap.report.urls_cut);
  }
}

TEST(Sitemap, ExtrasOfOneEntryAreBounded) {
  std::string xml = "<urlset><url><loc>http://a/</loc>";
  for (int i = 0; i < 100'000; ++i) {
    xml += "<image:image><image:loc>http://a/i</image:loc></image:image>";
  }
  EXPECT_EQ(parse_sitemap(xml).entries.at(0).images.size(), kSitemapExtrasMax);
}

TEST(Sitemap, DoctypesAreIgnored) {
  EXPECT_EQ(locs(parse_sitemap("<!DOCTYPE urlset [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
                               "<urlset><url><loc>http://a/&x;</loc></url></urlset>")),
            Urls{"http://a/&x;"});
}

}  // namespace
}  // namespace meguri::web
