// What documents say of their own charset: byte order marks, <meta>, XML declarations, @charset.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "web/ascii.h"
#include "web/charset_detect.h"

namespace meguri::web {
namespace {

using namespace std::string_view_literals;
bool is_control_or_space(char c) { return static_cast<unsigned char>(c) <= 0x20; }

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

// A declaration that could be read as ASCII is not in UTF-16, whatever it says.
Charset without_utf16(Charset charset) {
  const bool utf16 = charset == Charset::kUtf16Be || charset == Charset::kUtf16Le;
  return utf16 ? Charset::kUtf8 : charset;
}

struct Attribute {
  std::string name;  // in lower case, as the value
  std::string value;
};

// The position in the bytes that a prescan may read. `out_of_bytes` ends the prescan.
class Prescan {
 public:
  explicit Prescan(std::string_view bytes) : bytes_(bytes) {}

  std::optional<Charset> run() {
    while (!at_end()) {
      const std::size_t start = at_;
      if (const auto charset = read_construct()) return charset;
      if (out_of_bytes_) return std::nullopt;
      at_ = std::max(at_, start) + 1;
    }
    return std::nullopt;
  }

 private:
  bool at_end() const { return at_ >= bytes_.size(); }
  char here() const { return bytes_[at_]; }
  std::string_view rest() const { return bytes_.substr(at_); }

  // Moves to the next place of `text` from `from` on, and onto its last byte.
  void skip_to_end_of(std::string_view text, std::size_t from) {
    const std::size_t found = bytes_.find(text, from);
    out_of_bytes_ = found == std::string_view::npos;
    if (!out_of_bytes_) at_ = found + text.size() - 1;
  }

  std::optional<Charset> read_construct() {
    const std::string_view text = rest();
    if (text[0] != '<') {
      const std::size_t next = text.find('<');
      at_ = next == std::string_view::npos ? bytes_.size() : at_ + next - 1;
    } else if (text.starts_with("<!--")) {
      skip_to_end_of("-->", at_ + 2);  // the dashes may be those of the start
    } else if (is_meta(text)) {
      at_ += "<meta"sv.size();
      return read_meta();
    } else if (is_tag(text)) {
      skip_tag();
    } else if (text.size() > 1 && "!/?"sv.contains(text[1])) {
      skip_to_end_of(">", at_);
    }
    return std::nullopt;
  }

  static bool is_meta(std::string_view text) {
    constexpr std::size_t kLength = "<meta"sv.size();
    return text.size() > kLength && equal_without_case(text.substr(0, kLength), "<meta") &&
           (is_space(text[kLength]) || text[kLength] == '/');
  }

  static bool is_tag(std::string_view text) {
    const std::size_t name = text.size() > 1 && text[1] == '/' ? 2 : 1;
    return text.size() > name && is_alpha(text[name]);
  }

  void skip_tag() {
    while (!at_end() && !is_space(here()) && here() != '>') ++at_;
    while (next_attribute()) {
    }
  }

  std::optional<Charset> read_meta() {
    bool seen_equiv = false, seen_content = false, seen_charset = false;
    bool is_content_type = false;
    bool from_content = false;
    std::optional<Charset> charset;
    while (const auto attribute = next_attribute()) {
      if (attribute->name == "http-equiv" && !std::exchange(seen_equiv, true)) {
        is_content_type = attribute->value == "content-type";
      } else if (attribute->name == "content" && !std::exchange(seen_content, true)) {
        if (charset || seen_charset) continue;
        charset = charset_of_content_type(attribute->value);
        from_content = charset.has_value();
      } else if (attribute->name == "charset" && !std::exchange(seen_charset, true)) {
        charset = charset_of_label(attribute->value);
        from_content = false;
      }
    }
    if (out_of_bytes_ || !charset || (from_content && !is_content_type)) return std::nullopt;
    if (*charset == Charset::kXUserDefined) return Charset::kWindows1252;
    return without_utf16(*charset);
  }

  // The standard's "get an attribute"; nullopt at the end of the tag or of the bytes.
  std::optional<Attribute> next_attribute() {
    while (!at_end() && (is_space(here()) || here() == '/')) ++at_;
    if (at_end() || here() == '>') return none_if_at_end();
    Attribute attribute;
    while (!at_end() && !is_space(here()) && here() != '/' && here() != '>' &&
           (here() != '=' || attribute.name.empty())) {
      attribute.name.push_back(to_lower(bytes_[at_++]));
    }
    skip_spaces();
    if (at_end()) return none_if_at_end();
    if (here() != '=') return attribute;
    ++at_;
    skip_spaces();
    if (at_end()) return none_if_at_end();
    return read_value(&attribute) ? std::optional(std::move(attribute)) : none_if_at_end();
  }

