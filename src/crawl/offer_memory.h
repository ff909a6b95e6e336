// OfferMemory: what was offered a short while ago, so that the menu of a site is not offered again
// with each of its pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/time.h"

namespace meguri::crawl {

// A table of fixed size; newer offers push older ones out. An offer that is as good as one within
// the last kAge changes nothing for those behind: they know the page, or refuse it by the same
// rules. What rules may be changed while running take effect within kAge. Thread-compatible.
class OfferMemory {
 public:
  static constexpr base::Duration kAge = base::Duration::minutes(1);

  // `offers`: how many it can hold at most; rounded up to a power of two. 0: none.
  explicit OfferMemory(std::size_t offers);

  // True: `what` was offered within kAge, `depth` links from a seed or fewer. False: it is noted as
  // offered now. `what` is a hash of all that makes offers equal but the depth.
  bool was_offered(const base::Id& what, std::uint32_t depth, base::Ticks now);

 private:
  struct Slot {
    base::Id what;
    base::Ticks at;
    std::uint32_t depth = 0;
    bool is_used = false;
  };

  std::vector<Slot> slots_;
};

}  // namespace meguri::crawl
