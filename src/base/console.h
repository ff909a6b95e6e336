// Console: the one owner of standard error. Log lines, progress and messages to people all pass
// through it, so that live lines at the bottom of a terminal and the lines above never mix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace meguri::base {

// How a live line looks where there are colours.
enum class LiveStyle : std::uint8_t { kPlain, kStrong, kFaint, kWarning };

struct LiveLine {
  std::string text;
  LiveStyle style = LiveStyle::kPlain;
};

// Thread-safe. Every change of the screen is one write. Text is made printable first (text.h), so
// that one call is one line whatever it says.
// Nothing is reported when writing fails: there is nowhere left to say it.
class Console {
 public:
  // Where the bytes go, and what stands there.
  struct Output {
    std::function<void(std::string_view)> write;
    bool is_terminal = false;
    std::function<std::size_t()> columns;    // of a terminal, asked at each use; 0: unknown
    std::function<std::size_t()> rows = {};  // likewise
    bool has_color = false;
  };

  explicit Console(Output output);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();  // takes the live lines away

  // Standard error, made at the first call and never destroyed.
  static Console& standard_error();
  // A file descriptor, borrowed. A terminal is none if TERM is "dumb", and has no colours if
  // NO_COLOR is set.
  static Output output_to(int descriptor);

  bool is_terminal() const { return output_.is_terminal; }

  std::size_t columns() const;  // that a live line can have now

  // Writes one line, above the live lines if there are any.
  void write_line(std::string_view text);

  // Shows `text` as the live line, cut to the width of the terminal, in place of the last one; an
  // empty text takes it away. Does nothing where there is no terminal.
  void show_live(std::string_view text);

  // The same with several lines, of which as many are shown as the terminal has rows for.
  void show_live(std::span<const LiveLine> lines);

 private:
  std::string to_first_live() const REQUIRES(mutex_);
  std::string draw_live() REQUIRES(mutex_);

  const Output output_;
  Mutex mutex_;
  std::vector<LiveLine> live_ GUARDED_BY(mutex_);      // printable; empty: none is shown
  std::vector<std::size_t> drawn_ GUARDED_BY(mutex_);  // columns of the lines on the screen
  std::size_t drawn_within_ GUARDED_BY(mutex_) = 0;    // columns of the screen at that time
};

}  // namespace meguri::base
