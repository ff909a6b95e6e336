#include "crawl/offer_memory.h"

#include <bit>

namespace meguri::crawl {

OfferMemory::OfferMemory(std::size_t offers) : slots_(offers == 0 ? 0 : std::bit_ceil(offers)) {}

bool OfferMemory::was_offered(const base::Id& what, std::uint32_t depth, base::Ticks now) {
  if (slots_.empty()) return false;
  Slot& slot = slots_[what.low & (slots_.size() - 1)];
  const bool is_known =
      slot.is_used && slot.what == what && slot.depth <= depth && now - slot.at < kAge;
  if (is_known) return true;
  slot = {.what = what, .at = now, .depth = depth, .is_used = true};
  return false;
}

}  // namespace meguri::crawl
