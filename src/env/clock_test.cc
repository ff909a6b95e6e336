#include "env/clock.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

namespace meguri::env {
namespace {

using base::Duration;
using base::Instant;
using base::Ticks;

TEST(RealClock, IsTheSystemsAndNeverGoesBack) {
  const RealClock clock;
  EXPECT_GT(clock.utc(), *Instant::parse_rfc3339("2024-01-01T00:00:00Z"));
  Ticks last = clock.ticks();
  std::int64_t last_ns = clock.nanoseconds();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LE(last, clock.ticks());
    EXPECT_LE(last_ns, clock.nanoseconds());
    last = clock.ticks();
    last_ns = clock.nanoseconds();
  }
}

TEST(RealClock, RealTimeIsTheDurationWithinBounds) {
  const RealClock clock;
  EXPECT_EQ(clock.real_time(Duration::seconds(2)), std::chrono::seconds(2));
  EXPECT_EQ(clock.real_time(Duration::from_ms(-5)), std::chrono::seconds(0));
  // Adding it to a clock must not overflow.
  EXPECT_EQ(clock.real_time(Duration::max()), std::chrono::hours(24 * 365));
}

TEST(ScaledClock, RunsFasterFromTheMomentItIsMade) {
  const RealClock real;
  const std::int64_t before = real.nanoseconds();
  const ScaledClock clock(1000.0);
  const Instant start = clock.utc();
  const std::int64_t made = real.nanoseconds();
  EXPECT_GE(start, real.utc() - Duration::hours(1));
  while (real.nanoseconds() - made < 2'000'000) {
  }
  const std::int64_t scaled_ms = clock.ticks().ms();
  const Duration passed = clock.utc() - start;
  const std::int64_t real_us_at_most = (real.nanoseconds() - before) / 1000 + 1;
  EXPECT_GE(scaled_ms, 2000);
  EXPECT_LE(scaled_ms, real_us_at_most);
  EXPECT_GE(passed.ms(), 2000 - 1);
  EXPECT_LE(passed.ms(), real_us_at_most);
}

TEST(ScaledClock, OurOwnWorkIsMeasuredUnscaled) {
  const RealClock real;
  const ScaledClock clock(1000.0);
  const std::int64_t before = real.nanoseconds();
  const std::int64_t now = clock.nanoseconds();
  const std::int64_t after = real.nanoseconds();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(ScaledClock, RealTimeShrinksWithTheSpeed) {
  EXPECT_EQ(ScaledClock(100.0).real_time(Duration::seconds(5)), std::chrono::milliseconds(50));
  EXPECT_EQ(ScaledClock(0.5).real_time(Duration::seconds(5)), std::chrono::seconds(10));
}

TEST(ScaledClockDeathTest, TheSpeedMustBePositive) {
  EXPECT_DEATH(ScaledClock(0.0), "must be positive");
}

TEST(VirtualClock, StandsStillUntilAdvanced) {
  VirtualClock clock;
  EXPECT_EQ(clock.utc().to_rfc3339(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(clock.ticks(), Ticks::from_ms(0));
  clock.advance(Duration::from_ms(1500));
  EXPECT_EQ(clock.utc().to_rfc3339(), "2026-01-01T00:00:01.500Z");
  EXPECT_EQ(clock.ticks(), Ticks::from_ms(1500));
  EXPECT_EQ(clock.nanoseconds(), 1'500'000'000);
  EXPECT_EQ(clock.real_time(Duration::hours(1)), std::chrono::nanoseconds(0));
}

TEST(VirtualClock, AdvanceToNeverGoesBack) {
  VirtualClock clock;
  clock.advance_to(Ticks::from_ms(100));
  clock.advance_to(Ticks::from_ms(50));
  EXPECT_EQ(clock.ticks(), Ticks::from_ms(100));
}

TEST(VirtualClock, AnOperatorMayMoveUtcOnly) {
  VirtualClock clock;
  clock.advance(Duration::seconds(1));
  clock.jump_utc(Duration::hours(-2));
  EXPECT_EQ(clock.utc().to_rfc3339(), "2025-12-31T22:00:01Z");
  EXPECT_EQ(clock.ticks(), Ticks::from_ms(1000));
}

TEST(VirtualClockDeathTest, RefusesWhatIsNoTimeToAdvanceTo) {
  VirtualClock clock;
  EXPECT_DEATH(clock.advance(Duration::from_ms(-1)), "cannot go back by -1ms");
  EXPECT_DEATH(clock.advance_to(Ticks::never()), "cannot advance");
  EXPECT_DEATH(clock.advance(Duration::max()), "cannot advance");
}

TEST(VirtualClockThreads, OneAdvancesWhileOthersRead) {
  VirtualClock clock;
  std::vector<std::jthread> readers;
  readers.reserve(4);
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      Ticks last;
      while (last < Ticks::from_ms(1000)) {
        const Ticks now = clock.ticks();
        EXPECT_LE(last, now);
        last = now;
      }
    });
  }
  for (int i = 0; i < 1000; ++i) clock.advance(Duration::from_ms(1));
}

}  // namespace
}  // namespace meguri::env
