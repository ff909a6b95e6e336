#include "web/percent.h"

#include <unicode/utf8.h>

#include <cstring>

namespace meguri::web {

namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

// Decodes the code point at `*at` and moves behind it; negative where the bytes are broken.
std::int32_t next_code_point(std::string_view bytes, std::size_t* at) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::int32_t code_point = 0;
  // NOLINTNEXTLINE(bugprone-inc-dec-in-conditions): as ICU wrote it.
  U8_NEXT(data, *at, bytes.size(), code_point);
  return code_point;
}

}  // namespace

void append_escape(char byte, std::string* out) {
  const auto value = static_cast<unsigned char>(byte);
  const char escape[3] = {'%', kHexDigits[value >> 4U], kHexDigits[value & 0xFU]};
  out->append(escape, 3);
}

void append_encoded(std::string_view bytes, EncodeSet set, std::string* out) {
  std::size_t copied = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!is_in(set, bytes[i])) continue;
    out->append(bytes.substr(copied, i - copied));
    append_escape(bytes[i], out);
    copied = i + 1;
  }
  out->append(bytes.substr(copied));
}

void append_decoded(std::string_view text, std::string* out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int byte = text[i] == '%' ? escape_at(text, i) : -1;
    *out += byte < 0 ? text[i] : static_cast<char>(byte);
    if (byte >= 0) i += 2;
  }
}

bool is_ascii(std::string_view bytes) {
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    if ((word & 0x8080808080808080ULL) != 0) return false;
  }
  for (; i < bytes.size(); ++i) {
    if (static_cast<unsigned char>(bytes[i]) >= 0x80) return false;
  }
  return true;
}

bool is_utf8(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (next_code_point(bytes, &at) < 0) return false;
  }
  return true;
}

std::string repaired_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + 8);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t begin = at;
    if (next_code_point(bytes, &at) < 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out.append(bytes.substr(begin, at - begin));
    }
  }
  return out;
}

}  // namespace meguri::web
