// The tokenizer within elements whose content is not markup: title, textarea, script, style and
// their like, and CDATA sections.
#include <algorithm>

#include "web/ascii.h"
#include "web/html_tokenizer.h"
#include "web/scan.h"

namespace meguri::web {
namespace {

bool ends_name(char c) { return is_space(c) || c == '/' || c == '>'; }

// Whether `name` stands at `at`, in any case, and ends there. Sets `unknown` when the input ends
// before that can be said.
bool is_name_at(std::string_view name, const char* at, const char* end, bool* unknown) {
  const auto there = std::min(name.size(), static_cast<std::size_t>(end - at));
  if (!equals_ignoring_case({at, there}, name.substr(0, there))) return false;
  if (static_cast<std::size_t>(end - at) <= name.size()) {
    *unknown = true;
    return false;
  }
  return ends_name(at[name.size()]);
}

}  // namespace

// Whether the end tag that ends this element begins at `at`, where a "<" stands.
bool HtmlTokenizer::is_end_tag_at(const char* at, bool* unknown) const {
  if (end_ - at < 2) {
    *unknown = true;
    return false;
  }
  return at[1] == '/' && !element_.empty() && is_name_at(element_, at + 2, end_, unknown);
}

bool HtmlTokenizer::is_script_name_at(const char* name, bool* unknown) const {
  return is_name_at("script", name, end_, unknown);
}

// Where the text of this element ends, or what may be its end: the end tag, or the end of what is
// there.
const char* HtmlTokenizer::find_raw_end(const char* from) {
  if (model_ == Model::kScript) return find_script_end(from);
  while ((from = find_any<'<'>(from, end_)) != end_) {
    bool unknown = false;
    if (is_end_tag_at(from, &unknown)) return from;
    if (unknown && !final_) return from;
    ++from;
  }
  return end_;
}

// A script may hold "<!-- <script> </script> -->" without ending there.
const char* HtmlTokenizer::find_script_end(const char* from) {
  while (true) {
    from = escape_ == Escape::kNone ? find_any<'<'>(from, end_) : find_any<'<', '-'>(from, end_);
    if (from == end_) return end_;
    bool unknown = false;
    if (*from == '-') {
      if (end_ - from < 3) unknown = true;
      if (std::string_view(from, end_).starts_with("-->")) {
        escape_ = Escape::kNone;
        from += 2;
      }
    } else if (escape_ == Escape::kDouble) {
      if (end_ - from < 2) {
        unknown = true;
      } else if (from[1] == '/' && is_script_name_at(from + 2, &unknown)) {
        escape_ = Escape::kEscaped;
      }
    } else if (is_end_tag_at(from, &unknown)) {
      return from;
    } else if (escape_ == Escape::kNone) {
      const std::string_view rest(from, end_);
      if (rest.starts_with("<!--")) {
        escape_ = Escape::kEscaped;
        from += 1;  // its dashes may begin a "-->"
      } else if (std::string_view("<!--").starts_with(rest)) {
        unknown = true;
      }
    } else if (is_script_name_at(from + 1, &unknown)) {
      escape_ = Escape::kDouble;
    }
    if (unknown && !final_) return from;
    ++from;
  }
}

bool HtmlTokenizer::next_raw(HtmlToken* token) {
  if (model_ == Model::kCdata) {
    const char* text_end = find_sequence(at_, "]]>");
    if (text_end != end_) {
      model_ = Model::kData;
      emit_text(token, text_end, TextMode::kCdata);  // may be empty
      at_ += 3;
      return true;
    }
    std::ptrdiff_t open = 0;
    if (!final_) {
      while (open < 2 && open < end_ - at_ && end_[-1 - open] == ']') ++open;
      if (open == 0 && end_[-1] == '\r') open = 1;
    }
    if (end_ - open == at_) return need_more();
    return emit_text(token, end_ - open, TextMode::kCdata);
  }

  const TextMode mode = model_ == Model::kRcdata ? TextMode::kRcdata : TextMode::kRaw;
  if (model_ == Model::kPlaintext) {
    const std::ptrdiff_t open = !final_ && end_[-1] == '\r' ? 1 : 0;
    if (end_ - open == at_) return need_more();
    return emit_text(token, end_ - open, mode);
  }

  const char* text_end = find_raw_end(at_);
  bool unknown = false;
  if (text_end == at_ && escape_ != Escape::kDouble && is_end_tag_at(at_, &unknown)) {
    model_ = Model::kData;
    return read_tag(token, HtmlTokenKind::kEndTag, at_ + 2);
  }
  if (text_end == end_ && !final_) {
    std::size_t open = mode == TextMode::kRcdata ? open_reference_length({at_, end_}) : 0;
    if (end_[-1] == '\r') open = 1;
    text_end -= open;
  }
  if (text_end == at_) return need_more();
  return emit_text(token, text_end, mode);
}

}  // namespace meguri::web
