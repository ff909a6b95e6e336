#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/text.h"
#include "web/charset.h"
#include "web/charset_testing.h"
#include "web/testing.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

using namespace std::string_view_literals;

// A query as a form writes it: what the charset cannot write becomes a number in "&#...;".
std::string percent_encoded(std::string_view utf8, Charset charset) {
  const auto percent = [](unsigned char byte) { return fmt::format("%{:02X}", byte); };
  std::string out;
  Encoder encoder(charset);
  const auto append_bytes = [&](std::string_view bytes) {
    for (const char byte : bytes) {
      const auto value = static_cast<unsigned char>(byte);
      const bool plain = value > 0x20 && value < 0x7F && byte != '"' && byte != '#' &&
                         byte != '<' && byte != '>' && byte != '\'';
      out += plain ? std::string(1, byte) : percent(value);
    }
  };
  while (!utf8.empty()) {
    const base::CodePoint next = base::first_code_point(utf8);
    std::string bytes;
    const auto failed = encoder.append(next.value, &bytes);
    append_bytes(bytes);
    if (failed) out += fmt::format("%26%23{}%3B", static_cast<std::uint32_t>(*failed));
    utf8.remove_prefix(next.length);
  }
  std::string end;
  encoder.finish(&end);
  append_bytes(end);
  return out;
}

TEST(Encoder, WebPlatformPercentEncodingTestsPass) {
  READ_TEST_DATA(data, "url/percent-encoding.json");
  int count = 0;
  for (const auto& test : nlohmann::json::parse(data)) {
    if (!test.is_object()) continue;
    const std::string input = test.at("input");
    for (const auto& [label, expected] : test.at("output").items()) {
      const auto charset = charset_of_label(label);
      ASSERT_TRUE(charset) << label;
      EXPECT_EQ(percent_encoded(input, *charset), expected.get<std::string>())
          << label << " " << input;
      ++count;
    }
  }
  EXPECT_EQ(count, 16);
}

TEST(Encoder, WritesNonAsciiAsTheStandardDoes) {
  EXPECT_EQ(encode_text("¥‾−ｱ①纊", Charset::kShiftJis), "\x5C\x7E\x81\x7C\xB1\x87\x40\xFA\x5C");
  EXPECT_EQ(encode_text("¥‾−ｱ①纊", Charset::kEucJp), "\x5C\x7E\xA1\xDD\x8E\xB1\xAD\xA1\xF9\xA1");
  EXPECT_EQ(encode_text("\u0080", Charset::kShiftJis), "\x80");
  EXPECT_EQ(encode_text("€", Charset::kGbk), "\x80");
  EXPECT_EQ(encode_text("€", Charset::kGb18030), "\xA2\xE3");
  EXPECT_EQ(encode_text("\uE7C7\uE78D\uFE10", Charset::kGb18030),
            "\x81\x35\xF4\x37\xA6\xD9\xA6\xD9");
  EXPECT_EQ(encode_text("😀", Charset::kGb18030), "\x94\x39\xFC\x36");
  EXPECT_EQ(encode_text("═十兀", Charset::kBig5), "\xF9\xF9\xA4\x51\xA4\x61");
  EXPECT_EQ(encode_text("\uF780", Charset::kXUserDefined), "\x80");
  EXPECT_EQ(encode_text("猫", Charset::kUtf16Le), "猫");
  EXPECT_EQ(encode_text("猫", Charset::kReplacement), "猫");
}

TEST(Encoder, RefusesWhatTheStandardRefuses) {
  EXPECT_EQ(encode_text("猫", Charset::kWindows1252), std::nullopt);
  EXPECT_EQ(encode_text("\u0080", Charset::kWindows1252), std::nullopt);
  EXPECT_EQ(encode_text("\u43F0", Charset::kBig5), std::nullopt);  // Hong Kong's supplement
  EXPECT_EQ(encode_text("丂", Charset::kEucJp), std::nullopt);     // JIS X 0212
  EXPECT_EQ(encode_text("\uE5E5", Charset::kGb18030), std::nullopt);
  EXPECT_EQ(encode_text("\U00010000", Charset::kGbk), std::nullopt);
  EXPECT_EQ(encode_text("\uE000", Charset::kShiftJis), std::nullopt);
}

