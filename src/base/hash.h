// Hashes and 128-bit ids on XXH3. Stable on disk and between machines of either byte order.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace meguri::base {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);

// Mixes an integer so that its leading bits are as good as its trailing ones (splitmix64).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

// What identifies a page or a host: the 128-bit hash of its canonical text. With 10^10 of them the
// chance of any collision is below 10^-18.
struct Id {
  std::uint64_t high = 0;  // its leading bits choose the partition
  std::uint64_t low = 0;

  static Id of(std::string_view text);
  static Result<Id> parse_hex(std::string_view hex);  // 32 hexadecimal digits

  std::string to_hex() const;

  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

// Work is divided by the leading bits of a hash into this many fixed parts; instances and machines
// own ranges of them, so that adding one moves only what it takes over.
inline constexpr std::uint32_t kPartitionBits = 10;
inline constexpr std::uint32_t kPartitions = 1U << kPartitionBits;

constexpr std::uint32_t partition_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> (64U - kPartitionBits));
}

}  // namespace meguri::base
