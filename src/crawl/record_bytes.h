// The bytes of what several records have: times, enumerations, digests, sketches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/time.h"
#include "web/similarity.h"

namespace meguri::crawl {

using base::put_fixed;
using base::take_fixed;

inline void put_instant(std::string& out, base::Instant instant) {
  put_fixed(out, static_cast<std::uint64_t>(instant.ms()));
}

inline bool take_instant(std::string_view& bytes, base::Instant& instant) {
  std::uint64_t ms = 0;
  if (!take_fixed(bytes, ms)) return false;
  instant = base::Instant::from_ms(static_cast<std::int64_t>(ms));
  return true;
}

// An enumeration of one byte whose values end with `last`.
template <typename Enum>
bool take_enum(std::string_view& bytes, Enum last, Enum& value) {
  std::uint8_t byte = 0;
  if (!take_fixed(bytes, byte) || byte > static_cast<std::uint8_t>(last)) return false;
  value = static_cast<Enum>(byte);
  return true;
}

template <typename Bytes>
void put_bytes(std::string& out, const Bytes& bytes) {
  for (const std::uint8_t byte : bytes) put_fixed(out, byte);
}

template <typename Bytes>
bool take_bytes(std::string_view& from, Bytes& bytes) {
  for (std::uint8_t& byte : bytes) {
    if (!take_fixed(from, byte)) return false;
  }
  return true;
}

inline void put_sketch(std::string& out, const web::TextSketch& sketch) {
  put_fixed(out, sketch.hash);
  put_fixed(out, sketch.simhash);
  put_fixed(out, sketch.words);
  put_fixed(out, sketch.features);
  for (const std::uint64_t bins : sketch.bins) put_fixed(out, bins);
}

inline bool take_sketch(std::string_view& bytes, web::TextSketch& sketch) {
  return take_fixed(bytes, sketch.hash) && take_fixed(bytes, sketch.simhash) &&
         take_fixed(bytes, sketch.words) && take_fixed(bytes, sketch.features) &&
         std::ranges::all_of(sketch.bins,
                             [&](std::uint64_t& bins) { return take_fixed(bytes, bins); });
}

}  // namespace meguri::crawl
