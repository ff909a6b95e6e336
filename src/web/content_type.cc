#include "web/content_type.h"

#include <algorithm>
#include <utility>

#include "web/ascii.h"

namespace meguri::web {

namespace {

constexpr std::string_view kMimeBlanks = "\t\n\r ";

// HTAB, and every character that a quoted string may hold.
bool is_quotable(char c) { return c == '\t' || (!is_http_control(c) && c != '\n'); }

std::string_view take_until(std::string_view* rest, std::string_view ends) {
  const std::size_t end = std::min(rest->find_first_of(ends), rest->size());
  const std::string_view taken = rest->substr(0, end);
  rest->remove_prefix(end);
  return taken;
}

void add_parameter(ContentType* type, std::string name, std::string value) {
  if (!is_token(name) || !std::ranges::all_of(value, is_quotable)) return;
  if (type->parameter(name) || type->parameters.size() >= kFieldParametersMax) return;
  type->parameters.push_back({std::move(name), std::move(value)});
}

// `rest` begins behind a ';'.
void take_parameter(std::string_view* rest, ContentType* type) {
  rest->remove_prefix(std::min(rest->find_first_not_of(kMimeBlanks), rest->size()));
  std::string name = lower_copy(take_until(rest, ";="));
  if (!rest->starts_with('=')) return;
  rest->remove_prefix(1);
  std::string value;
  if (rest->starts_with('"')) {
    rest->remove_prefix(read_quoted(*rest, 0, &value));
    take_until(rest, ";");
  } else {
    const std::string_view plain = take_until(rest, ";");
    value = plain.substr(0, plain.find_last_not_of(kMimeBlanks) + 1);
    if (value.empty()) return;
  }
  add_parameter(type, std::move(name), std::move(value));
}

}  // namespace

std::optional<std::string_view> ContentType::parameter(std::string_view lower_case_name) const {
  const auto found = std::ranges::find(parameters, lower_case_name, &FieldParameter::name);
  if (found == parameters.end()) return std::nullopt;
  return found->value;
}

std::string ContentType::to_string() const {
  std::string text = essence();
  for (const auto& [name, value] : parameters) {
    text.append(";").append(name).append("=");
    if (is_token(value)) {
      text += value;
      continue;
    }
    text += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text;
}

std::optional<ContentType> parse_content_type(std::string_view text) {
  std::string_view rest = trimmed(text, kMimeBlanks);
  ContentType result;
  const std::string_view type = take_until(&rest, "/");
  if (!is_token(type) || rest.empty()) return std::nullopt;
  rest.remove_prefix(1);
  const std::string_view subtype = trimmed(take_until(&rest, ";"), kMimeBlanks);
  if (!is_token(subtype)) return std::nullopt;
  result.type = lower_copy(type);
  result.subtype = lower_copy(subtype);
  while (rest.starts_with(';')) {
    rest.remove_prefix(1);
    take_parameter(&rest, &result);
  }
  return result;
}

std::optional<ContentType> content_type_of(const FieldList& fields) {
  std::optional<ContentType> result;
  std::optional<std::string> charset;
  for (const std::string_view element : fields.elements("Content-Type")) {
    auto type = parse_content_type(element);
    if (!type || type->essence() == "*/*") continue;
    const bool is_same = result && result->essence() == type->essence();
    if (!is_same) charset.reset();
    if (const auto own = type->charset()) {
      charset = *own;
    } else if (is_same && charset) {
      add_parameter(&*type, "charset", *charset);
    }
    result = std::move(type);
  }
  return result;
}

}  // namespace meguri::web
