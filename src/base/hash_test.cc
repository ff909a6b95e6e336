#include "base/hash.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace meguri::base {
namespace {

constexpr std::uint64_t kSeed = 0x9E3779B185EBCA8DULL;

// The buffer of the xxHash project's own sanity test.
std::string sanity_buffer(std::size_t size) {
  std::uint64_t generator = 2654435761U;
  std::string buffer;
  for (std::size_t i = 0; i < size; ++i) {
    buffer += static_cast<char>(generator >> 56U);
    generator *= 11'400'714'785'074'694'797ULL;
  }
  return buffer;
}

// Every length takes another way through XXH3: 0, 1-3, 4-8, 9-16, 17-128, 129-240, longer.
struct Vector {
  std::size_t length;
  std::uint64_t seed;
  std::uint64_t hash;
};

TEST(Hash, Hash64GivesThePublishedVectorsOfXxh3) {
  const std::array vectors = {
      Vector{0, 0, 0x2D06800538D394C2ULL},    Vector{0, kSeed, 0xA8A6B918B2F0364AULL},
      Vector{1, 0, 0xC44BDFF4074EECDBULL},    Vector{1, kSeed, 0x032BE332DD766EF8ULL},
      Vector{6, 0, 0x27B56A84CD2D7325ULL},    Vector{6, kSeed, 0x84589C116AB59AB9ULL},
      Vector{12, 0, 0xA713DAF0DFBB77E7ULL},   Vector{12, kSeed, 0xE7303E1B2336DE0EULL},
      Vector{24, 0, 0xA3FE70BF9D3510EBULL},   Vector{24, kSeed, 0x850E80FC35BDD690ULL},
      Vector{48, 0, 0x397DA259ECBA1F11ULL},   Vector{48, kSeed, 0xADC2CBAA44ACC616ULL},
      Vector{80, 0, 0xBCDEFBBB2C47C90AULL},   Vector{80, kSeed, 0xC6DD0CB699532E73ULL},
      Vector{195, 0, 0xCD94217EE362EC3AULL},  Vector{195, kSeed, 0xBA68003D370CB3D9ULL},
      Vector{403, 0, 0xCDEB804D65C6DEA4ULL},  Vector{403, kSeed, 0x6259F6ECFD6443FDULL},
      Vector{2048, 0, 0xDD59E2C3A5F038E0ULL}, Vector{2048, kSeed, 0x66F81670669ABABCULL},
  };
  const std::string buffer = sanity_buffer(2048);
  for (const Vector& v : vectors) {
    EXPECT_EQ(hash64(std::string_view(buffer).substr(0, v.length), v.seed), v.hash)
        << v.length << " " << v.seed;
  }
}

TEST(Hash, IdIsThePublished128BitXxh3) {
  const std::string buffer = sanity_buffer(2048);
  const auto hex = [&](std::size_t length) { return Id::of(buffer.substr(0, length)).to_hex(); };
  EXPECT_EQ(hex(0), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hex(1), "a6cd5e9392000f6ac44bdff4074eecdb");
  EXPECT_EQ(hex(6), "082afe0b8162d12a3e7039bdda43cfc6");
  EXPECT_EQ(hex(12), "6e3efd8fc7802b18061a192713f69ad9");
  EXPECT_EQ(hex(24), "0ce966e4678d37611e7044d28b1b901d");
  EXPECT_EQ(hex(48), "a002ac4e5478227ef942219aed80f67b");
  EXPECT_EQ(hex(403), "1b6de21e332dd73dcdeb804d65c6dea4");
  EXPECT_EQ(hex(2048), "f736557fd47073a5dd59e2c3a5f038e0");
}

TEST(Hash, IdsSurviveTheirHexadecimalForm) {
  for (const std::string_view text : {"", "a", "https://example.org/", "\xff"}) {
    const Id id = Id::of(text);
    EXPECT_EQ(id.to_hex().size(), 32);
    EXPECT_EQ(Id::parse_hex(id.to_hex()), id);
  }
  EXPECT_EQ((Id{1, 2}).to_hex(), "00000000000000010000000000000002");
  EXPECT_EQ(Id::parse_hex("ABCDEF0123456789abcdef0123456789"),
            (Id{0xabcdef0123456789ULL, 0xabcdef0123456789ULL}));
}

TEST(Hash, BadHexIsRefused) {
  const std::string good(32, '0');
  for (const std::string& bad : std::vector<std::string>{
           "", good.substr(1), good + "0", "g" + good.substr(1), "-" + good.substr(1),
           "+" + good.substr(1), "0x" + good.substr(2), " " + good.substr(1), good.substr(1) + " ",
           good.substr(16) + "-" + good.substr(17)}) {
    EXPECT_FALSE(Id::parse_hex(bad)) << bad;
  }
}

TEST(Hash, PartitionIsTheLeadingBits) {
  EXPECT_EQ(partition_of(0), 0U);
  EXPECT_EQ(partition_of(~0ULL), kPartitions - 1);
  EXPECT_EQ(partition_of(1ULL << 54U), 1U);
}

TEST(Hash, MixedSmallIntegersFillAllPartitionsEvenly) {
  std::vector<int> counts(kPartitions);
  constexpr int kEach = 100;
  for (std::uint64_t i = 0; i < std::uint64_t{kPartitions} * kEach; ++i)
    ++counts[partition_of(mix64(i))];
  for (const int count : counts) {
    EXPECT_GT(count, kEach / 2);
    EXPECT_LT(count, kEach * 2);
  }
}

TEST(Hash, Mix64IsSplitmix64) {
  // The first outputs of the reference program for seed 1234567.
  std::uint64_t state = 1234567;
  for (const std::uint64_t expected :
       {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
        4593380528125082431ULL, 16408922859458223821ULL}) {
    EXPECT_EQ(mix64(state), expected);
    state += 0x9e3779b97f4a7c15ULL;
  }
}

}  // namespace
}  // namespace meguri::base
