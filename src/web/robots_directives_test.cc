#include "web/robots_directives.h"

#include <gtest/gtest.h>

namespace meguri::web {
namespace {

TEST(RobotsDirectives, MetaDirectivesAreReadInAnyCaseAndSpacing) {
  for (const std::string_view content :
       {"noindex,nofollow", "NOINDEX, NoFollow", "  noindex ,\tnofollow ", "noindex nofollow",
        "noindex;nofollow", "none", "nofollow, index, noindex", ",,noindex,,nofollow,"}) {
    const RobotsDirectives read = parse_meta_robots(content);
    EXPECT_TRUE(read.noindex && read.nofollow) << content;
    EXPECT_FALSE(read.noarchive) << content;
  }
  EXPECT_EQ(parse_meta_robots("index, follow, all"), RobotsDirectives());
  EXPECT_EQ(parse_meta_robots(""), RobotsDirectives());
  EXPECT_EQ(parse_meta_robots("noindexing, xnofollow, no follow"), RobotsDirectives());
  const RobotsDirectives rest =
      parse_meta_robots("noarchive, nosnippet, noimageindex, notranslate, indexifembedded");
  EXPECT_TRUE(rest.noarchive && rest.nosnippet && rest.noimageindex && rest.notranslate &&
              rest.indexifembedded);
  EXPECT_TRUE(parse_meta_robots("nocache").noarchive);
}

TEST(RobotsDirectives, LimitsAreReadAndBadOnesIgnored) {
  const RobotsDirectives read =
      parse_meta_robots("max-snippet:20, max-image-preview: large, MAX-VIDEO-PREVIEW: -1, noindex");
  EXPECT_EQ(read.max_snippet, 20);
  EXPECT_EQ(read.max_image_preview, ImagePreview::kLarge);
  EXPECT_EQ(read.max_video_preview, -1);
  EXPECT_TRUE(read.noindex);
  for (const std::string_view bad :
       {"max-snippet", "max-snippet:", "max-snippet:x", "max-snippet:-2",
        "max-snippet:99999999999999999999", "max-snippet:1.5", "max-image-preview:huge"}) {
    EXPECT_EQ(parse_meta_robots(bad), RobotsDirectives()) << bad;
  }
  EXPECT_EQ(parse_meta_robots("max-snippet:50, max-snippet:10").max_snippet, 10);
  const RobotsDirectives blanks = parse_meta_robots("max-snippet: 5 nofollow");
  EXPECT_TRUE(blanks.nofollow);
  EXPECT_EQ(blanks.max_snippet, 5);
}

TEST(RobotsDirectives, DatesKeepTheirCommas) {
  const RobotsDirectives read =
      parse_meta_robots("noarchive, unavailable_after: Friday, 25-Jun-10 15:00:00 PST, nofollow");
  EXPECT_EQ(read.unavailable_after, "Friday, 25-Jun-10 15:00:00 PST");
  EXPECT_TRUE(read.noarchive && read.nofollow);
  EXPECT_EQ(parse_meta_robots("unavailable_after:2020-09-21T10:00:00Z").unavailable_after,
            "2020-09-21T10:00:00Z");
  EXPECT_EQ(parse_meta_robots("unavailable_after: " + std::string(5000, 'x')).unavailable_after,
            std::string(kUnavailableAfterBytesMax, 'x'));
}

TEST(RobotsDirectives, HeadersSpeakToTheAgentTheyName) {
  const std::string_view value = "noarchive, googlebot: nofollow, otherbot: noindex, nosnippet";
  const RobotsDirectives google = parse_x_robots_tag(value, "Googlebot/2.1");
  EXPECT_TRUE(google.noarchive && google.nofollow);
  EXPECT_FALSE(google.noindex || google.nosnippet);
  const RobotsDirectives other = parse_x_robots_tag(value, "OtherBot");
  EXPECT_TRUE(other.noarchive && other.noindex && other.nosnippet);
  EXPECT_FALSE(other.nofollow);
  const RobotsDirectives us = parse_x_robots_tag(value, "meguri");
  EXPECT_TRUE(us.noarchive);
  EXPECT_FALSE(us.noindex || us.nofollow || us.nosnippet);
  EXPECT_TRUE(parse_x_robots_tag("*: noindex", "meguri").noindex);
  EXPECT_TRUE(parse_x_robots_tag("robots: noindex", "meguri").noindex);
  EXPECT_FALSE(parse_x_robots_tag("meguri-images: noindex", "meguri").noindex);
  EXPECT_FALSE(parse_x_robots_tag("googlebot: noindex", "").noindex);
}

TEST(RobotsDirectives, UnknownDirectivesWithValuesAreNoAgents) {
  const RobotsDirectives read =
      parse_x_robots_tag("foo: 12, noindex, bar: x y, nofollow", "meguri");
  EXPECT_TRUE(read.noindex && read.nofollow);
  const RobotsDirectives date = parse_x_robots_tag(
      "otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST, meguri: max-snippet: 3", "meguri");
  EXPECT_EQ(date.unavailable_after, "");
  EXPECT_EQ(date.max_snippet, 3);
  EXPECT_EQ(
      parse_x_robots_tag("unavailable_after: 25 Jun 2010 15:00:00 PST", "m").unavailable_after,
      "25 Jun 2010 15:00:00 PST");
}

TEST(RobotsDirectives, MergingTakesTheStricter) {
  const RobotsDirectives a = parse_meta_robots("noindex, max-snippet:-1, max-image-preview:large");
  const RobotsDirectives b =
      parse_meta_robots("nofollow, max-snippet:7, max-image-preview:none, unavailable_after: x");
  const RobotsDirectives both = merge(a, b);
  EXPECT_EQ(both, merge(b, a));
  EXPECT_TRUE(both.noindex && both.nofollow);
  EXPECT_EQ(both.max_snippet, 7);
  EXPECT_EQ(both.max_image_preview, ImagePreview::kNone);
  EXPECT_EQ(both.unavailable_after, "x");
  EXPECT_EQ(merge(a, {}), a);
  EXPECT_EQ(merge({}, a), a);
  const RobotsDirectives embedded = parse_meta_robots("noindex, indexifembedded");
  EXPECT_TRUE(merge(embedded, b).indexifembedded);
  EXPECT_FALSE(merge(embedded, a).indexifembedded) << "the other noindex has no such exception";
}

TEST(RobotsDirectives, MetaNamesAreRobotsAndOurs) {
  EXPECT_TRUE(is_robots_meta_name("Robots", "meguri"));
  EXPECT_TRUE(is_robots_meta_name(" MEGURI ", "Meguri/1.0"));
  EXPECT_FALSE(is_robots_meta_name("googlebot", "meguri"));
  EXPECT_FALSE(is_robots_meta_name("", ""));
}

TEST(RobotsDirectives, LongValuesAreCut) {
  std::string value = "nofollow";
  for (int i = 0; i < 1'000'000; ++i) value += ", x:";
  EXPECT_TRUE(parse_x_robots_tag(value + ", noindex", "meguri").nofollow);
  EXPECT_FALSE(parse_x_robots_tag(value + ", noindex", "meguri").noindex);
}

}  // namespace
}  // namespace meguri::web
