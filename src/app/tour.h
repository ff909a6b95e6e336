// Tour: text for somebody who watches, in steps: sentences, facts, checks and a live line. On a
// terminal with a little colour, elsewhere as plain lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/figures.h"
#include "app/output.h"
#include "base/time.h"

namespace meguri::app {

struct TourStyle {
  bool is_live = false;  // lines can be rewritten
  bool has_colour = false;
  bool has_utf8 = false;
  std::size_t columns = 80;

  // What suits this descriptor: NO_COLOR, TERM=dumb and the locale are obeyed.
  static TourStyle of(int descriptor);
};

// All text is shown as it is: what strangers wrote must have passed printable(). Every call
// flushes, so that the text stands before whatever the program does next. Borrows its output.
// Thread-compatible.
class Tour {
 public:
  Tour(Output& out, const TourStyle& style) : out_(out), style_(style) {}

  void open(std::string_view title, std::string_view about);
  void step(std::size_t number, std::string_view title);
  void say(std::string_view sentences);  // broken into lines
  void fact(std::string_view label, std::string_view value);
  void check(bool holds, std::string_view what);
  void quote(std::string_view text);  // cut where the terminal ends
  void command(std::string_view text);
  void gap();  // one empty line

  // How far something is, `share` of 1. On a terminal one line that is rewritten, elsewhere a line
  // now and then. Any other call takes it away.
  void live(base::Ticks now, double share, std::string_view text);

 private:
  enum class Ink : std::uint8_t { kBold, kDim, kBlue, kGreen, kRed };
  std::string inked(Ink ink, std::string_view text) const;
  std::string bar(double share) const;
  void line(std::string_view text);  // already cut and inked

  Output& out_;
  const TourStyle style_;
  bool has_live_ = false;
  bool is_after_gap_ = true;
  std::optional<base::Ticks> plain_live_at_;  // when a plain line was last written
};

// "1 page", "2 pages".
std::string counted(std::uint64_t number, std::string_view noun);

}  // namespace meguri::app
