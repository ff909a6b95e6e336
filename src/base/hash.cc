#include "base/hash.h"

#include <xxhash.h>

#include <charconv>

#include "base/text.h"

namespace meguri::base {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Id Id::of(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

Result<Id> Id::parse_hex(std::string_view hex) {
  Id id;
  const char* const begin = hex.data();
  // from_chars takes no sign and no prefix for unsigned numbers, so only digits get through.
  if (hex.size() == 32) {
    const auto high = std::from_chars(begin, begin + 16, id.high, 16);
    const auto low = std::from_chars(begin + 16, begin + 32, id.low, 16);
    if (high.ptr == begin + 16 && low.ptr == begin + 32) return id;
  }
  return fail(ErrorCode::kInvalid, "{} is not an id of 32 hexadecimal digits", quoted(hex));
}

std::string Id::to_hex() const { return fmt::format("{:016x}{:016x}", high, low); }

}  // namespace meguri::base
