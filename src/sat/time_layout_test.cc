#include "sat/time_layout.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "env/random.h"

namespace meguri::sat {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'601'234);  // 2026-01-01, and a bit

TEST(TimeLayout, RefusesLevelsThatDoNotFitEachOther) {
  EXPECT_FALSE(TimeLayout::make({}));
  EXPECT_FALSE(TimeLayout::uniform(Duration(), 10));
  EXPECT_FALSE(TimeLayout::uniform(Duration::hours(1), 0));
  EXPECT_FALSE(TimeLayout::uniform(Duration::hours(1), TimeLayout::kSlotsMax));
  // 90 minutes are no whole number of hours; a day is more than 12 hours.
  EXPECT_FALSE(TimeLayout::make({{Duration::minutes(90), 100}, {Duration::hours(4), 100}}));
  EXPECT_FALSE(TimeLayout::make({{Duration::hours(1), 12}, {Duration::days(1), 100}}));
  EXPECT_FALSE(TimeLayout::make({{Duration::hours(1), 48}, {Duration::days(1), 2}}));
}

TEST(TimeLayout, TheDefaultFitsTwelveBitsOfSlots) { EXPECT_LE(TimeLayout::mixed().slots(), 4096U); }

TEST(TimeLayout, IsReadBackAsItWasWritten) {
  const TimeLayout mixed = TimeLayout::mixed();
  EXPECT_EQ(mixed.encode(), "60000x1440,3600000x768,86400000x400");
  EXPECT_EQ(TimeLayout::decode(mixed.encode()).value(), mixed);
  for (const char* bad : {"", "x", "60000", "60000x", "60000x0", "60000x1440,", "60000x1440 "}) {
    EXPECT_FALSE(TimeLayout::decode(bad)) << bad;
  }
}

TEST(TimeFront, PlacesWhatIsDueInTheBucketThatEndsNext) {
  const TimeLayout layout = TimeLayout::uniform(Duration::hours(1), 24).value();
  const TimeFront front(layout, kStart);
  const Instant due = kStart + Duration::minutes(150);
  const Instant end = layout.end_of(front.place(due));
  EXPECT_GE(end, due);
  EXPECT_LT(end - due, Duration::hours(1));
  // A bucket's last moment is its own.
  EXPECT_EQ(layout.end_of(front.place(end)), end);
}

TEST(TimeFront, PlacesThePastInTheNextBucketAndTheFarFutureInTheLast) {
  const TimeLayout layout = TimeLayout::uniform(Duration::hours(1), 24).value();
  const TimeFront front(layout, kStart);
  EXPECT_EQ(front.place(Instant()), front.next_open());
  EXPECT_EQ(front.place(kStart + Duration::days(500)).number, front.next_open().number + 23);
}

TEST(TimeFront, IsReadBackAsItWasWritten) {
  const TimeLayout layout = TimeLayout::mixed();
  const TimeFront front(layout, kStart);
  EXPECT_EQ(TimeFront::decode(layout, front.encode()).value(), front);
  for (const char* bad : {"", "1,2", "1,2,3,4", "1,2,x", "1,2,-3"}) {
    EXPECT_FALSE(TimeFront::decode(layout, bad)) << bad;
  }
}

// Records move through the buckets as a store moves them: none is early, none more than a unit
// late, and buckets that hold anything at the same time have slots of their own.
class Layouts : public testing::TestWithParam<std::string> {};

TEST_P(Layouts, BringEveryRecordWithinAUnitOfItsTime) {
  const TimeLayout layout = TimeLayout::decode(GetParam()).value();
  TimeFront front(layout, kStart);
  env::Random random(5);
  std::map<Bucket, std::multiset<Instant>> buckets;
  std::map<Slot, Bucket> owners;
  const auto put = [&](Instant due) {
    const Bucket bucket = front.place(due);
    const auto [owner, is_new] = owners.try_emplace(layout.slot_of(bucket), bucket);
    ASSERT_EQ(owner->second, bucket) << "two buckets in one slot";
    buckets[bucket].insert(due);
    const auto order = [&](Bucket b) { return front.order_of(layout.slot_of(b)); };
    const auto at = buckets.find(bucket);
    if (at != buckets.begin()) {
      ASSERT_LT(order(std::prev(at)->first), order(bucket));
    }
    if (std::next(at) != buckets.end()) {
      ASSERT_LT(order(bucket), order(std::next(at)->first));
    }
  };
  const auto take = [&](Bucket bucket) {
    const auto found = buckets.extract(bucket);
    owners.erase(layout.slot_of(bucket));
    return found.empty() ? std::multiset<Instant>() : std::move(found.mapped());
  };
  const std::size_t last = layout.levels() - 1;
  const std::int64_t span_ms = layout.horizon(last).ms() * 5 / 4;
  for (int i = 0; i < 3000; ++i) {
    const auto exponent = random.below(40);
    const std::int64_t wait_ms = std::min<std::int64_t>(
        span_ms, static_cast<std::int64_t>(random.below((std::uint64_t{1} << exponent) + 1)));
    put(kStart + Duration::from_ms(wait_ms));
  }
  const Instant end = kStart + Duration::from_ms(span_ms) + layout.unit(0);
  std::size_t opened = 0;
  while (front.may_open(end)) {
    for (Bucket sealed = front.next_seal(); sealed.number != 0; sealed = front.next_seal()) {
      front.seal(sealed);
      for (const Instant due : take(sealed)) put(due);
    }
    const Bucket bucket = front.next_open();
    front.open();
    const Instant now = layout.end_of(bucket);
    for (const Instant due : take(bucket)) {
      if (due > now) {  // it was beyond the horizon
        put(due);
        continue;
      }
      ++opened;
      ASSERT_LT(now - due, layout.unit(0));
    }
  }
  EXPECT_EQ(opened, 3000U);
  EXPECT_TRUE(buckets.empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, Layouts,
                         testing::Values("3600000x240", "86400000x40", "60000x1440,3600000x768",
                                         "60000x1440,3600000x768,86400000x40", "1000x7,5000x3",
                                         "1000x10,5000x10,50000x3,150000x5"));

}  // namespace
}  // namespace meguri::sat
