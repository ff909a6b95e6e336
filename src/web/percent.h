// Percent-encoding of the URL Standard: the sets of bytes that each part of a URL encodes, and both
// directions of the code. Pure functions; linear in their input.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "web/ascii.h"

namespace meguri::web {

// Each set is one bit of kEncodeBits. Bytes outside ASCII are in all of them.
enum class EncodeSet : std::uint8_t {
  kC0Control = 1,
  kFragment = 2,
  kQuery = 4,
  kSpecialQuery = 8,
  kPath = 16,
  kUserinfo = 32,
};

namespace internal {

constexpr std::uint8_t encode_bits_of(unsigned byte) {
  constexpr std::string_view kInPath = " \"#<>?^`{}";
  constexpr std::string_view kInUserinfo = " \"#<>?^`{}/:;=@[\\]|";
  if (byte < 0x20 || byte > 0x7E) return 0x3F;
  const char c = static_cast<char>(byte);
  unsigned bits = 0;
  if (std::string_view(" \"<>`").contains(c)) bits |= 2U;
  if (std::string_view(" \"#<>").contains(c)) bits |= 4U;
  if (std::string_view(" \"#<>'").contains(c)) bits |= 8U;
  if (kInPath.contains(c)) bits |= 16U;
  if (kInUserinfo.contains(c)) bits |= 32U;
  return static_cast<std::uint8_t>(bits);
}

constexpr auto make_encode_bits() {
  std::array<std::uint8_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) table[byte] = encode_bits_of(byte);
  return table;
}

}  // namespace internal

inline constexpr std::array<std::uint8_t, 256> kEncodeBits = internal::make_encode_bits();

constexpr bool is_in(EncodeSet set, char c) {
  return (kEncodeBits[static_cast<unsigned char>(c)] & static_cast<unsigned>(set)) != 0;
}
// The byte that the "%XY" at `at` stands for; -1 if there is no such escape.
constexpr int escape_at(std::string_view text, std::size_t at) {
  if (text.size() - at < 3 || text[at] != '%') return -1;
  const int high = hex_value(text[at + 1]);
  const int low = hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Letters, digits and "-._~" of RFC 3986: they mean the same with and without an escape.
constexpr bool is_unreserved(char c) {
  return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// Appends "%XY" with upper-case digits.
void append_escape(char byte, std::string* out);

// Appends `bytes`, those in `set` as escapes.
void append_encoded(std::string_view bytes, EncodeSet set, std::string* out);

// Appends `text` with every valid escape replaced by its byte, once.
void append_decoded(std::string_view text, std::string* out);

bool is_ascii(std::string_view bytes);

// Well-formed UTF-8 as it is; otherwise every broken sequence becomes one U+FFFD, as the Encoding
// Standard decodes.
bool is_utf8(std::string_view bytes);
std::string repaired_utf8(std::string_view bytes);

}  // namespace meguri::web
