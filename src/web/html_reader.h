// The tokens of a whole HTML document: a tokenizer that knows which elements hold raw text, and
// where SVG and MathML begin and end. No tree is built.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "web/html_tokenizer.h"

namespace meguri::web {

// Scripts are taken as switched off, so the content of noscript is markup, as for an archive's
// reader. Thread-compatible.
class HtmlReader {
 public:
  // Elements of SVG and MathML within each other; deeper ones are taken as part of the last.
  static constexpr std::size_t kForeignDepthMax = 128;

  // As HtmlTokenizer's.
  void feed(std::string_view piece) { tokenizer_.feed(piece); }
  void finish() { tokenizer_.finish(); }
  bool next(HtmlToken* token) {
    if (!tokenizer_.next(token)) return false;
    if (token->kind == HtmlTokenKind::kStartTag) on_start(*token);
    if (token->kind == HtmlTokenKind::kEndTag && has_open_) on_end(*token);
    return true;
  }

  // Whether the last tag was one of SVG or MathML.
  bool is_foreign() const { return foreign_; }

  // Whether what comes is the content of a template, which no reader sees before a script asks.
  bool in_template() const { return template_depth_ > 0; }

 private:
  enum class Space : std::uint8_t { kSvg, kMath, kHtmlInside };
  struct Element {
    NameKey key;
    Space space;
  };

  void on_start(const HtmlToken& token);
  void on_foreign_start(const HtmlToken& token);
  void on_end(const HtmlToken& token);
  void push(NameKey key, Space space);
  bool expects_foreign() const {
    return !open_.empty() && open_.back().space != Space::kHtmlInside;
  }
  void leave_foreign();
  void update();

  HtmlTokenizer tokenizer_;
  std::vector<Element> open_;  // of SVG and MathML, outermost first
  std::size_t template_depth_ = 0;
  bool foreign_ = false;
  bool has_open_ = false;  // an end tag may close something we know
};

}  // namespace meguri::web
