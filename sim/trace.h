// Trace: when the pages of a real site changed, as somebody recorded it, for a virtual web to live
// through again.
//
// One page a line: its path, a tab, and the Unix seconds of each change, separated by single
// spaces, in order. `D` before the seconds marks a deletion; a page may come back after it. Plain
// or gzip.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"
#include "sim/history.h"

namespace meguri::sim {

// Keeps four bytes for each change and each page. Of changes within one second the last counts, and
// a deletion of what is not there is none. Const calls from any thread.
class Trace {
 public:
  static constexpr std::size_t kEventsMax = 0xffffffff;
  static constexpr std::int64_t kSecondsMax = 253'402'300'799;  // the end of year 9999

  // Errors name the line that is not so written.
  static base::Result<Trace> read(env::FileSystem& fs, const std::string& path);

  std::size_t pages() const { return ends_.size(); }
  std::size_t events() const { return events_.size(); }
  // From the first to the last second in it: at most 68 years.
  base::Instant begin() const { return begin_; }
  base::Duration span() const { return span_; }

  // What happened to a page, as RecordedChanges has it, in seconds since begin(). Requires
  // page < pages(). Borrowed.
  std::span<const std::uint32_t> events_of(std::size_t page) const;

 private:
  Trace() = default;

  base::Instant begin_;
  base::Duration span_;
  std::vector<std::uint32_t> events_;
  std::vector<std::uint32_t> ends_;  // where those of each page end
};

}  // namespace meguri::sim
