#include "web/url_fields.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/hash.h"
#include "web/ascii.h"
#include "web/percent.h"
#include "web/url_filter.h"
#include "web/url_template.h"

namespace meguri::web {

namespace {
bool is_digits(std::string_view text, std::size_t length) {
  return text.size() == length && std::ranges::all_of(text, is_digit);
}

int two_digits(std::string_view text) { return (text[0] - '0') * 10 + (text[1] - '0'); }

bool is_year(std::string_view text) {
  return is_digits(text, 4) && (text.starts_with("19") || text.starts_with("20"));
}

bool is_month(std::string_view text) {
  return is_digits(text, 2) && two_digits(text) >= 1 && two_digits(text) <= 12;
}

bool is_day(std::string_view text) {
  return is_digits(text, 2) && two_digits(text) >= 1 && two_digits(text) <= 31;
}

std::string_view piece(std::string_view text, std::size_t at, std::size_t length) {
  return at <= text.size() ? text.substr(at, length) : std::string_view();
}

bool ends_at(std::string_view text, std::size_t at) {
  return at == text.size() || (at < text.size() && !is_alnum(text[at]));
}

// The length of a date at the front of `text` that ends with a word: 10, 8, 7, or 0 for none.
std::size_t date_length(std::string_view text) {
  if (!is_year(piece(text, 0, 4))) return 0;
  if (is_month(piece(text, 4, 2)) && is_day(piece(text, 6, 2)) && ends_at(text, 8)) return 8;
  if (text.size() < 7 || (text[4] != '-' && text[4] != '_')) return 0;
  if (!is_month(piece(text, 5, 2))) return 0;
  const bool has_day = text.size() > 7 && text[7] == text[4] && is_day(piece(text, 8, 2));
  if (has_day && ends_at(text, 10)) return 10;
  return ends_at(text, 7) ? 7 : 0;
}

// True if `text` begins with a UUID of 36 characters.
bool begins_with_uuid(std::string_view text) {
  if (text.size() < 36 || !ends_at(text, 36)) return false;
  for (std::size_t i = 0; i < 36; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : hex_value(text[i]) < 0) return false;
  }
  return true;
}

bool looks_like_id(std::string_view word) {
  const auto digits = static_cast<std::size_t>(std::ranges::count_if(word, is_digit));
  const bool hex = std::ranges::all_of(word, [](char c) { return hex_value(c) >= 0; });
  if (hex && word.size() >= 8 && digits > 0) return true;
  return word.size() >= 16 && digits >= 4;
}

// Appends the form of what begins at `at`; returns where that ends.
std::size_t append_form_at(std::string_view text, std::size_t at, std::string_view number,
                           std::string* out) {
  const std::string_view rest = text.substr(at);
  if (escape_at(text, at) >= 0) {  // an escaped byte is part of a word
    out->append(rest.substr(0, 3));
    return at + 3;
  }
  if (!is_alnum(rest[0])) {
    *out += rest[0];
    return at + 1;
  }
  if (const std::size_t length = date_length(rest); length > 0) {
    *out += "{date}";
    return at + length;
  }
  if (begins_with_uuid(rest)) {
    *out += "{id}";
    return at + 36;
  }
  const auto end = std::ranges::find_if_not(rest, is_alnum);
  const std::string_view word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  if (std::ranges::all_of(word, is_digit)) {
    *out += number;
  } else if (looks_like_id(word)) {
    *out += "{id}";
  } else {
    *out += word;
  }
  return at + word.size();
}

std::string form_of(std::string_view text, std::string_view number) {
  if (text.size() > kTemplateFieldBytesMax) return "{long}";
  std::string form;
  for (std::size_t at = 0; at < text.size();) at = append_form_at(text, at, number, &form);
  return form;
}

// "name=value" inside a segment or a query; only the value has a form.
std::string argument_form(std::string_view name, std::string_view value, std::string_view number) {
  return is_session_argument(name, value) ? "{session}" : form_of(value, number);
}

std::string segment_form(std::string_view segment) {
  if (is_session_segment(segment)) return "{session}";
  const std::size_t semicolon = std::min(segment.find(';'), segment.size());
  std::string form = form_of(segment.substr(0, semicolon), "{id}");
  if (semicolon == segment.size()) return form;
  const std::string_view parameter = segment.substr(semicolon + 1);
  const std::size_t equals = std::min(parameter.find('='), parameter.size());
  form.append(";").append(form_of(parameter.substr(0, equals), "{id}"));
  if (equals == parameter.size()) return form;
  form.append("=").append(
      argument_form(parameter.substr(0, equals), parameter.substr(equals + 1), "{id}"));
  return form;
}

// ".html" of "a.html": a dot and up to five letters or digits, the first a letter.
std::string_view extension_of(std::string_view form) {
  const std::size_t dot = form.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view name = form.substr(dot + 1);
  const bool fits = !name.empty() && name.size() <= 5 && is_alpha(name[0]);
  return fits && std::ranges::all_of(name, is_alnum) ? form.substr(dot) : std::string_view();
}

void add_path_fields(std::string_view path, std::vector<UrlField>* fields) {
  std::vector<std::string_view> segments;
  for (std::size_t begin = 1; begin <= path.size() && segments.size() <= kTemplateFieldsMax;) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    segments.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (fields->size() == kTemplateFieldsMax) {
      fields->push_back({"/", "{rest}", ""});
      return;
    }
    if (is_year(segments[i]) && i + 1 < segments.size() && is_month(segments[i + 1])) {
      i += i + 2 < segments.size() && is_day(segments[i + 2]) ? 2 : 1;
      fields->push_back({"/", "{date}", ""});
    } else {
      fields->push_back({"/", segment_form(segments[i]), ""});
    }
  }
  UrlField& last = fields->back();
  last.extension = extension_of(last.form);
}

void add_query_fields(std::string_view query, std::vector<UrlField>* fields) {
  char separator = '?';
  for (std::size_t begin = 0; begin <= query.size(); separator = '&') {
    if (fields->size() >= kTemplateFieldsMax) {
      fields->push_back({std::string(1, separator), "{rest}", ""});
      return;
    }
    const std::size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view argument = query.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = argument.find('=');
    std::string before(1, separator);
    if (equals == std::string_view::npos) {
      fields->push_back({before, form_of(argument, "{n}"), ""});
      continue;
    }
    const std::string_view name = argument.substr(0, equals);
    before.append(form_of(name, "{n}")).append("=");
    fields->push_back({before, argument_form(name, argument.substr(equals + 1), "{n}"), ""});
  }
}

}  // namespace

std::vector<UrlField> fields_of(const Url& url) {
  std::vector<UrlField> fields;
  if (url.path().empty() || url.has_opaque_path()) {
    fields.push_back({"", form_of(url.path(), "{id}"), ""});
  } else {
    add_path_fields(url.path(), &fields);
  }
  if (url.has_query() && !url.query().empty() && fields.size() <= kTemplateFieldsMax) {
    add_query_fields(url.query(), &fields);
  }
  return fields;
}

std::uint64_t shape_of(const std::vector<UrlField>& fields) {
  std::string shape;
  for (const UrlField& field : fields) {
    shape.append(field.before).append(field.extension).append("\n");
  }
  return base::hash64(shape);
}

}  // namespace meguri::web
