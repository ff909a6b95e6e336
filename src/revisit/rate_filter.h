// RateFilter: what is believed of a page's rate of change: a log-normal, narrowed by every visit
// and widened by time, so that it follows pages that change their habits. Eight bytes.
#pragma once

#include "base/time.h"

namespace meguri::revisit {

// ln λ, with λ in changes a day, is normal. A value.
struct RateFilter {
  float mean = 0;
  float variance = 0;  // zero: it has not begun

  bool has_begun() const { return variance > 0; }
  friend bool operator==(const RateFilter&, const RateFilter&) = default;
};

// Where a page begins of which nothing is known but where it is: the mean and variance over its
// host or, as here, over everything. Few pages change more than daily, few less than yearly.
inline constexpr RateFilter kRatePrior = {.mean = -2.3F, .variance = 5};

// What is believed after one more observation. Each is one step of a drift and three of Newton's,
// some 70 ns. Require a filter that has begun and a positive time.
RateFilter with_unchanged(RateFilter filter, base::Duration interval);
RateFilter with_changed(RateFilter filter, base::Duration interval);
// The last change was so long ago; nothing is known of the time before it.
RateFilter with_dated(RateFilter filter, base::Duration since_change);

// 1/λ at so many deviations above the mean rate: more is more curious. Requires a filter that has
// begun.
base::Duration interval_of(const RateFilter& filter, double optimism);

}  // namespace meguri::revisit
