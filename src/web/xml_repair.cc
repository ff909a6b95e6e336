#include "web/xml_repair.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "web/ascii.h"

namespace meguri::web {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kCdata = "<![CDATA[";

constexpr auto kEntities =
    std::to_array<std::string_view>({"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"});

bool is_name_start(char c) {
  return is_alpha(c) || c == '_' || c == ':' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_xml_character(std::uint32_t value) {
  if (value < 0x20) return value == '\t' || value == '\n' || value == '\r';
  return value < 0xD800 ||
         (value > 0xDFFF && value != 0xFFFE && value != 0xFFFF && value <= 0x10FFFF);
}

// The place behind the next `end`, or the end of the text.
std::size_t behind(std::string_view text, std::string_view end, std::size_t from) {
  const std::size_t at = text.find(end, from);
  return at == std::string_view::npos ? text.size() : at + end.size();
}

// The length of the character reference at the front of `text`, and the character; 0 if none.
std::size_t character_reference(std::string_view text, std::uint32_t* value) {
  constexpr std::size_t kDigitsMax = 10;
  if (!text.starts_with("&#")) return 0;
  const bool hex = text.size() > 2 && text[2] == 'x';
  const std::size_t first = hex ? 3 : 2;
  std::size_t i = first;
  std::uint64_t number = 0;
  for (; i < text.size() && i - first < kDigitsMax; ++i) {
    const int digit = hex_value(text[i]);
    if (digit < 0 || (!hex && digit > 9)) break;
    number = number * (hex ? 16U : 10U) + static_cast<unsigned>(digit);
  }
  if (i == first || i == text.size() || text[i] != ';') return 0;
  *value = static_cast<std::uint32_t>(std::min<std::uint64_t>(number, 0x11'0000));
  return i + 1;
}

// Whether a run of text may go over it: printable ASCII without a meaning in XML, and white space.
constexpr auto kPlain = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0x20; i < 0x7F; ++i) table[i] = true;
  for (const char c : std::string_view("\t\n\r")) table[static_cast<unsigned char>(c)] = true;
  for (const char c : std::string_view("<>&\"'")) table[static_cast<unsigned char>(c)] = false;
  return table;
}();

}  // namespace

std::size_t end_of_xml_declaration(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("<!--")) return behind(text, "-->", at + 4);
  if (text.substr(at).starts_with("<?")) return behind(text, "?>", at + 2);
  bool in_subset = false;
  for (std::size_t i = at + 2; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const char c = text[i];
    if (rest.starts_with("<!--")) {
      i = behind(text, "-->", i + 4);
    } else if (rest.starts_with("<?")) {
      i = behind(text, "?>", i + 2);
    } else if (c == '"' || c == '\'') {
      i = behind(text, {&c, 1}, i + 1);
    } else if (c == '>' && !in_subset) {
      return i + 1;
    } else {
      if (c == '[') in_subset = true;
      if (c == ']') in_subset = false;
      ++i;
    }
  }
  return text.size();
}

bool XmlRepair::produce(std::size_t bytes, std::string* out) {
  const std::size_t wanted = out->size() + bytes;
  while (at_ < text_.size() && out->size() < wanted) step(out);
  return at_ < text_.size();
}

void XmlRepair::step(std::string* out) {
  switch (state_) {
    case State::kProlog:
      if (is_space(text_[at_])) {
        ++at_;
      } else {
        state_ = State::kText;
      }
      break;
    case State::kText: take_text(out); break;
    case State::kTag: take_tag(out); break;
    case State::kCdata: take_cdata(out); break;
  }
}

void XmlRepair::take_text(std::string* out) {
  switch (text_[at_]) {
    case '<': take_markup(out); break;
    case '&': take_reference(out); break;
    case '>':
      out->append("&gt;");
      ++at_;
      break;
    default: take_other(out);
  }
}

void XmlRepair::take_markup(std::string* out) {
  const std::string_view rest = text_.substr(at_);
  if (rest.starts_with(kCdata)) {
    at_ += kCdata.size();
    state_ = State::kCdata;
  } else if (rest.starts_with("<!") || rest.starts_with("<?")) {
    skip_declaration();
  } else if (rest.size() > 1 && (rest[1] == '/' || is_name_start(rest[1]))) {
    out->push_back('<');
    ++at_;
    quote_ = 0;
    state_ = State::kTag;
  } else {
    out->append("&lt;");
    ++at_;
  }
}

void XmlRepair::skip_declaration() {
  saw_doctype_ |= starts_with_ignoring_case(text_.substr(at_), "<!doctype");
  at_ = end_of_xml_declaration(text_, at_);
}

void XmlRepair::take_tag(std::string* out) {
  const char c = text_[at_];
  if (c == '&') return take_reference(out);
  if (c == '<' && quote_ != 0) {
    out->append("&lt;");
    ++at_;
  } else if (c == '"' || c == '\'' || c == '>' || c == '<') {
    if (c == quote_) {
      quote_ = 0;
    } else if (quote_ == 0) {
      if (c == '>') state_ = State::kText;
      if (c == '"' || c == '\'') quote_ = c;
    }
    out->push_back(c);
    ++at_;
  } else {
    take_other(out);
  }
}

void XmlRepair::take_cdata(std::string* out) {
  switch (text_[at_]) {
    case ']':
      if (text_.substr(at_).starts_with("]]>")) {
        at_ += 3;
        state_ = State::kText;
        return;
      }
      out->push_back(']');
      break;
    case '<': out->append("&lt;"); break;
    case '>': out->append("&gt;"); break;
    case '&': out->append("&amp;"); break;
    default: return take_other(out);
  }
  ++at_;
}

void XmlRepair::take_reference(std::string* out) {
  const std::string_view rest = text_.substr(at_);
  std::uint32_t value = 0;
  std::size_t length = character_reference(rest, &value);
  if (length != 0 && !is_xml_character(value)) {
    out->append(kReplacement);
  } else {
    const auto* entity = std::ranges::find_if(
        kEntities, [rest](std::string_view known) { return rest.starts_with(known); });
    if (entity != kEntities.end()) length = entity->size();
    out->append(length == 0 ? "&amp;" : rest.substr(0, length));
  }
  at_ += std::max<std::size_t>(length, 1);
}

// Text that needs no other care: a run of plain characters, or one that is not plain.
void XmlRepair::take_other(std::string* out) {
  std::size_t end = at_;
  constexpr std::size_t kRunMax = 4096;
  const std::size_t limit = std::min(text_.size(), at_ + kRunMax);
  while (end < limit && kPlain[static_cast<unsigned char>(text_[end])] && text_[end] != ']') ++end;
  if (end != at_) {
    out->append(text_.substr(at_, end - at_));
    at_ = end;
    return;
  }
  const char c = text_[at_];
  if (static_cast<unsigned char>(c) < 0x80) {
    out->push_back(is_xml_character(static_cast<unsigned char>(c)) ? c : ' ');
    ++at_;
    return;
  }
  const base::CodePoint point = base::first_code_point(text_.substr(at_));
  const bool good = point.valid && is_xml_character(point.value);
  out->append(good ? text_.substr(at_, point.length) : kReplacement);
  at_ += point.length;
}

}  // namespace meguri::web
