// Output: what a program says on standard output, where a failed write is found, not overlooked.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace meguri::app {

// Collects the first failure of many writes, so that commands print without looking at each one.
// Borrows its file. Thread-compatible.
class Output {
 public:
  explicit Output(std::FILE* file) : file_(file) {}

  void write(std::string_view bytes);

  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    write(fmt::format(format, std::forward<Args>(args)...));
  }

  // Brings what was written so far to its reader, who watches.
  void flush();

  // A write failed, so that nothing more will come out: long work may end here.
  bool is_broken() const { return error_number_ != 0; }

  // Flushes. A reader that went away (`meguri … | head`) had what it wanted: that is no error.
  base::Status finish();

 private:
  std::FILE* file_;
  int error_number_ = 0;  // errno of the first failed write
};

// Text of strangers as it may be shown: see base::append_printable.
std::string printable(std::string_view text);

}  // namespace meguri::app
