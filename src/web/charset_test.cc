#include "web/charset.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text.h"
#include "web/charset_testing.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

using namespace std::string_view_literals;

std::string decode_byte_by_byte(std::string_view bytes, Charset charset) {
  std::string utf8;
  Decoder decoder(charset);
  for (const char& byte : bytes) decoder.append({&byte, 1}, &utf8);
  decoder.finish(&utf8);
  return utf8;
}

struct Reading {
  std::string_view bytes;
  std::string_view utf8;
};

void expect_readings(Charset charset, std::initializer_list<Reading> readings) {
  for (const Reading& reading : readings) {
    EXPECT_EQ(decode_text(reading.bytes, charset), reading.utf8) << base::quoted(reading.bytes);
    EXPECT_EQ(decode_byte_by_byte(reading.bytes, charset), reading.utf8)
        << base::quoted(reading.bytes);
  }
}

TEST(Charset, EveryNameIsALabelOfItself) {
  for (std::size_t i = 0; i < kCharsetCount; ++i) {
    const auto charset = static_cast<Charset>(i);
    EXPECT_EQ(charset_of_label(name_of(charset)), charset) << name_of(charset);
  }
}

TEST(Charset, LabelsAreFoundInAnyCaseAndWithSpaces) {
  EXPECT_EQ(charset_of_label("SJIS"), Charset::kShiftJis);
  EXPECT_EQ(charset_of_label(" \t\r\n\fUtf8 "), Charset::kUtf8);
  EXPECT_EQ(charset_of_label("latin1"), Charset::kWindows1252);
  EXPECT_EQ(charset_of_label("us-ascii"), Charset::kWindows1252);
  EXPECT_EQ(charset_of_label("iso-8859-9"), Charset::kWindows1254);
  EXPECT_EQ(charset_of_label("gb2312"), Charset::kGbk);
  EXPECT_EQ(charset_of_label("ks_c_5601-1987"), Charset::kEucKr);
  EXPECT_EQ(charset_of_label("tis-620"), Charset::kWindows874);
  EXPECT_EQ(charset_of_label("logical"), Charset::kIso8859_8I);
  EXPECT_EQ(charset_of_label("hz-gb-2312"), Charset::kReplacement);
  EXPECT_EQ(charset_of_label("unicode"), Charset::kUtf16Le);
  EXPECT_EQ(charset_of_label("cseucpkdfmtjapanese"), Charset::kEucJp);
}

TEST(Charset, WhatIsNoLabelIsNone) {
  const std::string long_label(1 << 20, 'x');
  for (const std::string_view label :
       {""sv, "  "sv, "utf-7"sv, "utf-32"sv, "utf 8"sv, "utf-8\0"sv, "\xC2\xA0utf-8"sv, "\vutf-8"sv,
        "iso-8859-12"sv, "none"sv, "cseucpkdfmtjapanesex"sv, std::string_view(long_label)}) {
    EXPECT_EQ(charset_of_label(label), std::nullopt) << base::quoted(label);
  }
}

