// How much of what a page was an archive holds, against the truth.
#pragma once

#include <cstddef>
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

}  // namespace meguri::sim
