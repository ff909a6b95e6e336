#include "web/char_refs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "web/ascii.h"
#include "web/entity_table.h"
#include "web/scan.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

constexpr std::size_t kEntityNameMax = 32;  // "CounterClockwiseContourIntegral;"
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// What the standard makes of the numbers 0x80 to 0x9f: windows-1252. 0 stands for itself.
constexpr std::array<char16_t, 32> kWindows1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

bool has_references(TextMode mode) {
  return mode == TextMode::kData || mode == TextMode::kRcdata || mode == TextMode::kAttribute;
}

bool keeps_nul(TextMode mode) { return mode == TextMode::kData || mode == TextMode::kCdata; }

// Entities whose names begin with each byte, so that a search begins among a few dozen.
std::span<const Entity> entities_of(char first) {
  static const auto starts_of_bytes = [] {
    std::array<std::uint16_t, 129> starts{};
    const auto table = entity_table();
    std::size_t next = 0;
    for (std::size_t byte = 0; byte < 129; ++byte) {
      while (next < table.size() && static_cast<unsigned char>(table[next].name[0]) < byte) ++next;
      starts[byte] = static_cast<std::uint16_t>(next);
    }
    return starts;
  }();
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 128) return {};
  return entity_table().subspan(
      starts_of_bytes[byte],
      static_cast<std::size_t>(starts_of_bytes[byte + 1U]) - starts_of_bytes[byte]);
}

// The entity with the longest name that begins `text`.
const Entity* longest_entity(std::string_view text) {
  if (text.empty()) return nullptr;
  std::span<const Entity> range = entities_of(text[0]);
  const Entity* found = nullptr;
  for (std::size_t i = 1; !range.empty(); ++i) {
    if (range.front().name.size() == i) {
      found = &range.front();
      range = range.subspan(1);
    }
    if (i >= text.size()) break;
    // All of the range share the first i bytes, so they are sorted by the next one.
    const auto next = std::ranges::equal_range(
        range, text[i], [](unsigned char a, unsigned char b) { return a < b; },
        [i](const Entity& entity) { return static_cast<unsigned char>(entity.name[i]); });
    range = {next.begin(), next.end()};
  }
  return found;
}

// Reads "&#...": appends what it stands for, and returns how long it was; 0 if it is none.
std::size_t append_numeric(std::string_view text, std::string* out) {
  const bool hex = text.size() > 2 && (text[2] | 0x20) == 'x';
  const std::size_t digits = hex ? 3 : 2;
  std::size_t i = digits;
  char32_t value = 0;
  for (; i < text.size(); ++i) {
    const int digit = hex ? hex_value(text[i]) : (is_digit(text[i]) ? text[i] - '0' : -1);
    if (digit < 0) break;
    value = std::min<char32_t>(value * (hex ? 16 : 10) + static_cast<char32_t>(digit), 0x110000);
  }
  if (i == digits) return 0;
  if (i < text.size() && text[i] == ';') ++i;
  if (value >= 0x80 && value < 0xA0 && kWindows1252[value - 0x80] != 0) {
    value = kWindows1252[value - 0x80];
  }
  if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) value = 0xFFFD;
  append_utf8(value, out);
  return i;
}

// Reads a reference at the front of `text`, which begins with an ampersand. Returns how long it
// was; 0 if the ampersand stands for itself.
std::size_t append_reference(std::string_view text, TextMode mode, std::string* out) {
  if (text.size() > 1 && text[1] == '#') return append_numeric(text, out);
  const Entity* entity = longest_entity(text.substr(1));
  if (entity == nullptr) return 0;
  const std::size_t length = 1 + entity->name.size();
  if (mode == TextMode::kAttribute && entity->name.back() != ';' && length < text.size() &&
      (text[length] == '=' || is_alnum(text[length]))) {
    return 0;  // "?a=1&copy=2" in an address means what it says
  }
  append_utf8(entity->first, out);
  if (entity->second != 0) append_utf8(entity->second, out);
  return length;
}

const char* find_special(const char* begin, const char* end, TextMode mode) {
  return has_references(mode) ? find_any<'&', '\r', '\0'>(begin, end)
                              : find_any<'\r', '\0'>(begin, end);
}

}  // namespace

bool is_plain_text(std::string_view raw, TextMode mode) {
  const char* end = raw.data() + raw.size();
  const char* at = find_special(raw.data(), end, mode);
  if (keeps_nul(mode)) {
    while (at != end && *at == '\0') at = find_special(at + 1, end, mode);
  }
  return at == end;
}

void append_decoded(std::string_view raw, TextMode mode, std::string* out) {
  const char* at = raw.data();
  const char* const end = at + raw.size();
  while (true) {
    const char* special = find_special(at, end, mode);
    out->append(at, special);
    if (special == end) return;
    at = special + 1;
    if (*special == '\r') {
      out->push_back('\n');
      if (at != end && *at == '\n') ++at;
    } else if (*special == '\0') {
      keeps_nul(mode) ? out->push_back('\0') : static_cast<void>(out->append(kReplacement));
    } else {
      const std::size_t length = append_reference({special, end}, mode, out);
      if (length == 0) out->push_back('&');
      at = special + std::max<std::size_t>(length, 1);
    }
  }
}

std::size_t open_reference_length(std::string_view raw) {
  std::size_t at = raw.size();
  while (at > 0 && (is_alnum(raw[at - 1]) || raw[at - 1] == '#')) --at;
  if (at == 0 || raw[at - 1] != '&') return 0;
  const std::size_t length = raw.size() - at + 1;
  const bool numeric = length > 1 && raw[at] == '#';
  return numeric || length <= 1 + kEntityNameMax ? length : 0;
}

}  // namespace meguri::web
