#include "base/console.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/text.h"

namespace meguri::base {

namespace {

constexpr std::string_view kToLineStart = "\r";
constexpr std::string_view kClearToLineEnd = "\x1b[K";
constexpr std::string_view kClearLine = "\x1b[2K";
constexpr std::string_view kClearToScreenEnd = "\x1b[J";
constexpr std::string_view kUsualStyle = "\x1b[0m";
constexpr std::size_t kUsualColumns = 80;
constexpr std::size_t kUsualRows = 24;

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {
      // Somebody made the descriptor non-blocking, perhaps for a program that shares it.
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      return;
    }
  }
}

winsize size_of(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

// https://no-color.org: set and not empty.
bool wants_no_color() {
  const char* const value = std::getenv("NO_COLOR");
  return value != nullptr && *value != '\0';
}

std::string_view code_of(LiveStyle style) {
  switch (style) {
    case LiveStyle::kPlain: return "";
    case LiveStyle::kStrong: return "\x1b[1m";
    case LiveStyle::kFaint: return "\x1b[2m";
    case LiveStyle::kWarning: return "\x1b[33m";
  }
  return "";
}

bool is_dumb() {
  const char* const term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

Console::Console(Output output) : output_(std::move(output)) {}

Console::~Console() { show_live(std::span<const LiveLine>()); }

Console& Console::standard_error() {
  // Never destroyed, because threads and destructors of static objects may still write.
  static Console& console = *new Console(output_to(STDERR_FILENO));
  return console;
}

Console::Output Console::output_to(int descriptor) {
  const bool is_terminal = ::isatty(descriptor) == 1 && !is_dumb();
  return {.write = [descriptor](std::string_view bytes) { write_all(descriptor, bytes); },
          .is_terminal = is_terminal,
          .columns = [descriptor] { return std::size_t{size_of(descriptor).ws_col}; },
          .rows = [descriptor] { return std::size_t{size_of(descriptor).ws_row}; },
          .has_color = is_terminal && !wants_no_color()};
}

void Console::write_line(std::string_view text) {
  std::string line;
  append_printable(text, &line);
  const MutexLock lock(mutex_);
  if (live_.empty()) {
    output_.write(line += '\n');
    return;
  }
  std::string bytes = to_first_live();
  bytes.append(line).append(kClearToLineEnd).append("\n").append(draw_live());
  output_.write(bytes);
}

void Console::show_live(std::string_view text) {
  if (text.empty()) return show_live(std::span<const LiveLine>());
  const LiveLine line{.text = std::string(text)};
  show_live(std::span(&line, 1));
}

void Console::show_live(std::span<const LiveLine> lines) {
  if (!output_.is_terminal) return;
  const std::size_t asked = output_.rows ? output_.rows() : 0;
  const std::size_t rows = asked == 0 ? kUsualRows : asked;
  // One row stays for the line above, so that the first live line never scrolls away.
  lines = lines.first(std::min(lines.size(), std::max<std::size_t>(rows, 2) - 1));
  std::vector<LiveLine> live;
  for (const LiveLine& line : lines) {
    append_printable(line.text, &live.emplace_back("", line.style).text);
  }
  const MutexLock lock(mutex_);
  if (live.empty() && live_.empty()) return;
  live_ = std::move(live);
  std::string bytes = to_first_live();
  bytes += draw_live();
  output_.write(bytes);
}

std::size_t Console::columns() const {
  const std::size_t asked = output_.columns ? output_.columns() : 0;
  // One column stays free: some terminals go to the next line as soon as the last one is written.
  return std::max<std::size_t>(asked == 0 ? kUsualColumns : asked, 2) - 1;
}

// From the end of the last live line to the begin of the first. A terminal that became narrower has
// folded the lines that are longer than its rows are now. It remembers that, and would join what is
// written there when it is wide again, so that each row is cleared.
std::string Console::to_first_live() const {
  const std::size_t width = columns() + 1;
  std::size_t rows = 0;
  for (const std::size_t drawn : drawn_) rows += drawn == 0 ? 1 : (drawn + width - 1) / width;
  std::string to_first(kToLineStart);
  if (rows > 1) to_first += fmt::format("\x1b[{}A", rows - 1);
  if (rows == 0 || drawn_within_ == width) return to_first;
  std::string bytes = to_first;
  for (std::size_t row = 0; row < rows; ++row) {
    bytes.append(row == 0 ? "" : "\n").append(kClearLine);
  }
  return bytes + to_first;
}

// From the begin of the first line on. Each line is written over the old one and only its rest is
// cleared: a screen that is cleared first flickers.
std::string Console::draw_live() {
  std::string bytes;
  drawn_.clear();
  drawn_within_ = columns() + 1;
  for (const LiveLine& line : live_) {
    const std::string_view text = cut_to_columns(line.text, columns());
    const std::string_view style = output_.has_color ? code_of(line.style) : "";
    if (!drawn_.empty()) bytes += '\n';
    bytes.append(style).append(text);
    if (!style.empty()) bytes += kUsualStyle;
    bytes += kClearToLineEnd;
    drawn_.push_back(display_columns(text));
  }
  bytes += kClearToScreenEnd;
  return bytes;
}

}  // namespace meguri::base
