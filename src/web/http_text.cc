#include "web/http_text.h"

#include <limits>
#include <utility>

#include "web/ascii.h"
#include "web/charset.h"

namespace meguri::web {

namespace {

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_http_blank(text[at])) ++at;
  return at;
}
// Nullopt where a '%' is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::size_t read_quoted(std::string_view text, std::size_t at, std::string* out) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    // A backslash at the very end stands for itself.
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    if (out != nullptr) *out += text[i];
  }
  return text.size();
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> elements;
  std::size_t begin = 0;
  std::size_t at = 0;
  while (begin < text.size()) {
    while (at < text.size() && text[at] != ',') {
      at = text[at] == '"' ? read_quoted(text, at, nullptr) : at + 1;
    }
    const std::string_view element = trimmed(text.substr(begin, at - begin));
    if (!element.empty()) elements.push_back(element);
    begin = ++at;
  }
  return elements;
}

std::vector<FieldParameter> read_parameters(std::string_view text, std::size_t* at) {
  std::vector<FieldParameter> parameters;
  std::size_t i = *at;
  while (i < text.size() && text[i] != ',') {
    if (text[i] == ';' || is_http_blank(text[i])) {
      ++i;
      continue;
    }
    FieldParameter parameter;
    const std::size_t name_end = std::min(text.find_first_of("=;, \t\"", i), text.size());
    parameter.name = lower_copy(text.substr(i, name_end - i));
    i = skip_blanks(text, name_end);
    if (i < text.size() && text[i] == '=') {
      i = skip_blanks(text, i + 1);
      if (i < text.size() && text[i] == '"') {
        i = read_quoted(text, i, &parameter.value);
      } else {
        const std::size_t end = std::min(text.find_first_of(";, \t", i), text.size());
        parameter.value = text.substr(i, end - i);
        i = end;
      }
    } else if (i < text.size() && text[i] == '"') {
      i = read_quoted(text, i, nullptr);  // a string without a name means nothing
    }
    if (!parameter.name.empty() && parameters.size() < kFieldParametersMax) {
      parameters.push_back(std::move(parameter));
    }
  }
  *at = i;
  return parameters;
}

std::optional<std::string> decode_extended_value(std::string_view text) {
  const std::size_t charset_end = text.find('\'');
  if (charset_end == std::string_view::npos) return std::nullopt;
  const std::size_t language_end = text.find('\'', charset_end + 1);
  if (language_end == std::string_view::npos) return std::nullopt;
  const auto charset = charset_of_label(text.substr(0, charset_end));
  const auto bytes = percent_decoded(text.substr(language_end + 1));
  if (!bytes || !charset) return std::nullopt;
  std::string utf8;
  decode(*bytes, *charset, &utf8);
  return utf8;
}

}  // namespace meguri::web
