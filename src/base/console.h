// Console: the one owner of standard error. Log lines, progress and messages to people all pass
// through it, so that a live line at the bottom of a terminal and the lines above never mix.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace meguri::base {

// Thread-safe. Every change of the screen is one write. Text is made printable first (text.h), so
// that one call is one line whatever it says.
// Nothing is reported when writing fails: there is nowhere left to say it.
class Console {
 public:
  // Where the bytes go, and what stands there.
  struct Output {
    std::function<void(std::string_view)> write;
    bool is_terminal = false;
    std::function<std::size_t()> columns;  // of a terminal, asked at each use; 0: unknown
  };

  explicit Console(Output output);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();  // takes the live line away

  // Standard error, made at the first call and never destroyed.
  static Console& standard_error();
  // A file descriptor, borrowed. It is a terminal unless TERM is "dumb".
  static Output output_to(int descriptor);

  bool is_terminal() const { return output_.is_terminal; }

  // Writes one line, above the live line if there is one.
  void write_line(std::string_view text);

  // Shows `text` as the live line, cut to the width of the terminal, in place of the last one; an
  // empty text takes it away. Does nothing where there is no terminal.
  void show_live(std::string_view text);

 private:
  std::string fitted_live() const REQUIRES(mutex_);

  const Output output_;
  Mutex mutex_;
  std::string live_ GUARDED_BY(mutex_);  // printable; empty: none is shown
};

}  // namespace meguri::base
