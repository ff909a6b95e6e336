// Gathers the text of one element for a handler of XML. Thread-compatible.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "web/ascii.h"

namespace meguri::web {

class XmlCapture {
 public:
  // From here on, in the element at `depth`. Texts longer than `bytes_max`, white space at their
  // ends not counted, are dropped as a whole: half a URL is no URL.
  void open(std::size_t depth, std::size_t bytes_max) {
    text_.clear();
    depth_ = depth;
    bytes_max_ = bytes_max;
    overlong_ = false;
  }

  bool is_open() const { return depth_ != 0; }
  bool closes_at(std::size_t depth) const { return depth_ != 0 && depth_ == depth; }

  void add(std::string_view text) {
    if (depth_ == 0 || overlong_) return;
    while (text_.empty() && !text.empty() && is_space(text.front())) text.remove_prefix(1);
    std::size_t solid = text.size();
    while (solid > 0 && is_space(text[solid - 1])) --solid;
    overlong_ = solid > 0 && text_.size() + solid > bytes_max_;
    // White space up to one byte above the limit is enough to know that nothing may follow it.
    text_.append(overlong_ ? std::string_view() : text.substr(0, bytes_max_ + 1 - text_.size()));
  }

  // The trimmed text; empty if there was none or too much.
  std::string close() {
    depth_ = 0;
    std::string text(overlong_ ? std::string_view() : trim(text_));
    text_.clear();
    return text;
  }

 private:
  std::string text_;
  std::size_t depth_ = 0;  // 0: closed
  std::size_t bytes_max_ = 0;
  bool overlong_ = false;
};

}  // namespace meguri::web
