#include "web/utf8.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"

namespace meguri::web {
namespace {

using Kind = Utf8Front::Kind;

std::string cleaned(std::string_view text) {
  std::string out;
  append_as_valid_utf8(text, &out);
  return out;
}

std::string encoded(char32_t code_point) {
  std::string out;
  append_utf8(code_point, &out);
  return out;
}

// One byte after the other, by the strict reader of base.
std::size_t slow_valid_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const base::CodePoint next = base::first_code_point(text.substr(at));
    if (!next.valid) break;
    at += next.length;
  }
  return at;
}

TEST(Utf8, EveryScalarValueIsWrittenAndFoundValid) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    if (!is_scalar_value(code_point)) continue;
    const std::string text = encoded(code_point);
    const base::CodePoint read = base::first_code_point(text);
    ASSERT_TRUE(read.valid && read.value == code_point && read.length == text.size());
    ASSERT_TRUE(is_valid_utf8(text));
    ASSERT_EQ(utf8_front(text).length, text.size());
  }
}

TEST(Utf8, WhatIsNoScalarValueIsWrittenAsReplacement) {
  for (const char32_t code_point : {0xD800U, 0xDBFFU, 0xDC00U, 0xDFFFU, 0x110000U, 0xFFFFFFFFU}) {
    EXPECT_EQ(encoded(code_point), kReplacementUtf8);
  }
}

TEST(Utf8, IllFormedSequencesAreInvalid) {
  for (const std::string_view text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFE", "\xFF", "\xC2", "\xE3\x81", "\xF0\x9F\x98", "\xC2 ",
        "\xF8\x88\x80\x80\x80"}) {
    EXPECT_FALSE(is_valid_utf8(text)) << base::quoted(text);
  }
}

// The example of the Unicode Standard, chapter 3, on maximal subparts.
TEST(Utf8, EachMaximalSubpartBecomesOneReplacement) {
  EXPECT_EQ(cleaned("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(cleaned("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  EXPECT_EQ(cleaned("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDA");
  EXPECT_EQ(cleaned("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), "\uFFFD\uFFFD\uFFFD\uFFFDA");
  EXPECT_EQ(cleaned("\xE3\x81"), "\uFFFD");
}

TEST(Utf8, FrontTellsBrokenFromCut) {
  EXPECT_EQ(utf8_front("\xE3\x81").kind, Kind::kCut);
  EXPECT_EQ(utf8_front("\xF0\x9F\x98").kind, Kind::kCut);
  EXPECT_EQ(utf8_front("\xE0\x80").kind, Kind::kBroken);
  EXPECT_EQ(utf8_front("\xE0\x80").length, 1U);
  EXPECT_EQ(utf8_front("\xF0\x9F\x98z").kind, Kind::kBroken);
  EXPECT_EQ(utf8_front("\xF0\x9F\x98z").length, 3U);
}

// Every bad byte at every place around the blocks in which valid text is read, in buffers of the
// exact size, so that a read behind them is seen.
TEST(Utf8, TheFirstBreakIsFoundWhereverItStands) {
  constexpr std::string_view kFillers[] = {"a", "é", "猫", "😀", "猫a"};
  constexpr std::string_view kBreaks[] = {"\x80",         "\xC2",         "\xE3\x81",
                                          "\xF0\x9F\x98", "\xED\xA0\x80", "\xFF"};
  for (const std::string_view filler : kFillers) {
    for (const std::string_view broken : kBreaks) {
      for (std::size_t count = 0; count < 140; ++count) {
        std::string text;
        while (text.size() < count) text += filler;
        const std::size_t start = text.size();
        text.append(broken);
        if (count % 2 == 0) text.append("猫 and some more ASCII text behind the break");
        const auto exact = std::make_unique<char[]>(text.size());
        text.copy(exact.get(), text.size());
        const std::string_view view(exact.get(), text.size());
        ASSERT_EQ(valid_utf8_prefix(view), start) << base::quoted(text);
        ASSERT_EQ(slow_valid_prefix(view), start);
      }
    }
  }
}

TEST(Utf8, AsciiPrefixEndsAtTheFirstOtherByte) {
  for (std::size_t count = 0; count < 200; ++count) {
    const std::string text(count, 'x');
    EXPECT_EQ(ascii_prefix(text), count);
    EXPECT_EQ(ascii_prefix(text + "\x80" + text), count);
    EXPECT_EQ(ascii_prefix(text + "\xFFxx"), count);
  }
}

TEST(Utf8, MegabytesOfBrokenBytesTakeLinearTime) {
  for (const std::string_view part : {"\xFF", "\xE3", "a\xE9", "\xF0\x9F\x98"}) {
    std::string text;
    while (text.size() < 4'000'000) text += part;
    EXPECT_TRUE(is_valid_utf8(cleaned(text)));
  }
}

}  // namespace
}  // namespace meguri::web
