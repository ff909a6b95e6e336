#include "revisit/rate_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace meguri::revisit {
namespace {

using base::Duration;

Duration days(double n) { return Duration::from_ms(static_cast<std::int64_t>(n * 86'400'000)); }

// After so many visits, `x` mean intervals apart, of a page that changes every `mean` days.
RateFilter after_visits(double mean, double x, int visits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution changes(-std::expm1(-x));
  RateFilter filter = kRatePrior;
  for (int i = 0; i < visits; ++i) {
    filter = changes(random) ? with_changed(filter, days(x * mean))
                             : with_unchanged(filter, days(x * mean));
  }
  return filter;
}

TEST(RateFilter, FindsTheRate) {
  for (const double mean : {0.02, 1.0, 50.0}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const RateFilter filter = after_visits(mean, 1, 60, seed);
      EXPECT_LT(filter.variance, 0.2F);
      sum += filter.mean;
    }
    EXPECT_NEAR(sum / 100, -std::log(mean), 0.15) << mean;
  }
}

TEST(RateFilter, KnowsHowMuchItDoesNotKnow) {
  int within = 0;
  constexpr int kPages = 1000;
  for (std::uint64_t seed = 0; seed < kPages; ++seed) {
    const RateFilter filter = after_visits(5, 0.7, 25, seed);
    const double error = filter.mean + std::log(5);
    if (error * error <= 1.96 * 1.96 * filter.variance) ++within;
  }
  EXPECT_GT(within, kPages * 0.9);
}

TEST(RateFilter, FollowsAPageThatChangesItsHabits) {
  RateFilter filter = after_visits(10, 1, 200, 1);
  ASSERT_NEAR(filter.mean, -std::log(10), 0.5);
  for (int i = 0; i < 40; ++i) filter = with_changed(filter, interval_of(filter, 1));
  EXPECT_GT(filter.mean, 0);
}

TEST(RateFilter, ADateTellsMoreThanAnInterval) {
  RateFilter dated = kRatePrior;
  for (int i = 0; i < 20; ++i) dated = with_dated(dated, days(1.0 / 48));
  EXPECT_NEAR(interval_of(dated, 0).in_seconds(), 1800, 400);
  RateFilter undated = kRatePrior;
  for (int i = 0; i < 20; ++i) undated = with_changed(undated, days(1));
  EXPECT_LT(undated.mean, dated.mean);
  EXPECT_GT(undated.variance, dated.variance);
}

TEST(RateFilter, StaysSoundWhateverItIsTold) {
  for (const Duration time : {Duration::from_ms(1), Duration::days(3'000'000)}) {
    RateFilter filter = kRatePrior;
    for (int i = 0; i < 1000; ++i) {
      filter = i % 3 == 0 ? with_changed(filter, time)
                          : (i % 3 == 1 ? with_unchanged(filter, time) : with_dated(filter, time));
      ASSERT_TRUE(std::isfinite(filter.mean) && std::abs(filter.mean) <= 100);
      ASSERT_TRUE(filter.variance > 0 && filter.variance <= 100);
    }
  }
}

}  // namespace
}  // namespace meguri::revisit
