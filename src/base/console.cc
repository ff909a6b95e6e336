#include "base/console.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/text.h"

namespace meguri::base {

namespace {

constexpr std::string_view kToLineStart = "\r";
constexpr std::string_view kClearToLineEnd = "\x1b[K";
constexpr std::size_t kUsualColumns = 80;

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

std::size_t columns_of(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool is_dumb() {
  const char* const term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

Console::Console(Output output) : output_(std::move(output)) {}

Console::~Console() { show_live(""); }

Console& Console::standard_error() {
  // Never destroyed, because threads and destructors of static objects may still write.
  static Console& console = *new Console(output_to(STDERR_FILENO));
  return console;
}

Console::Output Console::output_to(int descriptor) {
  return {.write = [descriptor](std::string_view bytes) { write_all(descriptor, bytes); },
          .is_terminal = ::isatty(descriptor) == 1 && !is_dumb(),
          .columns = [descriptor] { return columns_of(descriptor); }};
}

void Console::write_line(std::string_view text) {
  std::string line;
  append_printable(text, &line);
  line += '\n';
  const MutexLock lock(mutex_);
  if (live_.empty()) {
    output_.write(line);
    return;
  }
  std::string bytes;
  bytes.append(kToLineStart).append(kClearToLineEnd).append(line).append(fitted_live());
  output_.write(bytes);
}

void Console::show_live(std::string_view text) {
  if (!output_.is_terminal) return;
  std::string printable;
  append_printable(text, &printable);
  const MutexLock lock(mutex_);
  if (printable.empty() && live_.empty()) return;
  live_ = std::move(printable);
  std::string bytes(kToLineStart);
  bytes.append(fitted_live()).append(kClearToLineEnd);
  output_.write(bytes);
}

std::string Console::fitted_live() const {
  const std::size_t asked = output_.columns ? output_.columns() : 0;
  const std::size_t columns = asked == 0 ? kUsualColumns : asked;
  // One column stays free: some terminals go to the next line as soon as the last one is written.
  return std::string(cut_to_columns(live_, columns - 1));
}

}  // namespace meguri::base
