// RevisitWorld: pages as a simulation of revisits sees them: when each of them changed, and how
// often it does on the mean. No hosts, no content.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "sim/trace.h"

namespace meguri::sim {

// Mean intervals between changes, one for each page: between 30 minutes and 400 days, log-normal
// round a median of 13 days with a deviation of 2, so that a tenth are a day or less. The same seed
// gives the same.
std::vector<base::Duration> draw_intervals(std::uint64_t seed, std::size_t pages);

// Immutable. Four bytes for each change. Const calls from any thread.
class RevisitWorld {
 public:
  // Pages that are there from the beginning and change as Poisson processes. Changes within the
  // same second are one.
  static RevisitWorld poisson(std::uint64_t seed, std::span<const base::Duration> intervals,
                              base::Duration period);
  // The first so many pages of the trace, from its beginning on. A page's interval is what it turns
  // out to be in the period.
  static RevisitWorld recorded(const Trace& trace, std::size_t pages, base::Duration period);

  std::size_t pages() const { return ends_.size(); }
  base::Duration period() const { return period_; }
  // As RecordedChanges has them, within the period, the first of them the page's appearance. Empty:
  // it is not there. Requires page < pages().
  std::span<const std::uint32_t> events_of(std::size_t page) const;
  // Changes a day, after the page has appeared.
  double rate_of(std::size_t page) const { return rates_[page]; }
  std::size_t events() const { return events_.size(); }

 private:
  explicit RevisitWorld(base::Duration period) : period_(period) {}

  base::Duration period_;
  std::vector<std::uint32_t> events_;
  std::vector<std::size_t> ends_;  // where those of each page end
  std::vector<double> rates_;
};

}  // namespace meguri::sim
