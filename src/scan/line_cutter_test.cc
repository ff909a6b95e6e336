#include "scan/line_cutter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace meguri::scan {
namespace {

std::vector<std::string> lines_of(std::string_view text, std::size_t piece_bytes) {
  std::vector<std::string> lines;
  const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
  LineCutter cutter;
  for (; !text.empty(); text.remove_prefix(std::min(piece_bytes, text.size()))) {
    cutter.feed(text.substr(0, piece_bytes), take);
  }
  cutter.finish(take);
  return lines;
}

TEST(LineCutter, GivesTheSameLinesWhereverTheTextIsCut) {
  const std::vector<std::string> expected = {"one", "", "two\rhalves", "three", "", "last"};
  for (std::size_t piece = 1; piece < 30; ++piece) {
    EXPECT_EQ(lines_of("one\n\ntwo\rhalves\r\nthree\n\r\nlast", piece), expected) << piece;
  }
}

TEST(LineCutter, GivesNoLineBehindTheLastEnd) {
  EXPECT_EQ(lines_of("a\nb\n", 3), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(lines_of("", 3).empty());
}

TEST(LineCutter, DividesLongLinesBetweenCharacters) {
  constexpr std::size_t kMax = LineCutter::kLineBytesMax;
  std::string text(kMax - 1, 'x');
  text += "\xE6\x97\xA5y\nz";
  const std::vector<std::string> expected = {std::string(kMax - 1, 'x'), "\xE6\x97\xA5y", "z"};
  EXPECT_EQ(lines_of(text, text.size()), expected);
  EXPECT_EQ(lines_of(text, 1000), expected);
}

TEST(LineCutter, HoldsNoMoreThanALine) {
  std::size_t given = 0;
  LineCutter cutter;
  const auto take = [&given](std::string_view line) {
    EXPECT_EQ(line.size(), LineCutter::kLineBytesMax);
    given += line.size();
  };
  for (int i = 0; i < 5; ++i) cutter.feed(std::string(LineCutter::kLineBytesMax, 'x'), take);
  EXPECT_EQ(given, 4 * LineCutter::kLineBytesMax);
}

TEST(CutText, EndsWithAWholeCharacter) {
  EXPECT_EQ(cut_text("abc", 5), "abc");
  EXPECT_EQ(cut_text("abcdef", 3), "abc");
  EXPECT_EQ(cut_text("ab\xC3\xA9z", 3), "ab");
  EXPECT_EQ(cut_text("ab\xC3\xA9z", 4), "ab\xC3\xA9");
  EXPECT_EQ(cut_text("a\xF0\x9F\x98\x80z", 4), "a");
  // What is no UTF-8 is cut anywhere.
  EXPECT_EQ(cut_text("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80\x80\x80\x80");
}

}  // namespace
}  // namespace meguri::scan
