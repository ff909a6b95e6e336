// LineCutter: lines of a text that comes in pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meguri::scan {

// The front of a text, as much of it as `bytes_max` has room for, that ends with a whole character
// of UTF-8.
constexpr std::string_view cut_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  const auto is_within = [text](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
  };
  while (end > 0 && bytes_max - end < 3 && is_within(end)) --end;
  return text.substr(0, is_within(end) ? bytes_max : end);
}

// Gives lines without their ends (LF, or CR and LF). Where the pieces are cut makes no difference.
// A line of more than kLineBytesMax counts as several. Thread-compatible.
class LineCutter {
 public:
  static constexpr std::size_t kLineBytesMax = std::size_t{1} << 20U;

  // Calls `take` (of a std::string_view, which dies with the call) for each line that ends.
  template <typename Take>
  void feed(std::string_view text, const Take& take) {
    for (;;) {
      const std::size_t end = text.find('\n');
      if (end == text.npos) break;
      if (held_.empty()) {
        give(text.substr(0, end), take);
      } else {
        held_.append(text.substr(0, end));
        give_held(take);
      }
      text.remove_prefix(end + 1);
    }
    held_.append(text);
    if (held_.size() > kLineBytesMax) held_ = std::string(give_fronts(held_, take));
  }

  // The text has ended: a last line counts without an end. The object is then as newly made.
  template <typename Take>
  void finish(const Take& take) {
    if (!held_.empty()) give_held(take);
  }

 private:
  // Gives what is too long of a line, and returns the rest.
  template <typename Take>
  static std::string_view give_fronts(std::string_view line, const Take& take) {
    while (line.size() > kLineBytesMax) {
      const std::string_view front = cut_text(line, kLineBytesMax);
      take(front);
      line.remove_prefix(front.size());
    }
    return line;
  }

  template <typename Take>
  static void give(std::string_view line, const Take& take) {
    line = give_fronts(line, take);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line);
  }

  template <typename Take>
  void give_held(const Take& take) {
    give(held_, take);
    held_.clear();
  }

  std::string held_;  // the front of a line whose end has not come; at most kLineBytesMax
};

}  // namespace meguri::scan
