// CrawlView: a running crawl as people see it: live lines for a terminal, one line elsewhere, and
// why nothing happens when nothing does.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "app/crawl_snapshot.h"
#include "base/console.h"
#include "base/time.h"

namespace meguri::app {

// What the crawl waits for, in one sentence: "214 hosts wait for their delay; next in 3.1s". Never
// empty.
std::string what_it_waits_for(const CrawlSnapshot& now);

// Rates are over the last kRateWindow of real time. Thread-compatible.
class CrawlView {
 public:
  static constexpr base::Duration kRateWindow = base::Duration::seconds(10);
  static constexpr base::Duration kEstimateWindow = base::Duration::seconds(60);
  static constexpr base::Duration kEstimateAfter = base::Duration::seconds(20);
  static constexpr std::size_t kVisitsShown = 5;

  // Later snapshots must not be older.
  void add(CrawlSnapshot now);

  // For a terminal of so many columns. Requires add().
  std::vector<base::LiveLine> lines(std::size_t columns) const;
  // "progress done=12 known=40 ... waits=\"3 hosts wait for their delay\"": words and numbers, of
  // which the last is quoted. Requires add().
  std::string plain() const;

  double pages_per_second() const { return rate_of(&Sample::done); }
  double bytes_per_second() const { return rate_of(&Sample::bytes); }
  // The time that what is known now would take at the last minute's pace. New pages and hosts that
  // are slower than others make it longer. Nullopt where it says nothing, because the crawl is
  // young, or finds pages about as fast as it visits them.
  std::optional<base::Duration> least_remaining() const;

 private:
  struct Sample {
    base::Ticks at;
    std::uint64_t done = 0;
    std::uint64_t known = 0;
    std::uint64_t bytes = 0;
  };

  const Sample& first_within(base::Duration window) const;
  double rate_of(std::uint64_t Sample::* count) const;

  CrawlSnapshot now_;
  std::deque<Sample> samples_;  // of the last kEstimateWindow and one before
};

}  // namespace meguri::app
