#include "web/text_diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <string>
#include <vector>

namespace meguri::web {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Where a hunk begins in the text before, from 0: "@@ -3,2 +…" and "@@ -2,0 +…" are both 2.
std::size_t begin_of(const std::string& head) {
  const std::string span = head.substr(4, head.find(' ', 4) - 4);
  std::size_t line = 0;
  std::from_chars(span.data(), span.data() + span.size(), line);
  return span.ends_with(",0") ? line : line - 1;
}

// As patch(1) does it; what the hunks say of the text before must hold.
Lines patched(const Lines& before, const std::string& hunks) {
  Lines after;
  std::size_t at = 0;
  for (const std::string& line : lines_of(hunks)) {
    if (line.starts_with("@@ ")) {
      for (const std::size_t begin = begin_of(line); at < begin; ++at) after.push_back(before[at]);
      continue;
    }
    const std::string text = line.substr(1);
    if (line[0] != '+') {
      EXPECT_LT(at, before.size());
      EXPECT_EQ(before[at], text);
      ++at;
    }
    if (line[0] != '-') after.push_back(text);
  }
  for (; at < before.size(); ++at) after.push_back(before[at]);
  return after;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).push_back('\n');
  return text;
}

TEST(TextDiff, ShowsAChangedLineWithItsContext) {
  const TextDiff diff = diff_texts("1\n2\n3\n4\n5\nold\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n",
                                   "1\n2\n3\n4\n5\nnew\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n");
  EXPECT_EQ(diff.outcome, TextDiffOutcome::kDiffers);
  EXPECT_EQ(diff.hunks,
            "@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-old\n+new\n 6\n 7\n 8\n"
            "@@ -14,3 +14,4 @@\n 13\n 14\n 15\n+16\n");
  EXPECT_EQ(diff.removed, 1U);
  EXPECT_EQ(diff.inserted, 2U);
}

TEST(TextDiff, ChangesWhoseContextsMeetAreOneHunk) {
  const TextDiff diff = diff_texts("a\n1\n2\nb\n", "A\n1\n2\nB\n", {.context = 1});
  EXPECT_EQ(diff.hunks, "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n-b\n+B\n");
}

TEST(TextDiff, EqualTextsAreTheSame) {
  EXPECT_EQ(diff_texts("", "").outcome, TextDiffOutcome::kSame);
  EXPECT_EQ(diff_texts("a\nb", "a\nb\n").outcome, TextDiffOutcome::kSame);
  EXPECT_EQ(diff_texts("a\n", "a\n\n").outcome, TextDiffOutcome::kDiffers);
}

TEST(TextDiff, OneTextMayBeEmpty) {
  EXPECT_EQ(diff_texts("", "a\nb\n").hunks, "@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(diff_texts("a\n", "").hunks, "@@ -1 +0,0 @@\n-a\n");
}

TEST(TextDiff, LongTextsThatDifferLittleAreCompared) {
  Lines before;
  for (int i = 0; i < 100'000; ++i) before.push_back(fmt::format("line {}", i));
  Lines after = before;
  after[50'000] = "another";
  EXPECT_EQ(diff_texts(joined(before), joined(after), {.context = 0}).hunks,
            "@@ -50001 +50001 @@\n-line 50000\n+another\n");
}

TEST(TextDiff, TextsPastALimitAreNotShown) {
  Lines before;
  Lines after;
  for (int i = 0; i < 3000; ++i) {
    before.push_back(fmt::format("before {}", i));
    after.push_back(fmt::format("after {}", i));
  }
  const TextDiff different = diff_texts(joined(before), joined(after));
  EXPECT_EQ(different.outcome, TextDiffOutcome::kTooDifferent);
  EXPECT_EQ(different.hunks, "");
  EXPECT_EQ(different.removed, 3000U);
  EXPECT_EQ(diff_texts(joined(before), joined(after), {.lines_max = 2999}).outcome,
            TextDiffOutcome::kTooLong);
  EXPECT_EQ(diff_texts("a\n", std::string(2000, 'b'), {.bytes_max = 1000}).outcome,
            TextDiffOutcome::kTooDifferent);
}

TEST(TextDiff, WhatItShowsLeadsFromOneTextToTheOther) {
  std::mt19937_64 random(7);
  const auto below = [&random](std::size_t bound) -> std::size_t { return random() % bound; };
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    const std::size_t alphabet = 1 + below(6);
    Lines before(below(30));
    for (std::string& line : before) line = std::string(below(alphabet), 'x');
    Lines after = before;
    for (std::size_t i = below(10); i > 0; --i) {
      const auto at = after.begin() + static_cast<std::ptrdiff_t>(below(after.size() + 1));
      if (below(2) == 0 || at == after.end()) {
        after.insert(at, std::string(below(alphabet), 'x'));
      } else {
        after.erase(at);
      }
    }
    const TextDiff diff = diff_texts(joined(before), joined(after), {.context = below(4)});
    ASSERT_EQ(patched(before, diff.hunks), after);
    ASSERT_EQ(diff.outcome == TextDiffOutcome::kSame, before == after);
    ASSERT_EQ(before.size() + diff.inserted, after.size() + diff.removed);
  }
}

}  // namespace
}  // namespace meguri::web
