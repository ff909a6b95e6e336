// The small pieces HTTP's grammar is made of: tokens, white space, quoted strings, lists, numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/ascii.h"

namespace meguri::web {
// RFC 9110: OWS. Line ends are not part of it.
constexpr bool is_http_blank(char c) { return c == ' ' || c == '\t'; }

// RFC 9110: tchar.
inline constexpr std::array<bool, 256> kTokenChars = [] {
  std::array<bool, 256> chars{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    chars[static_cast<unsigned char>(c)] = true;
  for (char c = '0'; c <= '9'; ++c) chars[static_cast<unsigned char>(c)] = true;
  for (char c = 'a'; c <= 'z'; ++c) chars[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) chars[static_cast<unsigned char>(c)] = true;
  return chars;
}();
constexpr bool is_token_char(char c) { return kTokenChars[static_cast<unsigned char>(c)]; }

// C0 controls other than HTAB, and DEL.
constexpr bool is_http_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}
constexpr bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

// Without blanks at both ends.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_http_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_http_blank(text.back())) text.remove_suffix(1);
  return text;
}
// Without the characters of `set` at both ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view set) {
  const std::size_t first = text.find_first_not_of(set);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(set) - first + 1);
}

// One or more digits and nothing else; nullopt for signs, spaces and what 64 bits cannot hold.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

// Reads the quoted string whose opening quote is at text[at], and appends what it means to `out`
// (which may be null). Returns the position behind its closing quote, or the end of the text where
// there is none.
std::size_t read_quoted(std::string_view text, std::size_t at, std::string* out);

// The elements of a comma-separated list, without blanks around them; commas in quoted strings do
// not count, empty elements are dropped. The views are parts of `text`.
std::vector<std::string_view> split_list(std::string_view text);

// A parameter of a field value: name lower-cased, value without its quotes.
struct FieldParameter {
  std::string name;
  std::string value;

  friend bool operator==(const FieldParameter&, const FieldParameter&) = default;
};

inline constexpr std::size_t kFieldParametersMax = 64;  // further ones of one value are dropped

// Reads `; name=value; name="value"` from text[*at] up to a comma outside quotes or the end, and
// moves *at there. Takes blanks round '=' and parameters without a value.
std::vector<FieldParameter> read_parameters(std::string_view text, std::size_t* at);

// RFC 8187: charset'language'percent-encoded, as UTF-8. Nullopt if it is not of that form, or its
// charset has no such label.
std::optional<std::string> decode_extended_value(std::string_view text);

}  // namespace meguri::web
