#include "web/css_links.h"

#include <algorithm>
#include <string>

#include "web/ascii.h"
#include "web/scan.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

class CssScanner {
 public:
  CssScanner(std::string_view css, const std::function<void(std::string_view, bool)>& found)
      : at_(css.data()), begin_(css.data()), end_(css.data() + css.size()), found_(found) {}

  void run() {
    while ((at_ = find_any<'(', '@', '/', '"', '\'', '\\'>(at_, end_)) != end_) {
      switch (*at_) {
        case '(': on_parenthesis(); break;
        case '@': on_at(); break;
        case '/': skip_comment(); break;
        case '\\': at_ = std::min(at_ + 2, end_); break;
        default: read_string(); break;
      }
    }
  }

 private:
  bool follows_url() const {
    if (at_ - begin_ < 3 || !equals_ignoring_case({at_ - 3, 3}, "url")) return false;
    if (at_ - begin_ == 3) return true;
    const char before = at_[-4];
    return !is_alnum(before) && before != '-' && before != '_' && before != '\\' &&
           static_cast<unsigned char>(before) < 0x80;
  }

  void on_parenthesis() {
    const bool is_url = follows_url();
    ++at_;
    if (is_url) read_url(false);
  }

  void on_at() {
    ++at_;
    if (!starts_with_ignoring_case({at_, end_}, "import")) return;
    at_ += 6;
    // White space and comments may stand before the address.
    while (at_ != end_ && (is_space(*at_) || *at_ == '/')) {
      if (*at_ == '/') {
        skip_comment();
      } else {
        ++at_;
      }
    }
    if (at_ == end_) return;
    if (*at_ == '"' || *at_ == '\'') {
      if (read_string()) give(true);
    } else if (starts_with_ignoring_case({at_, end_}, "url(")) {
      at_ += 4;
      read_url(true);
    }
  }

  // At a slash: behind the comment it begins, or behind the slash.
  void skip_comment() {
    ++at_;
    if (at_ == end_ || *at_ != '*') return;
    ++at_;
    while ((at_ = find_any<'*'>(at_, end_)) != end_) {
      ++at_;
      if (at_ != end_ && *at_ == '/') {
        ++at_;
        return;
      }
    }
  }

  // At a quote: reads the string into text_. False: it is not closed, and at_ is where it broke.
  bool read_string() {
    const char quote = *at_++;
    text_.clear();
    while (at_ != end_) {
      const char c = *at_++;
      if (c == quote) return true;
      if (c == '\n' || c == '\r' || c == '\f') return false;
      c == '\\' ? read_escape() : text_.push_back(c);
    }
    return false;
  }

  void read_url(bool is_import) {
    while (at_ != end_ && is_space(*at_)) ++at_;
    if (at_ == end_) return;
    if (*at_ == '"' || *at_ == '\'') {
      if (read_string()) give(is_import);
      return;
    }
    text_.clear();
    while (at_ != end_ && *at_ != ')') {
      const char c = *at_++;
      if (c == '"' || c == '\'' || c == '(') return;  // the standard calls it a bad address
      c == '\\' ? read_escape() : text_.push_back(c);
    }
    if (at_ != end_) give(is_import);
  }

  // Behind a backslash.
  void read_escape() {
    if (at_ == end_) return;
    if (*at_ == '\n' || *at_ == '\f') {
      ++at_;
      return;
    }
    if (*at_ == '\r') {
      at_ += at_ + 1 != end_ && at_[1] == '\n' ? 2 : 1;
      return;
    }
    char32_t value = 0;
    int digits = 0;
    for (; digits < 6 && at_ != end_ && hex_value(*at_) >= 0; ++digits) {
      value = value * 16 + static_cast<char32_t>(hex_value(*at_++));
    }
    if (digits == 0) {
      text_.push_back(*at_++);
      return;
    }
    if (at_ != end_ && is_space(*at_)) ++at_;
    if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) value = 0xFFFD;
    append_utf8(value, &text_);
  }

  void give(bool is_import) {
    const std::string_view url = trim(text_);
    if (!url.empty() && !starts_with_ignoring_case(url, "data:")) found_(url, is_import);
  }

  const char* at_;
  const char* begin_;
  const char* end_;
  const std::function<void(std::string_view, bool)>& found_;
  std::string text_;
};

}  // namespace

void find_css_links(std::string_view css,
                    const std::function<void(std::string_view url, bool is_import)>& found) {
  CssScanner(css, found).run();
}

}  // namespace meguri::web
