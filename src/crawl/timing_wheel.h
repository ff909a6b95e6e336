// TimingWheel: records of a slab, each at a moment, handed out when that moment has come.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/prefetch.h"
#include "crawl/slab.h"

namespace meguri::crawl {

// Seven wheels of 64 slots, each turning 64 times slower than the one before it. A record stands in
// the wheel of the highest digit in which its moment differs from now, so every wheel holds only
// slots ahead of its hand; when the hand reaches a slot of a slow wheel its records move to faster
// ones. A bit per slot makes empty stretches free, however long. insert and erase are O(1), a
// record moves at most six times in its life (once for waits below 33 s, in slots of 8 ms).
//
// Moments are whole slots, of whatever length the caller counts in. T has `prev`, `next` and
// `std::uint64_t due() const`, which must not change while the record is in the wheel.
// Thread-compatible.
template <typename T>
class TimingWheel {
 public:
  static constexpr std::uint64_t kDueMax = (std::uint64_t{1} << 42U) - 1;

  explicit TimingWheel(Slab<T>& slab) : slab_(slab) {}

  std::uint64_t now() const { return now_; }

  // Requires now() < due() <= kDueMax.
  void insert(Index i) {
    const auto [level, slot] = place_of(slab_[i].due());
    slots_[level][slot].push_back(slab_, i);
    taken_[level] |= std::uint64_t{1} << slot;
  }

  // Requires that it is in the wheel.
  void erase(Index i) {
    const auto [level, slot] = place_of(slab_[i].due());
    slots_[level][slot].erase(slab_, i);
    if (slots_[level][slot].empty()) taken_[level] &= ~(std::uint64_t{1} << slot);
  }

  // No record is due before this; the earliest may be due later, but then the call after an
  // advance() to here says more. nullopt: the wheel is empty.
  std::optional<std::uint64_t> next() const {
    for (std::size_t level = 0; level < kLevels; ++level) {
      if (taken_[level] != 0) return start_of(level);
    }
    return {};
  }

  // Takes out every record due at `to` or before, in the order of their moments, and calls
  // fire(index) for each, which may insert and erase others in this wheel only after `to`.
  template <typename Fire>
  void advance(std::uint64_t to, const Fire& fire) {
    for (std::size_t level = 0; level < kLevels;) {
      if (taken_[level] == 0) {
        ++level;
        continue;
      }
      const std::uint64_t start = start_of(level);
      if (start > to) break;
      now_ = start;
      const auto slot = static_cast<std::size_t>(std::countr_zero(taken_[level]));
      taken_[level] &= taken_[level] - 1;
      IndexList list = slots_[level][slot];
      slots_[level][slot] = {};
      empty_out(list, fire);
      level = 0;
    }
    now_ = to > now_ ? to : now_;
  }

 private:
  static constexpr std::size_t kLevels = 7;
  static constexpr std::uint32_t kBits = 6;
  static constexpr std::size_t kSlots = std::size_t{1} << kBits;

  struct Place {
    std::size_t level;
    std::size_t slot;
  };

  Place place_of(std::uint64_t due) const {
    const auto digit = static_cast<std::uint32_t>(std::bit_width(due ^ now_) - 1) / kBits;
    return {digit, (due >> (digit * kBits)) % kSlots};
  }

  // When the first taken slot of a level begins.
  std::uint64_t start_of(std::size_t level) const {
    const auto slot = static_cast<std::uint64_t>(std::countr_zero(taken_[level]));
    const std::uint64_t shift = level * kBits;
    const std::uint64_t rounds = now_ >> (shift + kBits);
    return (rounds << (shift + kBits)) | (slot << shift);
  }

  template <typename Fire>
  void empty_out(IndexList& list, const Fire& fire) {
    while (!list.empty()) {
      const Index i = list.pop_front(slab_);
      if (!list.empty()) base::prefetch(&slab_[slab_[list.front()].next]);
      if (slab_[i].due() > now_) {
        insert(i);
      } else {
        fire(i);
      }
    }
  }

  Slab<T>& slab_;
  std::uint64_t now_ = 0;
  std::array<std::array<IndexList, kSlots>, kLevels> slots_{};
  std::array<std::uint64_t, kLevels> taken_{};  // a bit for each slot that is not empty
};

}  // namespace meguri::crawl