TEST(Decoder, Utf8IsCutAnywhere) {
  expect_readings(Charset::kUtf8, {{"猫😀é", "猫😀é"},
                                   {"\xE3\x81", "\uFFFD"},
                                   {"\xE3\x81z", "\uFFFDz"},
                                   {"\xF0\x9F\x98猫", "\uFFFD猫"},
                                   {"\xF0\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
                                   {"a\xF1\x80\x80\xE1\x80\xC2z", "a\uFFFD\uFFFD\uFFFDz"}});
}

TEST(Decoder, ByteOrderMarkOfTheOwnCharsetIsDroppedOnceAtTheStart) {
  expect_readings(Charset::kUtf8, {{"\xEF\xBB\xBFz", "z"},
                                   {"\xEF\xBB\xBF\xEF\xBB\xBFz", "\uFEFFz"},
                                   {"z\xEF\xBB\xBF", "z\uFEFF"},
                                   {"\xEF\xBB", "\uFFFD"}});
  expect_readings(Charset::kUtf16Le, {{"\xFF\xFEz\0"sv, "z"}, {"\xFE\xFFz\0"sv, "\uFFFEz"}});
  expect_readings(Charset::kUtf16Be, {{"\xFE\xFF\0z"sv, "z"}});
  expect_readings(Charset::kGb18030, {{"\x84\x31\x95\x33z", "\uFEFFz"}});
  std::string kept = "before ";
  decode("\xEF\xBB\xBFz", Charset::kUtf8, &kept, Bom::kKeep);
  EXPECT_EQ(kept, "before \uFEFFz");
}

TEST(Decoder, AppendsBehindWhatIsThere) {
  std::string utf8 = "\uFEFF";
  decode("\xEF\xBB\xBF\xE3\x81\x82", Charset::kUtf8, &utf8);
  EXPECT_EQ(utf8, "\uFEFFあ");
}

TEST(Decoder, Utf16SurrogatesMustPair) {
  expect_readings(Charset::kUtf16Le, {{"\x2B\x73"sv, "猫"},
                                      {"\x3D\xD8\x00\xDE"sv, "😀"},
                                      {"\x3D\xD8z\0"sv, "\uFFFDz"},
                                      {"\x3D\xD8\x3D\xD8\x00\xDE"sv, "\uFFFD😀"},
                                      {"\x00\xDEz\0"sv, "\uFFFDz"},
                                      {"z\0z"sv, "z\uFFFD"},
                                      {"\x3D\xD8"sv, "\uFFFD"},
                                      {"\x3D\xD8\x00"sv, "\uFFFD"}});
  expect_readings(Charset::kUtf16Be, {{"\x73\x2B"sv, "猫"}, {"\xD8\x3D\xDE\x00"sv, "😀"}});
}

TEST(Decoder, SingleByteHolesAreC1ControlsOrReplaced) {
  expect_readings(Charset::kWindows1252,
                  {{"\x80\x81\x8D\x8F\x90\x9D\xE9", "€\u0081\u008D\u008F\u0090\u009Dé"}});
  expect_readings(Charset::kWindows1253, {{"\xAA\xE1", "\uFFFDα"}});
  expect_readings(Charset::kWindows1255, {{"\xCA", "\u05BA"}});
  expect_readings(Charset::kWindows874, {{"\xA1\xDB\xFF", "ก\uFFFD\uFFFD"}});
  expect_readings(Charset::kKoi8U, {{"\xA4\xAE\xBE", "єўЎ"}});
  expect_readings(Charset::kIso8859_8I, {{"\xE0\xA1", "א\uFFFD"}});
  expect_readings(Charset::kIso8859_16, {{"\xA4\xAA", "€Ș"}});
  expect_readings(Charset::kMacintosh, {{"\x80\xDB\xF0", "Ä€\uF8FF"}});
  expect_readings(Charset::kXMacCyrillic, {{"\x80\xFF", "А€"}});
  expect_readings(Charset::kXUserDefined, {{"a\x80\xFF", "a\uF780\uF7FF"}});
}

TEST(Decoder, ShiftJis) {
  expect_readings(Charset::kShiftJis, {{"\x93\xFA\x96{\x8C\xEA", "日本語"},
                                       {"\x5C\x7E", "\\~"},
                                       {"\x80\xA0\xFD\xFF", "\u0080\uFFFD\uFFFD\uFFFD"},
                                       {"\xB1\xDF", "ｱﾟ"},
                                       {"\x81\x60\x81\x7C", "～－"},
                                       {"\x87\x40\xED\x40\xFA\x5C", "①纊纊"},
                                       {"\xF0\x40\xF9\xFC", "\uE000\uE757"},
                                       {"\x81<p>", "\uFFFD<p>"},
                                       {"\x81\xFF", "\uFFFD"},
                                       {"\x85\x40", "\uFFFD@"},
                                       {"\x93", "\uFFFD"}});
}

TEST(Decoder, EucJp) {
  expect_readings(Charset::kEucJp, {{"\xC6\xFC\xCB\xDC", "日本"},
                                    {"\x8E\xB1", "ｱ"},
                                    {"\x8E\xE0", "\uFFFD"},
                                    {"\x8F\xB0\xA1", "丂"},
                                    {"\x8F\xF3\xA1", "\uFFFD"},
                                    {"\x8F\xA1<", "\uFFFD<"},
                                    {"\xC6<b>", "\uFFFD<b>"},
                                    {"\x80\xA0\xFF", "\uFFFD\uFFFD\uFFFD"},
                                    {"\x8F", "\uFFFD"}});
}

TEST(Decoder, Iso2022Jp) {
  expect_readings(Charset::kIso2022Jp, {{"a\x1B$BF|K\\\x1B(Bz", "a日本z"},
                                        {"\x1B$@F|\x1B(B", "日"},
                                        {"\x1B(J\\~\x1B(B\\~", "¥‾\\~"},
                                        {"\x1B(I1_\x1B(B", "ｱﾟ"},
                                        {"\x1B(I`", "\uFFFD"},
                                        {"\x1B$B\x1B(Bz", "\uFFFDz"},  // a switch must not be empty
                                        {"\x0E\x0F\x80", "\uFFFD\uFFFD\uFFFD"},
                                        {"\x1B<p>", "\uFFFD<p>"},
                                        {"\x1B$Q", "\uFFFD$Q"},
                                        {"\x1B$BF\x1B(Bz", "\uFFFDz"},
                                        {"\x1B$BF", "\uFFFD"},
                                        {"\x1B", "\uFFFD"},
                                        {"\x1B$", "\uFFFD$"},
                                        {"\x1B$B\x1B$", "\uFFFD\uFFFD"}});
}

TEST(Decoder, Chinese) {
  expect_readings(
      Charset::kGbk,
      {{"\xC4\xE3\xBA\xC3\x80", "你好€"}, {"\x81\x30\x81\x30", "\u0080"}, {"\xFF", "\uFFFD"}});
  expect_readings(Charset::kGb18030, {{"\x90\x30\x81\x30", "\U00010000"},
                                      {"\xE3\x32\x9A\x35", "\U0010FFFF"},
                                      {"\xE3\x32\x9A\x36", "\uFFFD"},
                                      {"\x84\x31\xA4\x39", "\uFFFF"},
                                      {"\x84\x31\xA5\x30", "\uFFFD"},
                                      {"\x81\x35\xF4\x37", "\uE7C7"},
                                      {"\xA8\xBC\xA3\xA0", "ḿ\u3000"},
                                      {"\xFE\x59\xA6\xD9", "\u9FB4\uFE10"},
                                      {"\x81\x30", "\uFFFD"},
                                      {"\x81\x30<", "\uFFFD0<"},
                                      {"\x81\x30\x81<", "\uFFFD0\uFFFD<"},
                                      {"\x81\x30\x81\x80", "\uFFFD0亐"},
                                      {"\x81\xFF", "\uFFFD"},
                                      {"\x81<p>", "\uFFFD<p>"}});
  expect_readings(Charset::kBig5, {{"\xA7\x41\xA6n", "你好"},
                                   {"\x88\x62\x88\x64\x88\xA3\x88\xA5", "Ê̄Ê̌ê̄ê̌"},
                                   {"\x87\x40", "\u43F0"},
                                   {"\x81\x40", "\uFFFD@"},
                                   {"\xA4<", "\uFFFD<"},
                                   {"\x80\xFF", "\uFFFD\uFFFD"}});
}

TEST(Decoder, Korean) {
  expect_readings(Charset::kEucKr, {{"\xC7\xD1\xB1\xB9", "한국"},
                                    {"\x81\x41", "갂"},
                                    {"\xC9\xA1", "\uFFFD"},
                                    {"\xB0<p>", "\uFFFD<p>"},
                                    {"\x80\xFF", "\uFFFD\uFFFD"}});
}

TEST(Decoder, ReplacementIsOneCharacterForAnyText) {
  expect_readings(Charset::kReplacement, {{"", ""}, {"a", "\uFFFD"}, {"<script>", "\uFFFD"}});
}

TEST(Decoder, IsNewAfterFinish) {
  std::string utf8;
  Decoder decoder(Charset::kIso2022Jp);
  decoder.append("\x1B$BF", &utf8);
  decoder.finish(&utf8);
  decoder.append("F", &utf8);
  decoder.finish(&utf8);
  EXPECT_EQ(utf8, "\uFFFDF");
}

TEST(Decoder, ManyThreadsMayBeTheFirst) {
  std::string all_bytes;
  for (unsigned byte = 0; byte <= 0xFF; ++byte) all_bytes.push_back(static_cast<char>(byte));
  std::vector<std::string> texts(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& text : texts) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < kCharsetCount; ++i) {
          decode(all_bytes, static_cast<Charset>(i), &text);
        }
      });
    }
  }
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

