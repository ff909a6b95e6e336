#include "web/html_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "web/ascii.h"
#include "web/scan.h"

namespace meguri::web {
namespace {

using ByteSet = std::array<bool, 256>;

constexpr ByteSet bytes_of(std::string_view bytes) {
  ByteSet set{};
  for (const char c : bytes) set[static_cast<unsigned char>(c)] = true;
  return set;
}

constexpr ByteSet kTagNameEnd = bytes_of("\t\n\f\r />");
constexpr ByteSet kAttributeNameEnd = bytes_of("\t\n\f\r />=");
constexpr ByteSet kUnquotedEnd = bytes_of("\t\n\f\r >");

inline const char* find_in(const ByteSet& set, const char* at, const char* end) {
  while (at != end && !set[static_cast<unsigned char>(*at)]) ++at;
  return at;
}

inline const char* skip_space(const char* at, const char* end) {
  while (at != end && is_space(*at)) ++at;
  return at;
}

// name_key() of [begin, end), eight bytes at once where they may be read.
inline NameKey key_of(const char* begin, const char* end, const char* readable_end) {
  const auto size = static_cast<std::size_t>(end - begin);
  if constexpr (std::endian::native == std::endian::little) {
    if (size <= 8 && size > 0 && readable_end - begin >= 8) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, begin, 8);
      return (bytes | 0x2020202020202020ULL) & (~0ULL >> (64U - 8U * size));
    }
  }
  return name_key({begin, size});
}

}  // namespace

std::string_view decoded(std::string_view raw, TextMode mode, std::string* scratch) {
  if (is_plain_text(raw, mode)) return raw;
  scratch->clear();
  append_decoded(raw, mode, scratch);
  return *scratch;
}

std::string lower_name(std::string_view name) {
  std::string lower;
  append_decoded(name, TextMode::kRaw, &lower);
  std::ranges::transform(lower, lower.begin(), to_lower);
  return lower;
}

void HtmlTokenizer::feed(std::string_view piece) {
  if (over_) return;
  if (at_ == end_) {
    at_ = piece.data();
    end_ = at_ + piece.size();
    retry_bytes_ = 0;  // of a token that is no more; what waits must not be in the piece
    return;
  }
  if (end_ == carry_.data() + carry_.size()) {
    carry_.erase(0, static_cast<std::size_t>(at_ - carry_.data()));
  } else {
    carry_.assign(at_, end_);
  }
  carry_.append(piece);
  at_ = carry_.data();
  end_ = at_ + carry_.size();
}

void HtmlTokenizer::enter(Model model, std::string_view name) {
  model_ = model;
  escape_ = Escape::kNone;
  element_.assign(name);
}

bool HtmlTokenizer::next(HtmlToken* token) {
  const auto there = static_cast<std::size_t>(end_ - at_);
  if (there == 0 || (!final_ && there < retry_bytes_)) return false;
  const bool found = model_ == Model::kData ? next_data(token) : next_raw(token);
  if (found) retry_bytes_ = 0;
  return found;
}

// Called when the token at at_ is not complete.
bool HtmlTokenizer::need_more() {
  const auto there = static_cast<std::size_t>(end_ - at_);
  if (final_ || there > kTokenBytesMax) {
    over_ = true;
    at_ = end_;
    return false;
  }
  retry_bytes_ = 2 * there;
  // The piece is about to go, unless it is carry_ itself.
  if (end_ != carry_.data() + carry_.size()) {
    carry_.assign(at_, end_);
    at_ = carry_.data();
    end_ = at_ + carry_.size();
  }
  return false;
}

bool HtmlTokenizer::emit_text(HtmlToken* token, const char* end, TextMode mode) {
  token->kind = HtmlTokenKind::kText;
  token->mode = mode;
  token->text = {at_, end};
  at_ = end;
  return true;
}

HtmlTokenizer::Opening HtmlTokenizer::opening_at(const char* at) const {
  const Opening at_end = final_ ? Opening::kText : Opening::kUnknown;
  if (end_ - at < 2) return at_end;
  if (is_alpha(at[1])) return Opening::kStartTag;
  if (at[1] == '!' || at[1] == '?') return Opening::kMarkup;
  if (at[1] != '/') return Opening::kText;
  if (end_ - at < 3) return at_end;
  if (is_alpha(at[2])) return Opening::kEndTag;
  return at[2] == '>' ? Opening::kNothing : Opening::kMarkup;
}

bool HtmlTokenizer::next_data(HtmlToken* token) {
  while (true) {
    const char* at = at_;
    Opening opening = Opening::kText;
    while ((at = find_any<'<'>(at, end_)) != end_) {
      opening = opening_at(at);
      if (opening != Opening::kText) break;
      ++at;
    }
    if (at != at_) {
      if (at != end_ || final_) return emit_text(token, at, TextMode::kData);
      // A reference or a line end may go on in the next piece.
      std::size_t open = open_reference_length({at_, end_});
      if (end_[-1] == '\r') open = 1;
      if (end_ - open == at_) return need_more();
      return emit_text(token, end_ - open, TextMode::kData);
    }
    if (at == end_) return false;
    if (opening != Opening::kNothing) return read_markup(token, opening);
    at_ += 3;  // "</>"
  }
}