TEST(Encoder, Iso2022JpShiftsOnlyWhereItMust) {
  EXPECT_EQ(encode_text("a日本z", Charset::kIso2022Jp), "a\x1B$BF|K\\\x1B(Bz");
  EXPECT_EQ(encode_text("日", Charset::kIso2022Jp), "\x1B$BF|\x1B(B");
  EXPECT_EQ(encode_text("¥a‾\\", Charset::kIso2022Jp), "\x1B(J\x5C\x61\x7E\x1B(B\x5C");
  EXPECT_EQ(encode_text("¥日¥", Charset::kIso2022Jp), "\x1B(J\\\x1B$BF|\x1B(J\\\x1B(B");
  EXPECT_EQ(encode_text("ｱ−", Charset::kIso2022Jp), "\x1B$B%\"!]\x1B(B");
}

TEST(Encoder, Iso2022JpReportsItsOwnControlsAsReplacement) {
  for (const char32_t control : {0x0EU, 0x0FU, 0x1BU}) {
    std::string out;
    Encoder encoder(Charset::kIso2022Jp);
    EXPECT_EQ(encoder.append(0x65E5, &out), std::nullopt);
    EXPECT_EQ(encoder.append(control, &out), 0xFFFDU);
    EXPECT_EQ(out, "\x1B$BF|\x1B(B");
  }
}

TEST(Encoder, AFailureShiftsBackToAsciiSoThatItCanBeReported) {
  std::string out;
  Encoder encoder(Charset::kIso2022Jp);
  EXPECT_EQ(encoder.append(0x65E5, &out), std::nullopt);
  EXPECT_EQ(encoder.append(0x1F600, &out), 0x1F600U);
  EXPECT_EQ(out, "\x1B$BF|\x1B(B");
  encoder.finish(&out);
  EXPECT_EQ(out, "\x1B$BF|\x1B(B");
}

TEST(Encoder, WhatIsNoScalarValueIsReportedAsReplacement) {
  std::string out;
  EXPECT_EQ(Encoder(Charset::kWindows1252).append(0xD800, &out), 0xFFFDU);
  EXPECT_EQ(Encoder(Charset::kWindows1252).append(0x110000, &out), 0xFFFDU);
  EXPECT_EQ(out, "");
  EXPECT_EQ(Encoder(Charset::kUtf8).append(0xDFFF, &out), std::nullopt);
  EXPECT_EQ(out, "\uFFFD");
}

// What these write otherwise than they read it, by the standard.
bool is_one_way(Charset charset, char32_t code_point) {
  switch (charset) {
    case Charset::kShiftJis:
    case Charset::kEucJp: return code_point == 0xA5 || code_point == 0x203E || code_point == 0x2212;
    case Charset::kIso2022Jp:
      return code_point == 0x2212 || (code_point >= 0xFF61 && code_point <= 0xFF9F);
    case Charset::kGbk:
    case Charset::kGb18030:
      return (code_point >= 0xE78D && code_point <= 0xE796) ||
             U"\uE81E\uE826\uE82B\uE82C\uE832\uE843\uE854\uE864"sv.contains(code_point);
    default: return false;
  }
}

TEST(Encoder, WhatIsWrittenIsReadAgain) {
  for (std::size_t i = 0; i < kCharsetCount; ++i) {
    const auto charset = static_cast<Charset>(i);
    if (charset == Charset::kReplacement || charset == Charset::kUtf16Be ||
        charset == Charset::kUtf16Le) {
      continue;
    }
    std::string text;
    std::string bytes;
    Encoder encoder(charset);
    for (char32_t code_point = 0; code_point < 0x30000; ++code_point) {
      if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
      std::string trial;  // a failure shifts, and two shifts in a row are read as an error
      if (is_one_way(charset, code_point) || Encoder(charset).append(code_point, &trial)) continue;
      EXPECT_EQ(encoder.append(code_point, &bytes), std::nullopt);
      append_utf8(code_point, &text);
    }
    encoder.finish(&bytes);
    EXPECT_EQ(decode_text(bytes, charset), text) << name_of(charset);
  }
}

}  // namespace
}  // namespace meguri::web
