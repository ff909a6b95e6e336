#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace meguri::base {

namespace {

constexpr std::uint32_t kReplacement = 0xFFFD;

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Sorted. C0 and C1 controls, soft hyphen, direction marks and overrides, line and paragraph
// separators, invisible operators, the byte order mark, interlinear and tag characters, and the
// noncharacters U+FFFE and U+FFFF.
constexpr std::array kUnsafe = {
    Range{0x0000, 0x001F}, Range{0x007F, 0x009F}, Range{0x00AD, 0x00AD}, Range{0x061C, 0x061C},
    Range{0x180E, 0x180E}, Range{0x200B, 0x200F}, Range{0x2028, 0x202E}, Range{0x2060, 0x206F},
    Range{0xFEFF, 0xFEFF}, Range{0xFFF9, 0xFFFB}, Range{0xFFFE, 0xFFFF}, Range{0xE0000, 0xE0FFF},
};

constexpr std::array kZeroWidth = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x0610, 0x061A},
    Range{0x064B, 0x065F}, Range{0x0E31, 0x0E31}, Range{0x0E34, 0x0E3A}, Range{0x0E47, 0x0E4E},
    Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
    Range{0x302A, 0x302D}, Range{0x3099, 0x309A}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
};

constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x23E9, 0x23EC},
    Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},   Range{0xA960, 0xA97C},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},
    Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD},
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, std::uint32_t value) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), value,
                                      [](std::uint32_t v, Range r) { return v < r.first; });
  return after != ranges.begin() && value <= std::prev(after)->last;
}

bool is_safe(CodePoint point) {
  if (!point.valid) return false;
  if (point.value < 0x7F) return point.value >= 0x20;
  return !is_in(kUnsafe, point.value);
}

std::size_t columns_of(CodePoint point) {
  if (point.value < 0x300 || !point.valid) return 1;
  if (is_in(kZeroWidth, point.value)) return 0;
  return is_in(kWide, point.value) ? 2 : 1;
}

void append_escape(CodePoint point, std::string* out) {
  if (point.valid && point.value == '\n') {
    *out += "\\n";
  } else if (point.valid && point.value == '\r') {
    *out += "\\r";
  } else if (point.valid && point.value == '\t') {
    *out += "\\t";
  } else if (!point.valid || point.value < 0x80) {
    fmt::format_to(std::back_inserter(*out), "\\x{:02x}", point.value);
  } else {
    fmt::format_to(std::back_inserter(*out), "\\u{{{:x}}}", point.value);
  }
}

void append_escaped(std::string_view text, bool escape_quotes, std::string* out) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (!is_safe(point)) {
      append_escape(point, out);
    } else {
      if (escape_quotes && (point.value == '"' || point.value == '\\')) *out += '\\';
      out->append(text.substr(0, point.length));
    }
    text.remove_prefix(point.length);
  }
}

bool is_plain_in_json(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// How many bytes the sequence led by `lead` has and the payload bits of `lead`; 0 if it leads none.
std::pair<std::size_t, std::uint32_t> sequence_of(std::uint32_t lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return {2, lead & 0x1FU};
  if (lead >= 0xE0 && lead <= 0xEF) return {3, lead & 0x0FU};
  if (lead >= 0xF0 && lead <= 0xF4) return {4, lead & 0x07U};
  return {0, 0};
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const std::uint32_t lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, true};
  const CodePoint broken{lead, 1, false};
  auto [length, value] = sequence_of(lead);
  if (length == 0 || text.size() < length) return broken;
  for (std::size_t i = 1; i < length; ++i) {
    const std::uint32_t byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return broken;
    value = (value << 6U) | (byte & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest.at(length) || is_surrogate || value > 0x10FFFF) return broken;
  return {value, length, true};
}

void append_printable(std::string_view text, std::string* out) { append_escaped(text, false, out); }

void append_quoted(std::string_view text, std::string* out) {
  *out += '"';
  append_escaped(text, true, out);
  *out += '"';
}

std::string quoted(std::string_view text, std::size_t bytes_max) {
  std::string out;
  append_quoted(text.substr(0, bytes_max), &out);
  if (text.size() > bytes_max) out += "...";
  return out;
}

void append_json_string(std::string_view text, std::string* out) {
  *out += '"';
  while (!text.empty()) {
    // Most text is plain ASCII, which is copied in one piece.
    const auto* const end = std::ranges::find_if_not(text, is_plain_in_json);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    out->append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const CodePoint point = first_code_point(text);
    const std::uint32_t value = point.valid ? point.value : kReplacement;
    if (value == '"' || value == '\\') {
      *out += '\\';
      *out += static_cast<char>(value);
    } else if (is_safe(point)) {
      out->append(text.substr(0, point.length));
    } else if (value <= 0xFFFF) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", value);
    } else {
      const std::uint32_t rest = value - 0x10000;
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10U),
                     0xDC00 + (rest & 0x3FFU));
    }
    text.remove_prefix(point.length);
  }
  *out += '"';
}

std::size_t display_columns(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    columns += columns_of(point);
    text.remove_prefix(point.length);
  }
  return columns;
}

std::string_view cut_to_columns(std::string_view text, std::size_t columns) {
  std::size_t used = 0;
  std::size_t end = 0;
  while (end < text.size()) {
    const CodePoint point = first_code_point(text.substr(end));
    used += columns_of(point);
    if (used > columns) break;
    end += point.length;
  }
  return text.substr(0, end);
}

}  // namespace meguri::base
