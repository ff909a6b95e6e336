// TimeLayout: how time is cut into buckets. Fine slices for the near future, coarse ones for the
// far (mixed radix); or one kind of slice for all of it, as in the paper.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace meguri::sat {

// One kind of bucket.
struct Level {
  base::Duration unit;        // the slice of time that one bucket holds
  std::uint32_t buckets = 0;  // how many of them lie ahead

  friend bool operator==(const Level&, const Level&) = default;
};

// Bucket n of a level holds what is due in ((n-1) x unit, n x unit], and is opened at n x unit: so
// nothing comes early, and nothing more than one unit late. Numbers count from 1970.
struct Bucket {
  std::uint32_t level = 0;
  std::int64_t number = 0;

  friend auto operator<=>(const Bucket&, const Bucket&) = default;
};

// Where a bucket's records are kept: buckets that lie ahead at the same time have different slots.
using Slot = std::uint32_t;

// Finest level first. Immutable.
class TimeLayout {
 public:
  // kInvalid: no level, a unit that is not a multiple of the one before, a level that reaches no
  // farther than the one before, or more than kSlotsMax slots.
  static base::Result<TimeLayout> make(std::vector<Level> levels);
  static base::Result<TimeLayout> uniform(base::Duration unit, std::uint32_t buckets);
  // Minutes for a day, hours for 32 days, days for 400 days.
  static TimeLayout mixed();

  static constexpr std::uint32_t kSlotsMax = 1U << 20U;
  // So many buckets of the finest level may have been opened and not yet been emptied.
  static constexpr std::uint32_t kOpenMax = 32;

  std::size_t levels() const { return levels_.size(); }
  const Level& level(std::size_t k) const { return levels_[k]; }
  base::Duration unit(std::size_t k) const { return levels_[k].unit; }
  // How far ahead a level reaches.
  base::Duration horizon(std::size_t k) const { return levels_[k].unit * levels_[k].buckets; }

  std::uint32_t slots() const { return slots_; }  // of all levels
  Slot slot_of(Bucket bucket) const {
    const Ring& ring = rings_[bucket.level];
    return ring.first + static_cast<Slot>(bucket.number % ring.size);
  }

  // The level of a slot; and how many buckets it is behind `first`, which is of its level.
  std::uint32_t level_of(Slot slot) const;
  std::uint64_t distance(Bucket first, Slot slot) const {
    const Ring& ring = rings_[first.level];
    const auto at = static_cast<std::int64_t>(slot - ring.first);
    return static_cast<std::uint64_t>((at - first.number % ring.size + ring.size) % ring.size);
  }

  // The bucket of a level that holds a moment.
  Bucket bucket_at(std::size_t k, base::Instant due) const;
  // A bucket holds what is due after this moment, up to the next.
  base::Instant begin_of(Bucket bucket) const {
    return base::Instant::from_ms((bucket.number - 1) * levels_[bucket.level].unit.ms());
  }
  // The moment at which a bucket is opened; its last one.
  base::Instant end_of(Bucket bucket) const {
    return base::Instant::from_ms(bucket.number * levels_[bucket.level].unit.ms());
  }

  std::string encode() const;  // "60000x1440,3600000x768,86400000x400"
  static base::Result<TimeLayout> decode(std::string_view text);

  friend bool operator==(const TimeLayout& a, const TimeLayout& b) {
    return a.levels_ == b.levels_;
  }

 private:
  struct Ring {
    Slot first = 0;
    std::int64_t size = 0;
  };

  explicit TimeLayout(std::vector<Level> levels);

  std::vector<Level> levels_;
  std::vector<Ring> rings_;
  std::uint32_t slots_ = 0;
};

// Where time stands in a layout: which buckets have been opened, and which coarse ones have been
// sealed, so that what is due in them goes to finer ones. Only grows. Thread-compatible.
//
// Invariant: level k takes what is due after everything below it was sealed, up to where level k+1
// begins; every moment after the front belongs to exactly one bucket.
class TimeFront {
 public:
  // Every bucket that ends before or at `start` counts as opened.
  TimeFront(const TimeLayout& layout, base::Instant start);

  // The bucket for a record. What is due already goes to the next bucket to be opened; what is due
  // beyond the horizon to the last bucket there is, and is placed again when that comes.
  Bucket place(base::Instant due) const;

  // The next bucket of the finest level that may be opened at `now`, or nothing.
  bool may_open(base::Instant now) const { return layout_->end_of(next_open()) <= now; }
  Bucket next_open() const { return {0, begins_[0]}; }
  // Requires that nothing needs to be sealed before.
  void open() { ++begins_[0]; }

  // A coarse bucket that must be sealed and moved to finer ones before the next one is opened: the
  // coarsest first, since it may fill the others. Nothing: number is 0.
  Bucket next_seal() const;
  void seal(Bucket bucket);  // requires bucket == next_seal()

  // A number that is smaller for the slot of the nearer of two buckets ahead.
  std::uint64_t order_of(Slot slot) const {
    const std::uint32_t level = layout_->level_of(slot);
    return std::uint64_t{level} << 32U | layout_->distance({level, begins_[level]}, slot);
  }

  base::Instant opened_up_to() const { return layout_->end_of({0, begins_[0] - 1}); }

  std::string encode() const;  // the number of each level's first bucket
  static base::Result<TimeFront> decode(const TimeLayout& layout, std::string_view text);

  friend bool operator==(const TimeFront& a, const TimeFront& b) { return a.begins_ == b.begins_; }

 private:
  const TimeLayout* layout_;
  std::vector<std::int64_t> begins_;  // by level: the first bucket not opened or sealed
};

}  // namespace meguri::sat
