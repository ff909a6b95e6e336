// Holds our tables to those of the Encoding Standard, by the hash of what the standard publishes
// (index-*.txt, each code point as four bytes, least first; 0 for none). A new version of ICU or of
// the standard shows itself here.
#include "web/charset_index.h"

#include <gtest/gtest.h>

#include <ranges>
#include <string>

#include "base/hash.h"

namespace meguri::web {
namespace {

std::uint64_t hash_of(const std::ranges::range auto& code_points) {
  std::string bytes;
  for (const char32_t code_point : code_points) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<char>(code_point >> shift));
    }
  }
  return base::hash64(bytes);
}

TEST(CharsetIndex, MultiByteTablesAreTheStandards) {
  EXPECT_EQ(hash_of(index_of(IndexName::kBig5)), 0xb56d84dff1dad4caU);
  EXPECT_EQ(hash_of(index_of(IndexName::kEucKr)), 0x06772e779ef451d9U);
  EXPECT_EQ(hash_of(index_of(IndexName::kGb18030)), 0x7f6572f02d0d4105U);
  EXPECT_EQ(hash_of(index_of(IndexName::kJis0208)), 0x14ea30b18f098937U);
  EXPECT_EQ(hash_of(index_of(IndexName::kJis0212)), 0xbb743b968fc43b90U);
}

TEST(CharsetIndex, SingleByteTablesAreTheStandards) {
  constexpr std::pair<Charset, std::uint64_t> kHashes[] = {
      {Charset::kIbm866, 0x65ee5dbab5389bacU},      {Charset::kIso8859_2, 0xdcc231fb77be4614U},
      {Charset::kIso8859_3, 0xb97423b9f5751a65U},   {Charset::kIso8859_4, 0xf71eee8a57363aaeU},
      {Charset::kIso8859_5, 0x9e4cc102d347e1adU},   {Charset::kIso8859_6, 0x05b0806f7d392396U},
      {Charset::kIso8859_7, 0xa850ca0b803abc9eU},   {Charset::kIso8859_8, 0xbdb2eb380625b2ccU},
      {Charset::kIso8859_8I, 0xbdb2eb380625b2ccU},  {Charset::kIso8859_10, 0x2186056430ca3900U},
      {Charset::kIso8859_13, 0x0b5271e840e3c348U},  {Charset::kIso8859_14, 0x859648b5f9b6c352U},
      {Charset::kIso8859_15, 0x4fa55cb60b38de1bU},  {Charset::kIso8859_16, 0xf97ae6d5ae08d007U},
      {Charset::kKoi8R, 0x07a5f5fd4ae7ae15U},       {Charset::kKoi8U, 0xe5e696a8a4d6d42cU},
      {Charset::kMacintosh, 0x6909e4c9861b2385U},   {Charset::kWindows874, 0xaf3f4f4958f037bdU},
      {Charset::kWindows1250, 0xbc6b1c3b9420c06eU}, {Charset::kWindows1251, 0xe454164287922d90U},
      {Charset::kWindows1252, 0x14b160385aeda8f2U}, {Charset::kWindows1253, 0x3356088390827027U},
      {Charset::kWindows1254, 0xab007bec2aa985a4U}, {Charset::kWindows1255, 0xcfb12f1666efef74U},
      {Charset::kWindows1256, 0x2ca8914c623a6fa6U}, {Charset::kWindows1257, 0x94dc3be68b4547eeU},
      {Charset::kWindows1258, 0x8f99128c97d7ce4eU}, {Charset::kXMacCyrillic, 0x3760bee207b7a73fU},
  };
  std::size_t count = 0;
  for (const auto& [charset, hash] : kHashes) {
    EXPECT_EQ(hash_of(single_byte_index(charset)), hash) << name_of(charset);
    ++count;
  }
  for (std::size_t i = 0; i < kCharsetCount; ++i) {
    if (is_single_byte(static_cast<Charset>(i))) --count;
  }
  EXPECT_EQ(count, 0U) << "a table is not checked";
}

// Rows of the standard's index-gb18030-ranges.txt.
TEST(CharsetIndex, FourByteRangesOfGb18030AreTheStandards) {
  constexpr std::pair<std::uint32_t, char32_t> kRows[] = {
      {0, 0x80},       {36, 0xA5},      {38, 0xA9},      {45, 0xB2},        {50, 0xB8},
      {7922, 0x2011},  {33469, 0xE76C}, {33470, 0xE7C8}, {33550, 0xE865},   {37845, 0xF92D},
      {39108, 0xFE32}, {39394, 0xFFE6}, {39419, 0xFFFF}, {189000, 0x10000}, {1237575, 0x10FFFF}};
  for (const auto& [pointer, code_point] : kRows) {
    EXPECT_EQ(gb18030_range_code_point(pointer), code_point);
    EXPECT_EQ(gb18030_range_pointer(code_point), pointer);
  }
  EXPECT_EQ(gb18030_range_code_point(7457), 0xE7C7U);
  EXPECT_EQ(gb18030_range_pointer(0xE7C7), 7457U);
  EXPECT_EQ(gb18030_range_code_point(39420), std::nullopt);
  EXPECT_EQ(gb18030_range_code_point(188999), std::nullopt);
  EXPECT_EQ(gb18030_range_code_point(1237576), std::nullopt);
}

}  // namespace
}  // namespace meguri::web
