#include "web/robots_path.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "web/ascii.h"

namespace meguri::web {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

constexpr bool is_unreserved(char c) {
  return is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// Reserved characters that mean nothing to robots.txt; "#" ends a path and is not among them.
constexpr bool is_plain_reserved(char c) { return std::string_view(":/?[]@!&'()+,;=").contains(c); }

constexpr auto kStaysAsItIs = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < 128; ++i) {
    const char c = static_cast<char>(i);
    table[i] = is_unreserved(c) || is_plain_reserved(c);
  }
  return table;
}();

bool stays(char c) { return kStaysAsItIs[static_cast<unsigned char>(c)]; }

void append_escaped(char c, std::string* out) {
  const auto value = static_cast<unsigned char>(c);
  out->push_back('%');
  out->push_back(kHexDigits[value >> 4U]);
  out->push_back(kHexDigits[value & 0xFU]);
}

// Appends what stands at `text[i]` and returns where the next thing stands.
std::size_t append_comparable(std::string_view text, std::size_t i, std::string* out) {
  const char c = text[i];
  if (stays(c)) {
    out->push_back(c);
    return i + 1;
  }
  if (c != '%') {
    append_escaped(c, out);
    return i + 1;
  }
  const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
  const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
  if (high < 0 || low < 0) {
    out->push_back('%');
    return i + 1;
  }
  const char decoded = static_cast<char>(high * 16 + low);
  if (is_unreserved(decoded)) {
    out->push_back(decoded);
  } else {
    append_escaped(decoded, out);
  }
  return i + 3;
}

}  // namespace

std::string_view comparable_path(std::string_view path, std::string* storage) {
  std::size_t plain = 0;
  while (plain < path.size() && stays(path[plain])) ++plain;
  const bool rooted = path.starts_with('/');
  if (rooted && (plain == path.size() || path[plain] == '#')) return path.substr(0, plain);

  storage->clear();
  if (!rooted) storage->push_back('/');
  storage->append(path.substr(0, plain));
  for (std::size_t i = plain; i < path.size() && path[i] != '#';) {
    i = append_comparable(path, i, storage);
  }
  return *storage;
}

std::string comparable_pattern(std::string_view pattern) {
  std::string out;
  out.reserve(pattern.size());
  for (std::size_t i = 0; i < pattern.size();) {
    const bool wildcard = pattern[i] == '*' || (pattern[i] == '$' && i + 1 == pattern.size());
    if (wildcard) {
      out.push_back(pattern[i++]);
    } else {
      i = append_comparable(pattern, i, &out);
    }
  }
  return out;
}

}  // namespace meguri::web
