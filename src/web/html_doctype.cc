// DOCTYPE: rare, so written for reading.
#include "web/ascii.h"
#include "web/html_tokenizer.h"

namespace meguri::web {
namespace {

std::string plain(std::string_view raw) {
  std::string text;
  append_decoded(raw, TextMode::kRaw, &text);
  return text;
}

void skip_space(std::string_view* rest) {
  while (!rest->empty() && is_space(rest->front())) rest->remove_prefix(1);
}

// Reads a quoted identifier at the front. False: it is not closed.
bool read_identifier(std::string_view* rest, std::optional<std::string>* id) {
  const char quote = rest->front();
  rest->remove_prefix(1);
  const std::size_t end = rest->find(quote);
  *id = plain(rest->substr(0, end));
  rest->remove_prefix(end == std::string_view::npos ? rest->size() : end + 1);
  return end != std::string_view::npos;
}

bool begins_quoted(std::string_view rest) {
  return !rest.empty() && (rest.front() == '"' || rest.front() == '\'');
}

// Reads what follows the name. False: quirks.
bool read_external_id(std::string_view rest, bool open, HtmlDoctype* doctype) {
  if (rest.empty()) return !open;
  const bool is_public = starts_with_ignoring_case(rest, "public");
  if (!is_public && !starts_with_ignoring_case(rest, "system")) return false;
  rest.remove_prefix(6);
  skip_space(&rest);
  if (!begins_quoted(rest)) return false;
  if (is_public) {
    if (!read_identifier(&rest, &doctype->public_id)) return false;
    skip_space(&rest);
    if (rest.empty()) return !open;
    if (!begins_quoted(rest)) return false;
  }
  if (!read_identifier(&rest, &doctype->system_id)) return false;
  skip_space(&rest);
  return !rest.empty() || !open;  // what else follows is ignored
}

}  // namespace

HtmlDoctype parse_doctype(std::string_view content, bool open) {
  HtmlDoctype doctype;
  skip_space(&content);
  std::size_t end = 0;
  while (end < content.size() && !is_space(content[end])) ++end;
  if (end == 0) {
    doctype.force_quirks = true;
    return doctype;
  }
  doctype.name = lower_name(content.substr(0, end));
  if (end == content.size() && open) {
    doctype.force_quirks = true;
    return doctype;
  }
  content.remove_prefix(end);
  skip_space(&content);
  doctype.force_quirks = !read_external_id(content, open, &doctype);
  return doctype;
}

}  // namespace meguri::web
