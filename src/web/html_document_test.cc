#include "web/html_document.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace meguri::web {
namespace {

// "kind source url" of every link.
std::vector<std::string> links_of(std::string_view html, const HtmlOptions& options = {}) {
  const HtmlDocument document = read_html(html, options);
  std::vector<std::string> links;
  for (const HtmlLink& link : document.links) {
    links.push_back(std::string(name_of(link.kind)) + " " + std::string(name_of(link.source)) +
                    " " + std::string(document.view(link.url)));
  }
  return links;
}

using Lines = std::vector<std::string>;

TEST(HtmlDocument, FindsEveryKindOfLink) {
  EXPECT_EQ(
      links_of("<a href=1><area href=2><form action=3><form method=GET action=4>"
               "<form method=post action=no><form method=' dialog ' action=no>"),
      (Lines{"navigation a 1", "navigation area 2", "navigation form 3", "navigation form 4"}));
  EXPECT_EQ(
      links_of("<img src=1 srcset='2 1x, 3 2x' longdesc=4><script src=5></script>"
               "<iframe src=6></iframe><frame src=7><embed src=8><object data=9></object>"),
      (Lines{"embed image 1", "embed srcset 2", "embed srcset 3", "hint cite 4", "embed script 5",
             "embed iframe 6", "embed frame 7", "embed plugin 8", "embed plugin 9"}));
  EXPECT_EQ(links_of("<video src=1 poster=2><source src=3><source srcset=4><track src=5></video>"
                     "<audio src=6></audio><input type=IMAGE src=7><input src=no>"),
            (Lines{"embed media 2", "embed media 1", "embed media 3", "embed srcset 4",
                   "embed media 5", "embed media 6", "embed input 7"}));
  EXPECT_EQ(links_of("<body background=1><td style='background:url(2)'>"
                     "<style>@import '3'; a{b:url(\"4\")}</style><q cite=5>"
                     "<img data-src=6 data-srcset='7 1x'>"),
            (Lines{"embed background 1", "embed css 2", "embed stylesheet 3", "embed css 4",
                   "hint cite 5", "hint lazy 6", "hint lazy 7"}));
}

TEST(HtmlDocument, LinkElementsAreSortedByTheirRel) {
  const HtmlDocument document = read_html(
      "<link rel=stylesheet href=1><link rel='shortcut ICON' href=2><link rel=canonical href=3>"
      "<link rel=alternate hreflang=ja href=4><link rel=dns-prefetch href=//no>"
      "<link rel=preload as=image imagesrcset='5 1x' href=6><link href=7><link rel=manifest href=8>"
      "<link rel=canonical href=9>");
  Lines found;
  for (const HtmlLink& link : document.links) {
    found.push_back(std::string(name_of(link.kind)) + " " + std::string(document.view(link.url)) +
                    " " + std::string(document.view(link.rel)) + " " +
                    std::string(document.view(link.hreflang)));
  }
  EXPECT_EQ(found, (Lines{"embed 1 stylesheet ", "embed 2 shortcut ICON ", "hint 3 canonical ",
                          "hint 4 alternate ja", "embed 5  ", "embed 6 preload ", "hint 7  ",
                          "embed 8 manifest ", "hint 9 canonical "}));
  EXPECT_EQ(document.view(document.canonical), "3");
}

TEST(HtmlDocument, KeepsRelOfAnchors) {
  const HtmlDocument document = read_html("<a href=1 rel='NoFollow ugc x'><a href=2>");
  EXPECT_EQ(document.links[0].rel_bits, kRelNofollow | kRelUgc);
  EXPECT_EQ(document.view(document.links[0].rel), "NoFollow ugc x");
  EXPECT_EQ(document.links[1].rel_bits, 0);
}

TEST(HtmlDocument, DecodesAndTrimsAddresses) {
  EXPECT_EQ(links_of("<a href=' /a?b=1&amp;c=2&copy=3&#x41;\n '>"),
            (Lines{"navigation a /a?b=1&c=2&copy=3A"}));
  EXPECT_EQ(links_of("<a href=''><a href='  '><a><A HREF=x>"), (Lines{"navigation a x"}));
}

TEST(HtmlDocument, SeesNoLinksInRawTextAndComments) {
  EXPECT_EQ(links_of("<script>'<a href=1>'</script><style><a href=2></style><!-- <a href=3> -->"
                     "<textarea><a href=4></textarea><title><a href=5></title>"
                     "<xmp><a href=6></xmp><noframes><a href=7></noframes>"
                     "<iframe><a href=8></iframe><a href=9>"),
            (Lines{"navigation a 9"}));
  EXPECT_EQ(links_of("<noscript><a href=1></noscript>"), (Lines{"navigation a 1"}));
}

TEST(HtmlDocument, ReadsSvgAndMathAsTheStandardDoes) {
  // Style and title in SVG are not raw text; a p ends it.
  EXPECT_EQ(links_of("<svg><title><a href=1></title><style><a href=2 /></style>"
                     "<a xlink:href=3></a><image href=4 /><use href='#no'/></svg>"),
            (Lines{"navigation a 1", "navigation svg 2", "navigation svg 3", "embed svg 4"}));
  EXPECT_EQ(links_of("<svg><![CDATA[<a href=no>]]><p><style><a href=no></style><a href=1>"),
            (Lines{"navigation a 1"}));
  EXPECT_EQ(links_of("<svg><foreignObject><style><a href=no></style><a href=1></a></foreignObject>"
                     "<style><a href=2></a></style></svg><style><a href=no></style>"),
            (Lines{"navigation a 1", "navigation svg 2"}));
  EXPECT_EQ(links_of("<math><mi><style><a href=no></style></mi></math><a href=1>"),
            (Lines{"navigation a 1"}));
}

TEST(HtmlDocument, LinksInTemplatesAreHints) {
  EXPECT_EQ(links_of("<template><a href=1></template><a href=2></template><a href=3>"),
            (Lines{"hint a 1", "navigation a 2", "navigation a 3"}));
}

TEST(HtmlDocument, ReadsMetaElements) {
  const HtmlDocument document = read_html(
      "<meta http-equiv=Refresh content='5; url=\"/next\"'><meta name=robots content=' noindex '>"
      "<meta property=og:image content=/i.png><meta name=x><meta name=description content=d>");
  ASSERT_EQ(document.links.size(), 2U);
  EXPECT_EQ(document.view(document.links[0].url), "/next");
  EXPECT_EQ(document.links[0].source, LinkSource::kMetaRefresh);
  EXPECT_EQ(document.links[1].kind, LinkKind::kHint);
  ASSERT_EQ(document.metas.size(), 3U);
  EXPECT_EQ(document.view(document.metas[0].name), "robots");
  EXPECT_EQ(document.view(document.metas[0].content), "noindex");
}

TEST(HtmlDocument, TheFirstTitleBaseAndLanguageCount) {
  const HtmlDocument document = read_html(
      "<html lang=ja><base target=x><base href=/a/><base href=/b/>"
      "<svg><title>icon</title></svg><title>\n Ti&amp;\n tle </title><title>no</title>");
  EXPECT_EQ(document.view(document.title), "Ti& tle");
  EXPECT_EQ(document.view(document.base), "/a/");
  EXPECT_EQ(document.view(document.language), "ja");
}

TEST(HtmlDocument, GivesAnchorTextWhenAsked) {
  const HtmlDocument document =
      read_html("<a href=1> one <b>two</b><img alt=three src=x></a><a href=2>four<a href=3>five",
                {.anchor_text = true});
  ASSERT_EQ(document.links.size(), 4U);
  EXPECT_EQ(document.view(document.links[0].text), "one twothree");
  EXPECT_EQ(document.view(document.links[2].text), "four");
  EXPECT_EQ(document.view(document.links[3].text), "five");
}

TEST(HtmlDocument, CutsLongTextsBetweenCharacters) {
  std::string html = "<title>";
  for (int i = 0; i < 2000; ++i) html += "あ";
  const HtmlDocument document = read_html(html);
  const std::string_view title = document.view(document.title);
  EXPECT_LE(title.size(), kTitleBytesMax);
  EXPECT_GT(title.size(), kTitleBytesMax - 8);
  EXPECT_EQ(title.size() % 3, 0U);
}

TEST(HtmlDocument, BoundsTheNumberOfLinks) {
  std::string html;
  for (int i = 0; i < 100; ++i) html += "<a href=x>";
  const HtmlDocument document = read_html(html, {.links_max = 10});
  EXPECT_EQ(document.links.size(), 10U);
  EXPECT_TRUE(document.links_cut);
  EXPECT_FALSE(read_html("<a href=x>").links_cut);
}

TEST(HtmlDocument, IsLinearOnDeepAndOddInput) {
  for (const std::string_view unit :
       {"<svg>", "<svg><a>", "<a href=x>", "<template>", "<math><mi>", "</svg>", "<p style='url('>",
        "<style>url(", "<img srcset='a,b (,'>", "<meta name=a content=b>", "<title>"}) {
    std::string html;
    while (html.size() < 4'000'000) html += unit;
    EXPECT_LE(read_html(html, {.anchor_text = true}).links.size(), 10'000U);
  }
}

}  // namespace
}  // namespace meguri::web
