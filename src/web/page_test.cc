#include "web/page.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <utility>
#include <vector>

#include "web/content_decoder.h"
#include "web/document_kind.h"
#include "web/testing.h"

namespace meguri::web {
namespace {

Page read(std::string_view body, std::string_view url = "http://example.com/a/b.html",
          const FieldList& fields = {}) {
  const auto parsed = Url::parse(url);
  PageContext context;
  context.url = parsed ? &*parsed : nullptr;
  context.fields = &fields;
  context.year_now = 2026;
  context.want_text = true;
  return read_page(body, context);
}

FieldList fields_of(std::initializer_list<std::pair<std::string_view, std::string_view>> list) {
  FieldList fields;
  for (const auto& [name, value] : list) fields.add(name, value);
  return fields;
}

std::vector<std::string> urls_of(const Page& page) {
  std::vector<std::string> urls;
  for (const PageLink& link : page.links) {
    urls.push_back(std::string(name_of(link.kind)) + " " + link.url.href());
  }
  return urls;
}

using Urls = std::vector<std::string>;

std::string gzip(std::string_view text) {
  constexpr int kGzipBits = 15 + 16;
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, kGzipBits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(::deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

TEST(Page, LinksOfHtmlAreRelativeToTheFirstBaseEvenBeforeIt) {
  const Page page = read("<a href=x>1</a><base href=/c/d><a href=y>2</a><img src=//h/i>");
  EXPECT_EQ(page.format, PageFormat::kHtml);
  EXPECT_EQ(urls_of(page), (Urls{"navigation http://example.com/c/x",
                                 "navigation http://example.com/c/y", "embed http://h/i"}));
}

TEST(Page, ABaseThatIsNoWebAddressIsIgnored) {
  EXPECT_EQ(urls_of(read("<p><base href='data:text/html,x'><a href=y>")),
            (Urls{"navigation http://example.com/a/y"}));
  EXPECT_EQ(urls_of(read("<p><base href='javascript:1'><a href=y>")),
            (Urls{"navigation http://example.com/a/y"}));
}

TEST(Page, QueriesAreWrittenInTheCharsetOfTheDocument) {
  const Page page = read("<meta charset=shift_jis><a href='?q=\x93\xfa'>");
  EXPECT_EQ(page.charset.charset, Charset::kShiftJis);
  EXPECT_EQ(urls_of(page), (Urls{"navigation http://example.com/a/b.html?q=%93%FA"}));
}

TEST(Page, TheHeadersCharsetLanguageLinksAndDirectivesCount) {
  const Page page =
      read("<title>\xe9</title><meta name=robots content=nofollow>", "http://example.com/",
           fields_of({{"Content-Type", "text/html; charset=iso-8859-1"},
                      {"Content-Language", "fr"},
                      {"X-Robots-Tag", "noarchive"},
                      {"X-Robots-Tag", "otherbot: noindex"},
                      {"Link", "</canonical>; rel=canonical, </s.css>; rel=preload"}}));
  EXPECT_EQ(page.title, "é");
  EXPECT_EQ(page.declared_language, "fr");
  EXPECT_TRUE(page.directives.nofollow && page.directives.noarchive);
  EXPECT_FALSE(page.directives.noindex);
  EXPECT_EQ(urls_of(page),
            (Urls{"hint http://example.com/canonical", "embed http://example.com/s.css"}));
  ASSERT_TRUE(page.canonical_link);
  EXPECT_EQ(page.canonical_link->href(), "http://example.com/canonical");
}

TEST(Page, CountsWhatIsNoAddress) {
  const Page page = read("<a href='http://a b/'><a href=x>", "nothing");
  EXPECT_EQ(page.links.size(), 0U);
  EXPECT_EQ(page.links_unresolved, 2U);
}

TEST(Page, StyleSheetsGiveWhatTheyNeed) {
  const Page page = read("@import 'x.css'; a{b:url(i.png)}", "http://example.com/css/a.css",
                         fields_of({{"Content-Type", "text/css"}}));
  EXPECT_EQ(page.format, PageFormat::kCss);
  EXPECT_EQ(urls_of(page),
            (Urls{"embed http://example.com/css/x.css", "embed http://example.com/css/i.png"}));
}

TEST(Page, SitemapsGiveTheirEntriesWithDates) {
  const Page page = read(
      "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
      "<url><loc>http://example.com/1</loc><lastmod>2026-11-15</lastmod></url>"
      "<url><loc>/2</loc></url></urlset>");
  EXPECT_EQ(page.format, PageFormat::kSitemap);
  EXPECT_EQ(urls_of(page),
            (Urls{"navigation http://example.com/1", "navigation http://example.com/2"}));
  ASSERT_TRUE(page.links[0].date);
  EXPECT_EQ(page.links[0].date->to_rfc3339(), "2026-11-15T00:00:00Z");
  EXPECT_FALSE(page.links[1].date);
}

TEST(Page, ACompressedSitemapIsReadOnceItIsDecoded) {
  READ_TEST_DATA(bytes, "sitemaps/xmlSitemap.gz");
  ASSERT_TRUE(is_gzip(bytes));
  const DecodedContent decoded = decode_content(bytes, "gzip");
  ASSERT_EQ(decoded.outcome, DecodeOutcome::kComplete);
  const Page page = read(decoded.bytes);
  EXPECT_EQ(page.format, PageFormat::kSitemap);
  EXPECT_EQ(urls_of(page).size(), 5U);
}

TEST(Page, AFileOfGzipIsReadIfItHoldsADocument) {
  const std::string index = gzip(
      "<sitemapindex><sitemap><loc>http://example.com/1.xml.gz</loc></sitemap>"
      "</sitemapindex>");
  for (const char* type : {"application/gzip", "application/octet-stream", "text/xml"}) {
    const Page page =
        read(index, "http://example.com/sitemap.xml.gz", fields_of({{"Content-Type", type}}));
    EXPECT_EQ(page.format, PageFormat::kSitemapIndex) << type;
    EXPECT_TRUE(page.unpacked);
    EXPECT_FALSE(page.cut);
    EXPECT_EQ(urls_of(page), Urls{"navigation http://example.com/1.xml.gz"});
  }
  // A list of addresses is believed as text, which the type of the package does not tell.
  const Page list =
      read(gzip("http://example.com/a\nhttp://example.com/b\n"), "http://example.com/s.txt.gz",
           fields_of({{"Content-Type", "application/x-gzip"}}));
  EXPECT_EQ(list.format, PageFormat::kTextSitemap);
  EXPECT_EQ(list.links.size(), 2U);
  const Page broken = read(index.substr(0, index.size() - 6));
  EXPECT_TRUE(broken.cut);
  EXPECT_EQ(broken.links.size(), 1U);
  // Other files stay what they are.
  const Page other = read(gzip(std::string_view("some/file\0\0\0", 12)));
  EXPECT_EQ(other.format, PageFormat::kBinary);
  EXPECT_FALSE(other.unpacked);
}

// A gigabyte of blanks in an element is not unpacked to the end.
TEST(Page, ABombOfGzipIsCut) {
  std::string text = "<urlset><url><loc>http://example.com/a</loc></url><!--";
  text.append(60'000'000, ' ');
  const Page page = read(gzip(text));
  EXPECT_EQ(page.format, PageFormat::kSitemap);
  EXPECT_TRUE(page.cut);
  EXPECT_EQ(page.links.size(), 1U);
}

TEST(Page, FeedsGiveTheirEntriesInAnyCharset) {
  const Page page = read(
      "<?xml version='1.0' encoding='EUC-JP'?><rss version='2.0'><channel><title>\xc6\xfc\xcb\xdc"
      "</title><item><title>t</title><link>/1</link>"
      "<pubDate>Sun, 15 Nov 2026 10:00:00 +0900</pubDate></item></channel></rss>");
  EXPECT_EQ(page.format, PageFormat::kRss);
  EXPECT_EQ(page.title, "日本");
  ASSERT_EQ(page.links.size(), 1U);
  EXPECT_EQ(page.links[0].url.href(), "http://example.com/1");
  EXPECT_EQ(page.links[0].date->to_rfc3339(), "2026-11-15T01:00:00Z");
}

TEST(Page, FeedLinksFollowTheirXmlBase) {
  const Page page = read(
      "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='/f/'><entry xml:base='g/'>"
      "<link href='1'/></entry><entry><link href='2'/></entry></feed>");
  EXPECT_EQ(urls_of(page),
            (Urls{"navigation http://example.com/f/g/1", "navigation http://example.com/f/2"}));
}

TEST(Page, RubbishAndNothingAreRead) {
  EXPECT_EQ(read(std::string_view("\x89PNG\r\n\x1a\n\0\0\0", 11)).format, PageFormat::kBinary);
  EXPECT_EQ(read("").format, PageFormat::kText);
  EXPECT_EQ(read("", "http://h/", fields_of({{"Content-Type", "text/html"}})).format,
            PageFormat::kHtml);
  const Page text = read("just some words");
  EXPECT_EQ(text.format, PageFormat::kText);
  EXPECT_EQ(text.main_text, "just some words");
}

}  // namespace
}  // namespace meguri::web