// ASCII behind a byte that starts something must come through: markup must not be swallowed.
TEST(Decoder, NoLeadByteSwallowsMarkup) {
  for (std::size_t i = 0; i < kCharsetCount; ++i) {
    const auto charset = static_cast<Charset>(i);
    if (charset == Charset::kReplacement || charset == Charset::kUtf16Be ||
        charset == Charset::kUtf16Le) {
      continue;
    }
    for (unsigned byte = 0x80; byte <= 0xFF; ++byte) {
      const std::string text = std::string(1, static_cast<char>(byte)) + "<\">";
      EXPECT_TRUE(decode_text(text, charset).ends_with("<\">")) << name_of(charset) << byte;
    }
  }
}

TEST(Decoder, MegabytesOfAnyByteTakeLinearTimeAndGrowAtMostThreefold) {
  for (std::size_t i = 0; i < kCharsetCount; ++i) {
    const auto charset = static_cast<Charset>(i);
    for (const std::string_view part :
         {"\x81"sv, "\xFF"sv, "\x1B$"sv, "\x81\x30"sv, "\x8F\xA1"sv}) {
      std::string bytes;
      while (bytes.size() < 200'000) bytes += part;
      const std::string utf8 = decode_text(bytes, charset);
      EXPECT_TRUE(is_valid_utf8(utf8));
      EXPECT_LE(utf8.size(), bytes.size() * kUtf8PerByteMax);
    }
  }
}

}  // namespace
}  // namespace meguri::web
