// Which bytes of a URL stay as they are, for the fast ways through the URL parser.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "web/ascii.h"
#include "web/percent.h"

namespace meguri::web {

// What a byte means to the parser of ordinary URLs.
enum Plain : std::uint8_t {
  kPlainHost = 1,      // lower-case letters, digits, '-', '_', '.'
  kPlainPath = 2,      // stays as it is in a path
  kPlainQuery = 4,     // stays as it is in a query
  kPlainFragment = 8,  // stays as it is in a fragment
};

inline constexpr auto kPlain = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    unsigned bits = 0;
    const bool lower = c >= 'a' && c <= 'z';
    if (lower || is_digit(c) || c == '-' || c == '_' || c == '.') bits |= kPlainHost;
    if (!is_in(EncodeSet::kPath, c) && c != '\\' && c != '/') bits |= kPlainPath;
    if (!is_in(EncodeSet::kSpecialQuery, c)) bits |= kPlainQuery;
    if (!is_in(EncodeSet::kFragment, c)) bits |= kPlainFragment;
    table[byte] = static_cast<std::uint8_t>(bits);
  }
  return table;
}();

constexpr bool is_plain(char c, Plain what) {
  return (kPlain[static_cast<unsigned char>(c)] & what) != 0;
}

// The end of the run of bytes of kind `what` at `at`.
inline std::size_t skip_plain(std::string_view text, std::size_t at, Plain what) {
  while (at < text.size() && is_plain(text[at], what)) ++at;
  return at;
}

// The end of the path at `at`, or where it holds something that must change: a byte to encode, a
// backslash, or what may be a dot segment.
inline std::size_t skip_plain_path(std::string_view text, std::size_t at) {
  for (;;) {
    at = skip_plain(text, at, kPlainPath);
    if (at >= text.size() || text[at] != '/') return at;
    const std::string_view next = text.substr(at + 1, 2);
    if (next.starts_with('.') || next == "%2") return at;
    ++at;
  }
}

// True if the segments behind a slash can be appended to a path as they are.
inline bool is_plain_path(std::string_view segments) {
  if (segments.starts_with('.') || segments.starts_with("%2")) return false;
  return skip_plain_path(segments, 0) == segments.size();
}

}  // namespace meguri::web
