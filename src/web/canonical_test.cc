#include "web/canonical.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace meguri::web {
namespace {

std::string form(std::string_view input) {
  const auto url = Url::parse(input);
  return url ? canonical(*url).href() : "(failure)";
}

TEST(Canonical, FragmentEmptyQueryCredentialsAndRootDotGo) {
  EXPECT_EQ(form("http://a.org/b#c"), "http://a.org/b");
  EXPECT_EQ(form("http://a.org/b?"), "http://a.org/b");
  EXPECT_EQ(form("http://a.org/b?#"), "http://a.org/b");
  EXPECT_EQ(form("http://user:pass@a.org/b"), "http://a.org/b");
  EXPECT_EQ(form("http://a.org./b"), "http://a.org/b");
  EXPECT_EQ(form("http://a.org.:8080/b?c"), "http://a.org:8080/b?c");
  EXPECT_EQ(form("HTTP://A.ORG:80/../b"), "http://a.org/b");
}

TEST(Canonical, EscapesHaveOneForm) {
  EXPECT_EQ(form("http://a/%7Eb/%41%2d%5F%2E"), "http://a/~b/A-_.");
  EXPECT_EQ(form("http://a/%c3%a9?x=%e3%81%82"), "http://a/%C3%A9?x=%E3%81%82");
  EXPECT_EQ(form("http://a/b?%61=%62%26c"), "http://a/b?a=b%26c");
  EXPECT_EQ(form("http://a/%2F%3f%23%25"), "http://a/%2F%3F%23%25");
}

TEST(Canonical, StrayPercentSignsNeverBecomeEscapes) {
  EXPECT_EQ(form("http://a/%2%35"), "http://a/%2%35");
  EXPECT_EQ(form("http://a/%%34%31"), "http://a/%%341");
  EXPECT_EQ(form("http://a/%%32e"), "http://a/%%32e");
  EXPECT_EQ(form("http://a/%4%7A"), "http://a/%4z");
  EXPECT_EQ(form("http://a/%zz%"), "http://a/%zz%");
}

TEST(Canonical, DifferentPagesStayDifferent) {
  EXPECT_EQ(form("http://a/B"), "http://a/B");
  EXPECT_EQ(form("http://a/b/"), "http://a/b/");
  EXPECT_EQ(form("http://a/b//c"), "http://a/b//c");
  EXPECT_EQ(form("http://a/?b=2&a=1"), "http://a/?b=2&a=1");
  EXPECT_EQ(form("http://www.a/?jsessionid=0123456789abcdef0123456789abcdef"),
            "http://www.a/?jsessionid=0123456789abcdef0123456789abcdef");
  EXPECT_EQ(form("http://a../b"), "http://a../b");
  EXPECT_EQ(form("http://./b"), "http://./b");
}

TEST(Canonical, OtherSchemesLoseOnlyTheirFragment) {
  EXPECT_EQ(form("mailto:a%41@b.org?#x"), "mailto:a%41@b.org?");
  EXPECT_EQ(form("data:a #b"), "data:a%20");
  EXPECT_EQ(form("ftp://u@h./%7e#f"), "ftp://u@h./%7e");
  EXPECT_EQ(form("sc:/.//p#f"), "sc:/.//p");
}

TEST(Canonical, IsAFixedPointWithTheOffsetsOfAParsedUrl) {
  constexpr std::array kPieces = {"a", "B",  "%", "%2",  "%25",      "%41", "%2e", "%2F",
                                  "/", "//", "?", "#",   "%7e",      "5",   "4",   "..",
                                  ".", ":",  "@", "%e3", "\xC3\xA9", "'",   "&",   "=",
                                  ";", "~",  "|", "\\",  ":81",      "www."};
  std::mt19937_64 random(7);
  for (int i = 0; i < 50'000; ++i) {
    std::string input = random() % 4 == 0 ? "http://u:p@" : "http://h.org.";
    for (auto n = random() % 12; n > 0; --n) input += kPieces.at(random() % kPieces.size());
    const auto url = Url::parse(input);
    if (!url) continue;
    const Url once = canonical(*url);
    const auto reparsed = Url::parse(once.href());
    ASSERT_TRUE(reparsed) << input;
    ASSERT_EQ(reparsed->href(), once.href()) << input;
    ASSERT_EQ(canonical(once).href(), once.href()) << input;
    ASSERT_EQ(once.host(), reparsed->host()) << input;
    ASSERT_EQ(once.port(), reparsed->port()) << input;
    ASSERT_EQ(once.path(), reparsed->path()) << input;
    ASSERT_EQ(once.query(), reparsed->query()) << input;
    ASSERT_EQ(once.has_query(), reparsed->has_query()) << input;
    ASSERT_FALSE(once.has_fragment() || once.has_credentials()) << input;
  }
}

}  // namespace
}  // namespace meguri::web
