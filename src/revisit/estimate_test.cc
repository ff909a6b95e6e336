#include "revisit/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace meguri::revisit {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);

double hours_of(Duration duration) { return duration.in_seconds() / 3600; }

// T, U and tc_min in hours.
ChangeState state_of(int observed, int stable, std::uint32_t changes, int shortest) {
  ChangeState state;
  state.visits = state.versions = 100;
  state.observed = Duration::hours(observed);
  state.stable = Duration::hours(stable);
  state.changes = changes;
  state.shortest_change = Duration::hours(shortest);
  return state;
}

TEST(Estimate, IsThePapers) {
  // tc_avg = 60/4 = 15, tc = √(15·5), T/U = 100/40.
  const auto interval = estimated_interval(state_of(100, 40, 4, 5));
  ASSERT_TRUE(interval);
  EXPECT_NEAR(hours_of(*interval), std::sqrt(75) / std::log(2.5), 1e-3);
}

TEST(Estimate, IsNoneWhereItHasNone) {
  EXPECT_FALSE(estimated_interval(ChangeState()));
  EXPECT_FALSE(estimated_interval(state_of(100, 100, 0, 0)));
  EXPECT_FALSE(estimated_interval(state_of(100, 0, 4, 5)));
}

TEST(Estimate, DatedChangesJoinAsTheirLikelihoodHasThem) {
  ChangeState state = state_of(40, 40, 0, 0);
  state.dated_changes = 80;
  EXPECT_NEAR(hours_of(*estimated_interval(state)), 0.5, 1e-3);

  state = state_of(100, 40, 4, 15);
  state.dated_changes = 6;
  const double rate = 1 / hours_of(*estimated_interval(state));
  EXPECT_NEAR(6 / rate + 60 / std::expm1(rate * 15), 40, 0.01);
}

TEST(Estimate, FindsIntervalsShorterThanThoseBetweenVisits) {
  // Daily visits of a page that changes every half hour, with a Last-Modified.
  std::mt19937_64 random(1);
  std::exponential_distribution<double> since(2);  // hours
  ChangeState state;
  for (int day = 0; day < 60; ++day) {
    const Instant time = kStart + Duration::days(day);
    const Duration age = Duration::from_ms(static_cast<std::int64_t>(since(random) * 3'600'000));
    state = with_visit(state,
                       {.time = time, .outcome = Outcome::kChanged, .last_modified = time - age});
  }
  const auto interval = estimated_interval(state);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(hours_of(*interval), 0.5, 0.2);
}

TEST(Estimate, OverestimatesTheRateButKeepsTheOrder) {
  std::mt19937_64 random(7);
  double last = 0;
  for (const double mean : {2.0, 8.0, 32.0, 128.0}) {  // hours between changes; visits as often
    std::exponential_distribution<double> life(1 / mean);
    std::uniform_real_distribution<double> jitter(0.5, 1.5);
    double sum = 0;
    for (int page = 0; page < 200; ++page) {
      ChangeState state;
      double now = 0;
      double change = 0;
      for (int i = 0; i < 50; ++i) {
        bool has_changed = i == 0;
        for (; change <= now; change += life(random)) has_changed = true;
        state = with_visit(
            state, {.time = kStart + Duration::from_ms(static_cast<std::int64_t>(now * 3'600'000)),
                    .outcome = has_changed ? Outcome::kChanged : Outcome::kUnchanged});
        now += mean * jitter(random);
      }
      sum += std::log(hours_of(*estimated_interval(state)));
    }
    const double found = std::exp(sum / 200);
    EXPECT_LT(found, mean);
    EXPECT_GT(found, mean / 3);
    EXPECT_GT(found, 2 * last);
    last = found;
  }
}

TEST(LikelyIntervals, HoldTheTruthInNineteenCasesOfTwenty) {
  std::mt19937_64 random(3);
  std::exponential_distribution<double> life(1.0 / 10);
  int held = 0;
  constexpr int kPages = 2000;
  for (int page = 0; page < kPages; ++page) {
    ChangeState state;
    double change = life(random);
    for (int i = 0; i < 40; ++i) {
      const double now = 8 * i;
      bool has_changed = i == 0;
      for (; change <= now; change += life(random)) has_changed = true;
      state = with_visit(state, {.time = kStart + Duration::hours(8 * i),
                                 .outcome = has_changed ? Outcome::kChanged : Outcome::kUnchanged});
    }
    const IntervalRange range = likely_intervals(state);
    ASSERT_TRUE(range.shortest && range.likeliest && range.longest);
    EXPECT_LE(*range.shortest, *range.likeliest);
    EXPECT_LE(*range.likeliest, *range.longest);
    if (*range.shortest <= Duration::hours(10) && Duration::hours(10) <= *range.longest) ++held;
  }
  EXPECT_GT(held, kPages * 0.93);
  EXPECT_LT(held, kPages * 0.97);
}

TEST(LikelyIntervals, HaveOneEndWhereThePageNeverOrAlwaysChanged) {
  EXPECT_EQ(likely_intervals(ChangeState()), IntervalRange());

  const IntervalRange still = likely_intervals(state_of(192, 192, 0, 0));
  EXPECT_FALSE(still.longest);
  EXPECT_NEAR(hours_of(*still.shortest), 100, 0.01);  // e^{-192/100} = e^{-1.92}

  const IntervalRange restless = likely_intervals(state_of(100, 0, 10, 10));
  EXPECT_FALSE(restless.shortest);
  // (1 - e^{-10/i})^10 = e^{-1.92}
  EXPECT_NEAR(10 * std::log(-std::expm1(-10 / hours_of(*restless.longest))), -1.92, 0.01);
}

}  // namespace
}  // namespace meguri::revisit