  // Reads to behind the value; false if the bytes end before it does.
  bool read_value(Attribute* attribute) {
    const char quote = here();
    if (quote == '"' || quote == '\'') {
      ++at_;
      while (!at_end() && here() != quote) attribute->value.push_back(to_lower(bytes_[at_++]));
      if (at_end()) return false;
      ++at_;
      return true;
    }
    while (!at_end() && !is_space(here()) && here() != '>') {
      attribute->value.push_back(to_lower(bytes_[at_++]));
    }
    return !at_end();
  }

  void skip_spaces() {
    while (!at_end() && is_space(here())) ++at_;
  }

  std::optional<Attribute> none_if_at_end() {
    out_of_bytes_ = out_of_bytes_ || at_end();
    return std::nullopt;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool out_of_bytes_ = false;
};

// UTF-16 shows itself by the first characters of an XML declaration.
std::optional<Charset> utf16_of_xml_start(std::string_view bytes) {
  if (bytes.starts_with("<\0?\0x\0"sv)) return Charset::kUtf16Le;
  if (bytes.starts_with("\0<\0?\0x"sv)) return Charset::kUtf16Be;
  return std::nullopt;
}

std::size_t skip_controls(std::string_view text, std::size_t at) {
  while (at < text.size() && is_control_or_space(text[at])) ++at;
  return at;
}

}  // namespace

std::optional<Charset> charset_of_bom(std::string_view first_bytes) {
  if (first_bytes.starts_with("\xEF\xBB\xBF")) return Charset::kUtf8;
  if (first_bytes.starts_with("\xFE\xFF")) return Charset::kUtf16Be;
  if (first_bytes.starts_with("\xFF\xFE")) return Charset::kUtf16Le;
  return std::nullopt;
}

std::optional<CharsetFinding> prescan_html(std::string_view first_bytes, std::size_t bytes_max) {
  const std::string_view bytes = first_bytes.substr(0, bytes_max);
  if (const auto utf16 = utf16_of_xml_start(bytes)) {
    return CharsetFinding{*utf16, CharsetSource::kXmlDeclaration};
  }
  if (const auto charset = Prescan(bytes).run()) {
    return CharsetFinding{*charset, CharsetSource::kMeta};
  }
  if (const auto charset = charset_of_xml_declaration(bytes)) {
    return CharsetFinding{*charset, CharsetSource::kXmlDeclaration};
  }
  return std::nullopt;
}

std::optional<Charset> charset_of_xml_declaration(std::string_view first_bytes) {
  const std::string_view bytes = first_bytes.substr(0, kPrescanBytes);
  if (const auto utf16 = utf16_of_xml_start(bytes)) return utf16;
  if (!bytes.starts_with("<?xml")) return std::nullopt;
  const std::string_view text = bytes.substr(0, bytes.find('>'));
  if (text.size() == bytes.size()) return std::nullopt;

  std::size_t at = text.find("encoding");
  if (at == std::string_view::npos) return std::nullopt;
  at = skip_controls(text, at + "encoding"sv.size());
  if (at == text.size() || text[at] != '=') return std::nullopt;
  at = skip_controls(text, at + 1);
  if (at == text.size() || (text[at] != '"' && text[at] != '\'')) return std::nullopt;
  const std::size_t end = text.find(text[at], at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view label = text.substr(at + 1, end - at - 1);
  if (std::ranges::any_of(label, is_control_or_space)) return std::nullopt;
  return charset_of_label(label).transform(without_utf16);
}

std::optional<Charset> charset_of_css_rule(std::string_view first_bytes) {
  constexpr std::string_view kStart = "@charset \"";
  std::string_view text = first_bytes.substr(0, kPrescanBytes);
  if (!text.starts_with(kStart)) return std::nullopt;
  text.remove_prefix(kStart.size());
  const std::size_t end = text.find('"');
  if (end == std::string_view::npos || !text.substr(end).starts_with("\";")) return std::nullopt;
  return charset_of_label(text.substr(0, end)).transform(without_utf16);
}

std::optional<Charset> charset_of_content_type(std::string_view value) {
  constexpr std::string_view kWord = "charset";
  for (std::size_t at = 0; at + kWord.size() <= value.size(); ++at) {
    if (!equal_without_case(value.substr(at, kWord.size()), kWord)) continue;
    std::size_t label = at + kWord.size();
    while (label < value.size() && is_space(value[label])) ++label;
    if (label == value.size() || value[label] != '=') {
      at = label - 1;
      continue;
    }
    ++label;
    while (label < value.size() && is_space(value[label])) ++label;
    if (label == value.size()) return std::nullopt;
    const char quote = value[label];
    if (quote == '"' || quote == '\'') {
      const std::size_t end = value.find(quote, label + 1);
      if (end == std::string_view::npos) return std::nullopt;
      return charset_of_label(value.substr(label + 1, end - label - 1));
    }
    return charset_of_label(value.substr(label, value.find_first_of("\t\n\f\r ;", label) - label));
  }
  return std::nullopt;
}

}  // namespace meguri::web
