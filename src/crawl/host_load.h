// HostLoad: what the schedule of a host's pages asks of it, and what it bears.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "crawl/messages.h"

namespace meguri::crawl {

// What is done where the pages of a host ask for more visits than it bears.
enum class Remedy : std::uint8_t {
  kStretch,  // every interval times the factor that just fits; all pages suffer alike
  kAddDays,  // every interval is longer by the same time, which fast pages feel most
  kGroup,    // some pages of each URL template keep their pace, the rest is slowed (page_groups.h)
};

struct HostDemand {
  double visits_a_day = 0;  // that its pages ask for at their own pace: the load index L
  std::uint64_t pages = 0;
  base::Duration access;  // from the start of one visit to that of the next, at least: I
  double crowding = 1;    // how many times what their server bears all its hosts ask for
};

// Visits a day that the host itself bears, of those that are asked for: what its server sees of it.
double bearable_load(const HostDemand& demand);

// How many times what a server bears its hosts ask for, which get `visits_a_day` together; it needs
// `turn` for each visit.
double crowding_of(double visits_a_day, base::Duration turn);

// The least sparing with which all pages can be visited in time: 1/L >= I. Of kGroup it is what the
// pages together must be spared.
HostPace pace_of(const HostDemand& demand, Remedy remedy);

// R = (1/L) / e: below 1 the schedule cannot be met by visits one after another, however short the
// waits are. Infinite where nothing is asked for.
double feasibility(double visits_a_day, base::Duration download);

}  // namespace meguri::crawl
