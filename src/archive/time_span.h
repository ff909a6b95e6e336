// TimeSpan: a stretch of time; and how two of them lie to each other, in Allen's interval algebra.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace meguri::archive {

// From `begin` up to, but not including, `end`; Instant::max() is an end that has not come.
struct TimeSpan {
  base::Instant begin;
  base::Instant end = base::Instant::max();

  constexpr bool empty() const { return end <= begin; }
  constexpr bool contains(base::Instant time) const { return begin <= time && time < end; }

  friend constexpr bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

// How a span D lies to a span Q, from what ends before it to what begins after it. Two spans that
// are not empty have exactly one.
enum class Relation : std::uint8_t {
  kBefore,        // D ends before Q begins
  kMeets,         // D ends when Q begins
  kOverlaps,      // D begins before Q and ends within
  kFinishedBy,    // D begins before Q and ends with it
  kContains,      // D begins before Q and ends after it
  kStarts,        // D begins with Q and ends within
  kEquals,        //
  kStartedBy,     // D begins with Q and ends after it
  kDuring,        // D begins and ends within Q
  kFinishes,      // D begins within Q and ends with it
  kOverlappedBy,  // D begins within Q and ends after it
  kMetBy,         // D begins when Q ends
  kAfter,         // D begins after Q has ended
};
inline constexpr std::size_t kRelations = 13;

std::string_view name_of(Relation relation);  // "finished-by"

// Requires that neither is empty.
Relation relation_of(const TimeSpan& d, const TimeSpan& q);

// A set of relations: any of them.
class RelationSet {
 public:
  constexpr RelationSet() = default;
  constexpr RelationSet(std::initializer_list<Relation> relations) {
    for (const Relation relation : relations) add(relation);
  }
  static constexpr RelationSet all() {
    RelationSet set;
    set.bits_ = (1U << kRelations) - 1;
    return set;
  }

  // Names with commas between them. kInvalid: one is none; the sentence has all that there are.
  static base::Result<RelationSet> parse(std::string_view text);

  constexpr void add(Relation relation) { bits_ |= 1U << static_cast<unsigned>(relation); }
  constexpr bool has(Relation relation) const {
    return (bits_ >> static_cast<unsigned>(relation) & 1U) != 0;
  }
  constexpr bool empty() const { return bits_ == 0; }
  // An empty D is at no time, so that it lies nowhere. Requires that `q` is not empty.
  bool holds(const TimeSpan& d, const TimeSpan& q) const {
    return !d.empty() && has(relation_of(d, q));
  }
  std::string to_string() const;  // "starts,during", in the order above

  friend constexpr bool operator==(RelationSet, RelationSet) = default;

 private:
  std::uint32_t bits_ = 0;
};

// The example of paper 001: what began in Q and was still so just before Q ended.
inline constexpr RelationSet kBegunAndStillSo = {Relation::kOverlappedBy, Relation::kStartedBy,
                                                 Relation::kFinishes, Relation::kEquals};

}  // namespace meguri::archive
