// Record: one page's state as it lies in a bucket; and the difference of two versions of it.
//
// On disk: length of the body and generation (varints), schema (1 byte), sequence number (4), due
// (4), id (16), body. Numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/time.h"

namespace meguri::sat {

// Records are numbered in the order in which they were added.
using Seq = std::uint32_t;

// Seconds since 1970, which lasts until 2106. Times between are rounded up: nothing comes early.
struct DueTime {
  std::uint32_t seconds = 0;

  static DueTime of(base::Instant instant);
  base::Instant instant() const { return base::Instant::from_ms(std::int64_t{seconds} * 1000); }

  friend auto operator<=>(const DueTime&, const DueTime&) = default;
};

struct Record {
  base::Id id;
  Seq seq = 0;
  // Grows whenever a copy is left behind where the record no longer is.
  std::uint32_t generation = 0;
  DueTime due;
  std::uint8_t schema = 0;  // of the body; the owner's
  std::string_view body;    // opaque; borrowed

  friend bool operator==(const Record&, const Record&) = default;
};

inline constexpr std::size_t kBodyBytesMax = std::size_t{1} << 20U;
inline constexpr std::size_t kHeaderBytesMax = 4 + 5 + 1 + 4 + 4 + 16;

std::size_t encoded_size(const Record& record);
// Writes encoded_size() bytes.
char* encode(const Record& record, char* out);
void append(const Record& record, std::string& out);

// Takes one record from the front of `bytes`; its body borrows from there. False: there is none
// that is whole, and both are as they were.
bool take(std::string_view& bytes, Record& record);

// How to make `now` of `before`: equal bytes at equal places are not repeated, nor is an equal end.
// At most 16 bytes longer than `now`.
void append_difference(std::string_view before, std::string_view now, std::string& out);
// False: the bytes are no difference to `before`. All of them are taken.
bool apply_difference(std::string_view before, std::string_view bytes, std::string& now);

inline constexpr std::size_t kVarintBytesMax = 10;
// Writes at most so many bytes, and returns their end.
inline char* put_varint(std::uint64_t number, char* out) {
  while (number >= 0x80) {
    *out++ = static_cast<char>(number | 0x80U);
    number >>= 7U;
  }
  *out++ = static_cast<char>(number);
  return out;
}
void append_varint(std::uint64_t number, std::string& out);
bool take_long_varint(std::string_view& bytes, std::uint64_t& number);
// False: the bytes begin with no whole number, and both are as they were.
inline bool take_varint(std::string_view& bytes, std::uint64_t& number) {
  if (bytes.size() < 2) return take_long_varint(bytes, number);
  const auto first = static_cast<std::uint8_t>(bytes[0]);
  const auto second = static_cast<std::uint8_t>(bytes[1]);
  if (first < 0x80) {
    number = first;
    bytes.remove_prefix(1);
    return true;
  }
  if (second >= 0x80) return take_long_varint(bytes, number);
  number = (first & 0x7fU) | std::uint64_t{second} << 7U;
  bytes.remove_prefix(2);
  return true;
}

}  // namespace meguri::sat
