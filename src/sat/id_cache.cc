#include "sat/id_cache.h"

#include <algorithm>

namespace meguri::sat {

IdCache::IdCache(std::size_t bytes) : sets_(std::max<std::size_t>(1, bytes / sizeof(Set))) {
  static_assert(sizeof(Set) == 128);
}

std::size_t IdCache::Set::find(const base::Id& id) const {
  std::size_t at = 0;
  while (at < used && (low[at] != id.low || high[at] != id.high)) ++at;
  return at;
}

// Those before `from` move back by one.
void IdCache::Set::put_first(std::size_t from, const base::Id& id, Seq id_seq) {
  for (std::size_t at = from; at > 0; --at) {
    low[at] = low[at - 1];
    high[at] = high[at - 1];
    seq[at] = seq[at - 1];
  }
  low[0] = id.low;
  high[0] = id.high;
  seq[0] = id_seq;
}

std::optional<Seq> IdCache::find(const base::Id& id) {
  Set& set = set_of(id);
  const std::size_t at = set.find(id);
  if (at == set.used) return std::nullopt;
  const Seq seq = set.seq[at];
  if (at > 0) set.put_first(at, id, seq);
  return seq;
}

void IdCache::put(const base::Id& id, Seq seq) {
  Set& set = set_of(id);
  std::size_t at = set.find(id);
  if (at == set.used) {
    if (set.used < kWays) {
      ++set.used;
    } else {
      at = kWays - 1;
    }
  }
  set.put_first(at, id, seq);
}

void IdCache::erase(const base::Id& id) {
  Set& set = set_of(id);
  std::size_t at = set.find(id);
  if (at == set.used) return;
  for (; at + 1 < set.used; ++at) {
    set.low[at] = set.low[at + 1];
    set.high[at] = set.high[at + 1];
    set.seq[at] = set.seq[at + 1];
  }
  --set.used;
}

}  // namespace meguri::sat
