// IdCache: the ids that were asked for of late, in a fixed amount of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/huge_pages.h"
#include "base/prefetch.h"
#include "sat/record.h"

namespace meguri::sat {

// An id has a place in one set of six, of which the one not used for the longest goes first. A set
// takes two lines of the processor's cache. Thread-compatible.
class IdCache {
 public:
  explicit IdCache(std::size_t bytes);  // at least one set

  std::optional<Seq> find(const base::Id& id);  // which makes it the last used
  void put(const base::Id& id, Seq seq);
  void erase(const base::Id& id);
  // Lets the processor fetch what put() or find() will need.
  void prefetch(const base::Id& id) {
    const char* const set = reinterpret_cast<const char*>(&set_of(id));
    base::prefetch(set);
    base::prefetch(set + sizeof(Set) / 2);
  }

  std::size_t memory_bytes() const { return sets_.capacity() * sizeof(Set); }

 private:
  static constexpr std::size_t kWays = 6;
  // The last used stands first. Places from `used` on are empty.
  struct alignas(128) Set {
    std::array<std::uint64_t, kWays> low{};
    std::uint32_t used = 0;  // in the same line: an id that is not there costs one
    std::array<Seq, kWays> seq{};
    std::array<std::uint64_t, kWays> high{};

    std::size_t find(const base::Id& id) const;  // `used` if it is not there
    void put_first(std::size_t from, const base::Id& id, Seq id_seq);
  };

  Set& set_of(const base::Id& id) {
    const std::uint64_t hash = base::mix64(id.high + 3 * id.low);
    return sets_[(hash >> 32U) * sets_.size() >> 32U];  // of less than 2^32 sets
  }

  std::vector<Set, base::HugePageAllocator<Set>> sets_;
};

}  // namespace meguri::sat
