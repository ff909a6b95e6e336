#include "base/text.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::base {
namespace {

std::string printable(std::string_view text) {
  std::string out;
  append_printable(text, &out);
  return out;
}

std::string json(std::string_view text) {
  std::string out;
  append_json_string(text, &out);
  return out;
}

TEST(Text, EveryCodePointIsDecodedAndEverythingElseIsBroken) {
  for (std::uint32_t value = 0; value < 0x11'1000; ++value) {
    std::string bytes;
    if (value < 0x80) {
      bytes = {static_cast<char>(value)};
    } else if (value < 0x800) {
      bytes = {static_cast<char>(0xC0U | (value >> 6U)), static_cast<char>(0x80U | (value & 63U))};
    } else if (value < 0x10000) {
      bytes = {static_cast<char>(0xE0U | (value >> 12U)),
               static_cast<char>(0x80U | ((value >> 6U) & 63U)),
               static_cast<char>(0x80U | (value & 63U))};
    } else {
      bytes = {static_cast<char>(0xF0U | (value >> 18U)),
               static_cast<char>(0x80U | ((value >> 12U) & 63U)),
               static_cast<char>(0x80U | ((value >> 6U) & 63U)),
               static_cast<char>(0x80U | (value & 63U))};
    }
    const CodePoint point = first_code_point(bytes + "x");
    const bool is_valid = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
    ASSERT_EQ(point.valid, is_valid) << value;
    if (is_valid) {
      ASSERT_EQ(point.value, value);
      ASSERT_EQ(point.length, bytes.size());
      ASSERT_FALSE(bytes.size() > 1 && first_code_point(bytes.substr(0, bytes.size() - 1)).valid);
    }
  }
}

TEST(Text, OverlongFormsAreBroken) {
  for (const std::string_view bytes : {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF",
                                       "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\x80", "\xFF"}) {
    EXPECT_FALSE(first_code_point(bytes).valid);
    EXPECT_EQ(first_code_point(bytes).length, 1);
  }
}

TEST(Text, PrintableEscapesControlsAndTurnsOfDirection) {
  EXPECT_EQ(printable("plain text, \"quotes\" and \\"), "plain text, \"quotes\" and \\");
  EXPECT_EQ(printable("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(printable("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\u{9b}31m");
  EXPECT_EQ(printable("\x9B"), "\\x9b");
  EXPECT_EQ(printable("a\u202Eb\u2066\u200B\uFEFF"), "a\\u{202e}b\\u{2066}\\u{200b}\\u{feff}");
  EXPECT_EQ(printable("\u2028\u2029\U000E0041"), "\\u{2028}\\u{2029}\\u{e0041}");
  EXPECT_EQ(printable("巡り é 😀"), "巡り é 😀");
}

TEST(Text, QuotedCannotBeLeft) {
  EXPECT_EQ(quoted("a\"b\\c\nd"), R"("a\"b\\c\nd")");
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("abcdef", 3), "\"abc\"...");
  EXPECT_EQ(quoted("é", 1), "\"\\xc3\"...");
}

TEST(Text, JsonStringsAreValidWhateverTheBytes) {
  EXPECT_EQ(json("a\"b\\c/"), R"("a\"b\\c/")");
  EXPECT_EQ(json("\n\x01\x7f"), R"("\u000a\u0001\u007f")");
  EXPECT_EQ(json("é😀"), "\"é😀\"");
  EXPECT_EQ(json("\xff"), R"("\ufffd")");
  EXPECT_EQ(json("\U000E0041"), R"("\udb40\udc41")");
}

TEST(Text, ColumnsCountWideAndCombiningCharacters) {
  EXPECT_EQ(display_columns(""), 0);
  EXPECT_EQ(display_columns("abc"), 3);
  EXPECT_EQ(display_columns("巡り"), 4);
  EXPECT_EQ(display_columns("e\u0301"), 1);
  EXPECT_EQ(display_columns("😀"), 2);
  EXPECT_EQ(display_columns("\xff"), 1);
}

TEST(Text, CuttingKeepsWholeCharacters) {
  EXPECT_EQ(cut_to_columns("abc", 2), "ab");
  EXPECT_EQ(cut_to_columns("abc", 10), "abc");
  EXPECT_EQ(cut_to_columns("巡り", 3), "巡");
  EXPECT_EQ(cut_to_columns("巡り", 1), "");
  EXPECT_EQ(cut_to_columns("e\u0301x", 1), "e\u0301");
  EXPECT_EQ(cut_to_columns("abc", 0), "");
}

}  // namespace
}  // namespace meguri::base
