#include "base/progress.h"

namespace meguri::base {

namespace {

// Faster than people read, slower than terminals flicker.
constexpr Duration kLiveInterval = Duration::from_ms(100);

}  // namespace

Progress::Progress(Console& console, Duration plain_interval)
    : console_(console), interval_(console.is_terminal() ? kLiveInterval : plain_interval) {}

Progress::~Progress() { finish(); }

bool Progress::is_due(Ticks now) const {
  const MutexLock lock(mutex_);
  return is_due_locked(now);
}

bool Progress::is_due_locked(Ticks now) const {
  return !is_finished_ && (!shown_at_ || now - *shown_at_ >= interval_);
}

void Progress::update(Ticks now, std::string_view text) {
  const LiveLine line{.text = std::string(text)};
  update(now, std::span(&line, 1), text);
}

void Progress::set_plain_interval(Duration interval) {
  const MutexLock lock(mutex_);
  if (!console_.is_terminal()) interval_ = interval;
}

void Progress::update(Ticks now, std::span<const LiveLine> lines, std::string_view text) {
  const MutexLock lock(mutex_);
  if (is_finished_) return;
  if (!is_due_locked(now)) {
    waiting_ = text;
    return;
  }
  waiting_.clear();
  shown_at_ = now;
  if (console_.is_terminal()) {
    console_.show_live(lines);
  } else {
    console_.write_line(text);
  }
}

void Progress::finish(std::string_view last_text) {
  const MutexLock lock(mutex_);
  if (is_finished_) return;
  is_finished_ = true;
  if (!last_text.empty()) waiting_ = last_text;
  if (console_.is_terminal()) {
    console_.show_live("");
  } else if (!waiting_.empty()) {
    console_.write_line(waiting_);
  }
}

}  // namespace meguri::base
