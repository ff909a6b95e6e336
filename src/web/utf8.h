// UTF-8: checking it at the speed of memory, writing it, and finding where it is broken.
// All functions are pure and may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meguri::web {

constexpr char32_t kReplacementCharacter = 0xFFFD;
constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";
constexpr std::string_view kByteOrderMarkUtf8 = "\xEF\xBB\xBF";

// Whether `code_point` may stand in a text: not a surrogate, not above U+10FFFF.
constexpr bool is_scalar_value(char32_t code_point) {
  return code_point < 0xD800 || (code_point > 0xDFFF && code_point <= 0x10FFFF);
}

// How many bytes from the front are ASCII.
std::size_t ascii_prefix(std::string_view text);

// How many bytes from the front are whole, well-formed sequences: no overlong forms, no
// surrogates, nothing above U+10FFFF.
std::size_t valid_utf8_prefix(std::string_view text);

bool is_valid_utf8(std::string_view text);

// What stands at the front of a text.
struct Utf8Front {
  enum class Kind : std::uint8_t {
    kWhole,   // a well-formed sequence
    kBroken,  // bytes that together become one U+FFFD (Unicode's "maximal subpart")
    kCut,     // the text ends within a sequence that may still become well-formed
  };
  Kind kind = Kind::kWhole;
  std::size_t length = 1;
};

// Requires a non-empty `text`.
Utf8Front utf8_front(std::string_view text);

// Writes `code_point` at `out`, which has room for four bytes, and returns the place behind it.
// Requires a scalar value.
inline char* write_utf8(char32_t code_point, char* out) {
  if (code_point < 0x80) {
    *out++ = static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    *out++ = static_cast<char>(0xC0 | (code_point >> 6));
    *out++ = static_cast<char>(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    *out++ = static_cast<char>(0xE0 | (code_point >> 12));
    *out++ = static_cast<char>(0x80 | ((code_point >> 6) & 0x3F));
    *out++ = static_cast<char>(0x80 | (code_point & 0x3F));
  } else {
    *out++ = static_cast<char>(0xF0 | (code_point >> 18));
    *out++ = static_cast<char>(0x80 | ((code_point >> 12) & 0x3F));
    *out++ = static_cast<char>(0x80 | ((code_point >> 6) & 0x3F));
    *out++ = static_cast<char>(0x80 | (code_point & 0x3F));
  }
  return out;
}

// Appends `code_point`; what is no scalar value becomes U+FFFD.
void append_utf8(char32_t code_point, std::string* out);

// Appends `text` with everything broken in it replaced by U+FFFD; the end of the text breaks a
// sequence too.
void append_as_valid_utf8(std::string_view text, std::string* out);

}  // namespace meguri::web
