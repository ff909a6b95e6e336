#include "archive/read_ahead.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "env/random.h"

namespace meguri::archive {
namespace {

constexpr std::uint64_t kKib = 1024;

TEST(ReadAhead, SmallRangesAreAskedForTogether) {
  ReadAhead hints;
  std::vector<ReadAhead::Range> asked;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto range = hints.add({.begin = i * 8 * kKib, .end = i * 8 * kKib + 7 * kKib});
    if (range) asked.push_back(*range);
  }
  ASSERT_EQ(asked.size(), 1000 * 8 / 256);
  std::uint64_t end = 0;
  for (const ReadAhead::Range& range : asked) {
    EXPECT_EQ(range.begin, end);  // gaps are read along
    end = range.end;
  }
}

TEST(ReadAhead, WhatLiesFarApartIsAskedForAlone) {
  ReadAhead hints;
  EXPECT_FALSE(hints.add({.begin = 5000 * kKib, .end = 5007 * kKib}));
  EXPECT_EQ(hints.add({.begin = 9000 * kKib, .end = 9001 * kKib}),
            (ReadAhead::Range{.begin = 5000 * kKib, .end = 5007 * kKib}));
  // Backwards too.
  EXPECT_EQ(hints.add({.begin = 100, .end = 200}),
            (ReadAhead::Range{.begin = 9000 * kKib, .end = 9001 * kKib}));
}

TEST(ReadAhead, WhatIsAskedForNeverHoldsMuchThatWasNotAdded) {
  env::Random random(3);
  ReadAhead hints;
  std::uint64_t added = 0;
  std::uint64_t asked = 0;
  std::uint64_t ranges = 0;
  for (std::uint64_t offset = 0; ranges < 5000; ++ranges) {
    const std::uint64_t length =
        random.below(50) == 0 ? random.below(3000 * kKib) : random.below(10 * kKib);
    const auto range = hints.add({.begin = offset, .end = offset + length});
    added += length;
    if (range) {
      EXPECT_LT(range->begin, range->end);
      asked += range->end - range->begin;
    }
    offset += length + random.below(500 * kKib);
  }
  EXPECT_LE(asked, added + ranges * ReadAhead::kGapBytes);
}

TEST(ReadAhead, RangesThatCannotBeAreNothing) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  ReadAhead hints;
  EXPECT_FALSE(hints.add({.begin = 10, .end = 10}));
  EXPECT_FALSE(hints.add({.begin = kMax - 5, .end = 5}));  // it wrapped round
  EXPECT_FALSE(hints.add({.begin = kMax - 5, .end = kMax}));
  EXPECT_EQ(hints.add({.begin = 0, .end = 10}), (ReadAhead::Range{.begin = kMax - 5, .end = kMax}));
}

}  // namespace
}  // namespace meguri::archive