bool HtmlTokenizer::read_markup(HtmlToken* token, Opening opening) {
  switch (opening) {
    case Opening::kStartTag: return read_tag(token, HtmlTokenKind::kStartTag, at_ + 1);
    case Opening::kEndTag: return read_tag(token, HtmlTokenKind::kEndTag, at_ + 2);
    case Opening::kMarkup:
      if (at_[1] == '!') return read_declaration(token);
      return read_bogus_comment(token, at_ + (at_[1] == '?' ? 1 : 2));
    default: return need_more();
  }
}

bool HtmlTokenizer::read_tag(HtmlToken* token, HtmlTokenKind kind, const char* name) {
  const char* name_end = find_in(kTagNameEnd, name, end_);
  token->kind = kind;
  token->name = {name, name_end};
  token->key = key_of(name, name_end, end_);
  token->self_closing = false;
  token->attributes.clear();
  const char* tag_end = read_attributes(name_end, token);
  if (tag_end == nullptr) return need_more();  // at the end of the document it is dropped
  at_ = tag_end;
  return true;
}

// Reads from behind the name to behind ">". Null: the input ends before.
const char* HtmlTokenizer::read_attributes(const char* at, HtmlToken* token) const {
  while (true) {
    at = skip_space(at, end_);
    if (at == end_) return nullptr;
    if (*at == '>') return at + 1;
    if (*at == '/') {
      ++at;
      if (at != end_ && *at == '>') {
        token->self_closing = true;
        return at + 1;
      }
      continue;
    }
    HtmlAttribute attribute;
    // A name may begin with "=", but not go on with it.
    const char* name_end = find_in(kAttributeNameEnd, at + 1, end_);
    attribute.name = {at, name_end};
    attribute.key = key_of(at, name_end, end_);
    at = skip_space(name_end, end_);
    if (at == end_) return nullptr;
    if (*at == '=') {
      at = skip_space(at + 1, end_);
      if (at == end_) return nullptr;
      if (*at == '"' || *at == '\'') {
        const char* value_end = find_byte(at + 1, end_, *at);
        if (value_end == end_) return nullptr;
        attribute.value = {at + 1, value_end};
        at = value_end + 1;
      } else if (*at != '>') {
        const char* value_end = find_in(kUnquotedEnd, at, end_);
        attribute.value = {at, value_end};
        at = value_end;
      }
    }
    if (token->attributes.size() < HtmlToken::kAttributesMax) {
      token->attributes.push_back(attribute);
    }
  }
}

bool HtmlTokenizer::read_declaration(HtmlToken* token) {
  const char* content = at_ + 2;
  const std::string_view rest(content, end_);
  for (const std::string_view word : {"--", "doctype", "[CDATA["}) {
    const bool exact = word.front() == '[';
    const auto here = rest.substr(0, word.size());
    const auto wanted = word.substr(0, here.size());
    if (exact ? here != wanted : !equals_ignoring_case(here, wanted)) continue;
    if (here.size() < word.size()) {
      if (!final_) return need_more();
      continue;
    }
    content += word.size();
    if (word == "--") return read_comment(token, content);
    if (!exact) return read_doctype(token, content);
    if (!cdata_allowed_) break;
    at_ = content;
    enter(Model::kCdata, "");
    return next_raw(token);
  }
  return read_bogus_comment(token, at_ + 2);
}

const char* HtmlTokenizer::find_sequence(const char* from, std::string_view sequence) const {
  while (true) {
    from = find_byte(from, end_, sequence.front());
    if (static_cast<std::size_t>(end_ - from) < sequence.size()) return end_;
    if (std::string_view(from, sequence.size()) == sequence) return from;
    ++from;
  }
}

bool HtmlTokenizer::read_comment(HtmlToken* token, const char* content) {
  token->kind = HtmlTokenKind::kComment;
  token->mode = TextMode::kRaw;
  token->text = {};
  const std::string_view rest(content, end_);
  for (const std::string_view abrupt : {">", "->"}) {
    if (rest.starts_with(abrupt)) {
      at_ = content + abrupt.size();
      return true;
    }
  }
  // It ends with "-->" or "--!>".
  for (const char* at = content; (at = find_sequence(at, "--")) != end_; ++at) {
    const std::string_view after(at + 2, end_);
    const std::size_t length = after.starts_with('>') ? 3 : (after.starts_with("!>") ? 4 : 0);
    if (length == 0) continue;
    token->text = {content, at};
    at_ = at + length;
    return true;
  }
  if (!final_ && rest.size() <= kTokenBytesMax) return need_more();
  std::string_view text = rest;
  for (const std::string_view open : {"--!", "--", "-"}) {
    if (!text.ends_with(open)) continue;
    text.remove_suffix(open.size());
    break;
  }
  token->text = text;
  at_ = end_;
  over_ = true;
  return true;
}

bool HtmlTokenizer::read_bogus_comment(HtmlToken* token, const char* content) {
  const char* text_end = find_any<'>'>(content, end_);
  if (text_end == end_ && !final_) return need_more();
  token->kind = HtmlTokenKind::kComment;
  token->mode = TextMode::kRaw;
  token->text = {content, text_end};
  at_ = text_end == end_ ? end_ : text_end + 1;
  return true;
}

bool HtmlTokenizer::read_doctype(HtmlToken* token, const char* content) {
  const char* text_end = find_any<'>'>(content, end_);
  if (text_end == end_ && !final_) return need_more();
  token->kind = HtmlTokenKind::kDoctype;
  token->doctype = parse_doctype({content, text_end}, text_end == end_);
  at_ = text_end == end_ ? end_ : text_end + 1;
  return true;
}

}  // namespace meguri::web
