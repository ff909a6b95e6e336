// Progress: how far a long piece of work is, for the people who wait for it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/console.h"
#include "base/mutex.h"
#include "base/time.h"

namespace meguri::base {

// On a terminal live lines, rewritten in place and gone when the work ends. Elsewhere plain
// lines: the first text, then at most one in each interval, and the last text.
// Thread-safe. The console outlives it.
class Progress {
 public:
  explicit Progress(Console& console, Duration plain_interval = Duration::seconds(10));
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // finishes

  // Whether update() at `now` would show something. Callers with a costly text ask first.
  bool is_due(Ticks now) const;

  // Says how far the work is. Shown now, later or never, as the interval allows.
  void update(Ticks now, std::string_view text);
  // The same where a terminal has room for more: `lines` there, `text` elsewhere.
  void update(Ticks now, std::span<const LiveLine> lines, std::string_view text);

  // Of plain lines, from the next one on. Work that takes hours need not say so every few seconds.
  void set_plain_interval(Duration interval);

  // Ends the work: takes the live line away, or writes the last text if it was not shown. A text
  // given here is the last one. Later calls do nothing.
  void finish(std::string_view last_text = {});

 private:
  bool is_due_locked(Ticks now) const REQUIRES(mutex_);

  Console& console_;
  mutable Mutex mutex_;
  Duration interval_ GUARDED_BY(mutex_);
  std::optional<Ticks> shown_at_ GUARDED_BY(mutex_);
  std::string waiting_ GUARDED_BY(mutex_);  // the last text, if it was not shown
  bool is_finished_ GUARDED_BY(mutex_) = false;
};

}  // namespace meguri::base
