#include "web/byte_order_mark.h"

#include <cstddef>
#include <cstdint>

namespace meguri::web {
namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

char byte_of(std::uint32_t value) { return static_cast<char>(value & 0xFFU); }

void append_code_point(std::uint32_t value, std::string* out) {
  if (value < 0x80) {
    out->push_back(byte_of(value));
    return;
  }
  if (value < 0x800) {
    out->push_back(byte_of(0xC0U | (value >> 6U)));
  } else {
    if (value < 0x10000) {
      out->push_back(byte_of(0xE0U | (value >> 12U)));
    } else {
      out->push_back(byte_of(0xF0U | (value >> 18U)));
      out->push_back(byte_of(0x80U | ((value >> 12U) & 0x3FU)));
    }
    out->push_back(byte_of(0x80U | ((value >> 6U) & 0x3FU)));
  }
  out->push_back(byte_of(0x80U | (value & 0x3FU)));
}

std::uint32_t unit_at(std::string_view bytes, std::size_t i, bool big_endian) {
  const auto first = static_cast<unsigned char>(bytes[i]);
  const auto second = static_cast<unsigned char>(bytes[i + 1]);
  return big_endian ? (std::uint32_t{first} << 8U) | second : (std::uint32_t{second} << 8U) | first;
}

}  // namespace

std::string utf8_of_utf16(std::string_view bytes, bool big_endian) {
  std::string out;
  out.reserve(bytes.size());
  std::size_t i = 0;
  while (i + 1 < bytes.size()) {
    const std::uint32_t unit = unit_at(bytes, i, big_endian);
    i += 2;
    if (unit < 0xD800 || unit > 0xDFFF) {
      append_code_point(unit, &out);
      continue;
    }
    const bool has_next = i + 1 < bytes.size();
    const std::uint32_t next = has_next ? unit_at(bytes, i, big_endian) : 0;
    if (unit > 0xDBFF || next < 0xDC00 || next > 0xDFFF) {
      append_code_point(kReplacement, &out);
      continue;
    }
    append_code_point(0x10000 + ((unit - 0xD800) << 10U) + (next - 0xDC00), &out);
    i += 2;
  }
  if (i < bytes.size()) append_code_point(kReplacement, &out);
  return out;
}

std::string utf8_of_latin1(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) append_code_point(static_cast<unsigned char>(c), &out);
  return out;
}

std::string_view without_byte_order_mark(std::string_view bytes, std::string* storage) {
  if (bytes.starts_with("\xEF\xBB\xBF")) return bytes.substr(3);
  if (bytes.starts_with("\xFE\xFF")) return *storage = utf8_of_utf16(bytes.substr(2), true);
  if (bytes.starts_with("\xFF\xFE")) return *storage = utf8_of_utf16(bytes.substr(2), false);
  return bytes;
}

}  // namespace meguri::web
