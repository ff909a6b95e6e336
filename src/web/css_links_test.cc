#include "web/css_links.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "web/srcset.h"

namespace meguri::web {
namespace {

using Urls = std::vector<std::string>;

Urls css(std::string_view text) {
  Urls urls;
  find_css_links(text, [&](std::string_view url, bool is_import) {
    urls.push_back((is_import ? "import " : "") + std::string(url));
  });
  return urls;
}

Urls srcset(std::string_view text) {
  Urls urls;
  find_srcset_urls(text, [&](std::string_view url) { urls.emplace_back(url); });
  return urls;
}

TEST(CssLinks, FindsUrlsInEveryForm) {
  EXPECT_EQ(css("a{b:url(1)} c{d:URL( \"2\" )} e{f:url('3')} g{h:url(  4  )}"),
            (Urls{"1", "2", "3", "4"}));
  EXPECT_EQ(css("src:url(a.eot?#x) format('eot'),url(b.woff)"), (Urls{"a.eot?#x", "b.woff"}));
  EXPECT_EQ(css("image-set('no' 1x, url(1) 2x)"), (Urls{"1"}));
}

TEST(CssLinks, FindsImports) {
  EXPECT_EQ(css("@import 'a.css'; @IMPORT url(b.css) print;@import/* c */\"d.css\""),
            (Urls{"import a.css", "import b.css", "import d.css"}));
}

TEST(CssLinks, ReadsEscapes) {
  EXPECT_EQ(css(R"(url(a\(b\).png) url("\41 \000042c") url('a\
b'))"),
            (Urls{"a(b).png", "ABc", "ab"}));
}

TEST(CssLinks, SkipsCommentsStringsAndWhatIsNotAnAddress) {
  EXPECT_EQ(css("/* url(1) */ content:'url(2)'; myurl(3); url(data:image/png;base64,xx); url()"),
            Urls{});
  EXPECT_EQ(css("url(a b(c) url(d)"), (Urls{"d"}));
  EXPECT_EQ(css("'open\nurl(1)"), (Urls{"1"}));
  EXPECT_EQ(css("url("), Urls{});
  EXPECT_EQ(css("url('x"), Urls{});
  EXPECT_EQ(css("@import"), Urls{});
}

TEST(CssLinks, IsLinear) {
  for (const std::string_view unit : {"url(", "url('", "/*", "@import", "\\", "'", "@import/*"}) {
    std::string text;
    while (text.size() < 2'000'000) text += unit;
    EXPECT_LE(css(text).size(), text.size());
  }
}

TEST(Srcset, SplitsAsTheStandardDoes) {
  EXPECT_EQ(srcset("a.png, b.png 2x,c.png 100w"), (Urls{"a.png", "b.png", "c.png"}));
  EXPECT_EQ(srcset(" , a,b 1x, ,,c,, d (x,y) z, e"), (Urls{"a,b", "c", "d", "e"}));
  EXPECT_EQ(srcset("data:image/png;base64,xx 1x, b"), (Urls{"data:image/png;base64,xx", "b"}));
  EXPECT_EQ(srcset(""), Urls{});
  EXPECT_EQ(srcset(" ,, "), Urls{});
  EXPECT_EQ(srcset("a (b"), (Urls{"a"}));
}

}  // namespace
}  // namespace meguri::web
