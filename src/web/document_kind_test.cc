#include "web/document_kind.h"

#include <gtest/gtest.h>

#include <string>

#include "web/testing.h"

namespace meguri::web {
namespace {

TEST(DocumentKind, FirstTagsTell) {
  struct Case {
    std::string_view bytes;
    DocumentKind kind;
  };
  for (const Case& c : {
           Case{"<urlset>", DocumentKind::kSitemap},
           Case{"\xEF\xBB\xBF\n<?xml version='1.0'?><!-- <rss> --><sm:urlset\n",
                DocumentKind::kSitemap},
           Case{"<SitemapIndex xmlns='x'>", DocumentKind::kSitemapIndex},
           Case{"<!DOCTYPE rss [<!ENTITY x '>'>]>\n<rss version='0.91'>", DocumentKind::kRss},
           Case{"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", DocumentKind::kRss},
           Case{"<rdf:RDF xmlns='http://my.netscape.com/rdf/simple/0.9/'>", DocumentKind::kRss},
           Case{"<rdf:RDF xmlns:foaf='http://xmlns.com/foaf/0.1/'>", DocumentKind::kOther},
           Case{"<a:feed xmlns:a='http://www.w3.org/2005/Atom'>", DocumentKind::kAtom},
           Case{"<!doctype HTML><urlset>", DocumentKind::kHtml},
           Case{" <html lang=en>", DocumentKind::kHtml},
           Case{"<p>", DocumentKind::kHtml},
           Case{"<svg>", DocumentKind::kOther},
           Case{"http://a/\nhttp://b/", DocumentKind::kTextSitemap},
           Case{"\n\nHTTPS://a/ \r\n", DocumentKind::kTextSitemap},
           Case{"http://a/ is a site", DocumentKind::kOther},
           Case{"User-agent: *", DocumentKind::kOther},
           Case{"", DocumentKind::kOther},
           Case{"<", DocumentKind::kOther},
           Case{"<!--", DocumentKind::kOther},
       }) {
    EXPECT_EQ(name_of(document_kind(c.bytes)), name_of(c.kind)) << c.bytes;
  }
}

TEST(DocumentKind, SampleFilesAreTold) {
  struct Case {
    const char* name;
    DocumentKind kind;
  };
  for (const Case& c : {Case{"sitemaps/atom.xml", DocumentKind::kAtom},
                        Case{"sitemaps/feed.rss", DocumentKind::kRss},
                        Case{"sitemaps/sitemap-news.xml", DocumentKind::kSitemap},
                        Case{"sitemaps/sitemap-with-bom.txt", DocumentKind::kTextSitemap},
                        Case{"sitemaps/sitemap.badns.xml", DocumentKind::kSitemap},
                        Case{"sitemaps/sitemap.index.xml", DocumentKind::kSitemapIndex},
                        Case{"sitemaps/sitemap.ns.xml", DocumentKind::kSitemap},
                        Case{"sitemaps/sitemap.txt", DocumentKind::kTextSitemap},
                        Case{"sitemaps/xmlSitemap.gz", DocumentKind::kOther}}) {
    READ_TEST_DATA(file, c.name);
    EXPECT_EQ(name_of(document_kind(file)), name_of(c.kind)) << c.name;
    EXPECT_EQ(is_gzip(file), std::string_view(c.name).ends_with(".gz")) << c.name;
  }
}

TEST(DocumentKind, NothingIsLookedForBehindTheLimit) {
  EXPECT_EQ(document_kind(std::string(kDocumentKindBytesMax, ' ') + "<urlset>"),
            DocumentKind::kOther);
  EXPECT_EQ(document_kind("<!--" + std::string(1'000'000, '-')), DocumentKind::kOther);
}

}  // namespace
}  // namespace meguri::web
