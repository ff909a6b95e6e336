// How much of what a page was an archive holds, against the truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "sim/history.h"

namespace meguri::sim {

// Over one page or many. Shares are of what there was to hold; 1 where there was nothing.
struct Holdings {
  std::size_t versions = 0;         // that were live within the period
  std::size_t versions_held = 0;    // of these, captured while they were live
  std::size_t captures = 0;         // within the period, of a page that existed
  std::size_t captures_wasted = 0;  // of these, of a version that was held already
  base::Duration lifetime;          // time within the period in which the page existed
  base::Duration lifetime_held;     // of this, time whose live version is held

  double recall() const;    // versions held
  double coverage() const;  // past time whose live version is held
  double waste() const;     // captures that brought nothing new

  Holdings& operator+=(const Holdings& other);
};

// What captures of one page at `times` (in any order) hold of the period [from, to). A version that
// was there before the period counts, for the part of its life within it.
Holdings holdings_of(const History& history, std::span<const base::Instant> times,
                     base::Instant from, base::Instant to);

// What a visit found.
enum class Found : std::uint8_t { kNew, kKnown, kGone };

// What would be shown for moments of the past: what the last visit before them found.
struct Showing {
  base::Duration time;    // from the first visit on
  base::Duration wrong;   // of this, what is shown had already been replaced
  double late_ms_ms = 0;  // the integral of how long ago it had

  double error_share() const;         // of moments for which something wrong is shown
  base::Duration error_mean() const;  // how long ago it had been replaced, over all moments

  Showing& operator+=(const Showing& other);
};

// The captures of one recorded page as they come, over the period from its origin to `end`: the
// same holdings as holdings_of() finds when all are over, without keeping them. The page appears
// with its first event. Borrows its events.
class RunningHoldings {
 public:
  RunningHoldings(std::span<const std::uint32_t> events, base::Duration end)
      : events_(events), end_(end) {}

  // Requires a time, since the origin, from the first event on, that is not before the last visit's
  // and before the end.
  Found visit(base::Duration time);
  // Call once, after the last visit.
  void finish();

  const Holdings& holdings() const { return holdings_; }
  const Showing& showing() const { return showing_; }

 private:
  base::Duration time_of(std::size_t event) const;  // the end, of what comes after it
  bool is_version(std::size_t event) const;
  void show_until(base::Duration time);

  std::span<const std::uint32_t> events_;
  base::Duration end_;
  std::size_t passed_ = 0;  // events at or before the last visit
  std::size_t held_ = 0;    // one more than the event that made the version last captured
  base::Duration last_visit_;
  Holdings holdings_;
  Showing showing_;
};

}  // namespace meguri::sim
