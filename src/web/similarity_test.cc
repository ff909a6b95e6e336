#include "web/similarity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>  // tidy: allow real pages are read from the disk as they are
#include <iterator>
#include <string>
#include <vector>

#include "web/html_text.h"
#include "web/testing.h"

namespace meguri::web {
namespace {

namespace fs = std::filesystem;  // tidy: allow test data

std::string main_text_of(std::string_view html) { return read_text(html).main_text(); }

// `count` different words.
std::string words(int count, std::string_view prefix = "w") {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text.append(prefix);
    for (int rest = i; rest > 0; rest /= 26) text.push_back(static_cast<char>('a' + rest % 26));
    text.push_back(' ');
  }
  return text;
}

// The share of features that differ, exactly.
double exact_difference(std::string_view a, std::string_view b) {
  const auto x = features_of(a);
  const auto y = features_of(b);
  std::vector<std::uint64_t> common;
  std::ranges::set_intersection(x, y, std::back_inserter(common));
  const auto all = static_cast<double>(x.size() + y.size() - common.size());
  return all == 0 ? 0 : 1 - static_cast<double>(common.size()) / all;
}

TEST(Similarity, DatesAndCountersDoNotCount) {
  const auto at = [](std::string_view when, std::string_view visitors) {
    return sketch_of("Welcome. It is " + std::string(when) + ". You are visitor " +
                     std::string(visitors) + " of this page, which has not changed.");
  };
  EXPECT_EQ(at("Sunday, 15 November 2026 10:00 UTC", "1,024"),
            at("Monday, 2 March 2027 23:59 GMT", "99"));
  EXPECT_EQ(sketch_of("2026年11月15日(日) 更新"), sketch_of("2027年1月2日(日) 更新"));
  EXPECT_FALSE(change_counts(at("3rd of May 2026", "1"), at("4th of May 2026", "2")));
}

TEST(Similarity, MonthsAloneAreWords) {
  EXPECT_NE(sketch_of("in may we march on").hash, sketch_of("in june we walk on").hash);
}

TEST(Similarity, CaseAndPunctuationDoNotCount) {
  EXPECT_EQ(sketch_of("Hello, World! It's — fine."), sketch_of("hello world it s fine"));
}

TEST(Similarity, EveryChangeOfAShortTextCounts) {
  EXPECT_TRUE(change_counts(sketch_of("open today"), sketch_of("closed today")));
  EXPECT_TRUE(change_counts(sketch_of(""), sketch_of("something")));
  EXPECT_FALSE(change_counts(sketch_of(""), sketch_of(" 12 ")));
}

TEST(Similarity, AWordInALongTextDoesNotCountAndAParagraphDoes) {
  const std::string before = words(2000);
  EXPECT_FALSE(change_counts(sketch_of(before), sketch_of(before + "more")));
  EXPECT_TRUE(change_counts(sketch_of(before), sketch_of(before + words(200, "x"))));
  EXPECT_NEAR(difference(sketch_of(before), sketch_of(words(2000, "x"))), 1, 0.1);
}

TEST(Similarity, EstimatesAreNearTheTruth) {
  for (const int changed : {50, 100, 200, 400, 600}) {
    const std::string a = words(2000) + words(changed, "x");
    const std::string b = words(2000) + words(changed, "y");
    const double exact = exact_difference(a, b);
    EXPECT_NEAR(difference(sketch_of(a), sketch_of(b)), exact, 0.02 + exact / 3) << changed;
  }
}

// The manuals of two versions of one program: 70 pages, of which about half have new text.
TEST(Similarity, TellsWhichRealPagesChanged) {
  const fs::path before = "/usr/share/doc/clang-14/html";
  const fs::path after = "/usr/share/doc/clang-15/html";
  if (!fs::exists(before) || !fs::exists(after)) GTEST_SKIP() << "no clang-14-doc, clang-15-doc";
  int pairs = 0;
  int unchanged = 0;
  int changed = 0;
  for (const auto& entry : fs::directory_iterator(before)) {
    const fs::path other = after / entry.path().filename();
    if (entry.path().extension() != ".html" || !fs::exists(other)) continue;
    const auto a = read_file(entry.path());
    const auto b = read_file(other);
    ASSERT_TRUE(a && b);
    EXPECT_NE(*a, *b);  // the version's number is everywhere
    const std::string x = main_text_of(*a);
    const std::string y = main_text_of(*b);
    const double exact = exact_difference(x, y);
    const bool counts = change_counts(sketch_of(x), sketch_of(y));
    ++pairs;
    if (exact < kDifferenceThreshold / 2) {
      EXPECT_FALSE(counts) << entry.path() << " " << exact;
      ++unchanged;
    } else if (exact > kDifferenceThreshold * 1.5) {
      EXPECT_TRUE(counts) << entry.path() << " " << exact;
      ++changed;
    }
  }
  EXPECT_GT(pairs, 50);
  EXPECT_GT(unchanged, 20);
  EXPECT_GT(changed, 10);
}

TEST(HtmlText, FindsTheMainText) {
  const PageText page = read_text(
      "<title>no</title><header>Site name, in the header of every page of this site</header>"
      "<nav><ul><li><a href=1>Home</a><li><a href=2>About</a></ul></nav>"
      "<main><h1>Heading</h1><p>A paragraph of the page that has enough words to be its own "
      "text.<ul><li>short</ul><p>Another paragraph that has enough words to be told from a "
      "menu.</main><div><a href=3>next</a> <a href=4>previous</a></div>"
      "<footer>All rights reserved, and some more words that nobody reads at all</footer>"
      "<script>var no = 'not at all a text of this page';</script>");
  EXPECT_EQ(page.main_text(),
            "Heading\nA paragraph of the page that has enough words to be its own text.\nshort\n"
            "Another paragraph that has enough words to be told from a menu.\n");
}

TEST(HtmlText, CountsCharactersWhereWordsHaveNoSpaces) {
  const PageText page =
      read_text("<p>これは日本語の文章で、空白なしに書かれています。<nav>案内</nav>");
  EXPECT_EQ(page.main_text(), "これは日本語の文章で、空白なしに書かれています。\n");
}

TEST(HtmlText, APageOfShortBlocksIsAllMain) {
  EXPECT_EQ(read_text("<p>One<p>Two<nav>Three</nav>").main_text(), "One\nTwo\n");
  EXPECT_EQ(read_text("").main_text(), "");
}

TEST(HtmlText, IsBounded) {
  std::string html;
  while (html.size() < 3 * kTextBytesMax) html += "<p>some text of which there is too much";
  const PageText page = read_text(html);
  EXPECT_TRUE(page.cut);
  EXPECT_LE(page.text.size(), kTextBytesMax);
  EXPECT_LE(page.blocks.size(), kTextBlocksMax);
}

TEST(HtmlText, IsLinearOnOddInput) {
  for (const std::string_view unit : {"<nav>", "</nav>", "<div hidden>", "<a href=x>", "<p>x", "x",
                                      " ", "x ", "12 ", "may ", "<main>", "あ", "\xFF", "&amp;"}) {
    std::string html;
    while (html.size() < 4'000'000) html += unit;
    const PageText page = read_text(html);
    EXPECT_LE(page.text.size(), kTextBytesMax);
    EXPECT_LE(features_of(html).size(), kFeaturesMax);
    EXPECT_FALSE(change_counts(sketch_of(html), sketch_of(html)));
  }
}

}  // namespace
}  // namespace meguri::web
