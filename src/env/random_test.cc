#include "env/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace meguri::env {
namespace {

// The sum of (count - expected)^2 / expected. With d = counts - 1 degrees of freedom, even counts
// stay below d + 4 * sqrt(2 d) but for one seed in ten thousand or so; seeds here are fixed.
double chi_squared(const std::vector<double>& counts, double expected) {
  return std::accumulate(counts.begin(), counts.end(), 0.0, [&](double sum, double count) {
    return sum + (count - expected) * (count - expected) / expected;
  });
}

double chi_squared_limit(std::size_t counts) {
  const auto freedom = static_cast<double>(counts - 1);
  return freedom + 4 * std::sqrt(2 * freedom);
}

TEST(Random, EqualSeedsGiveTheSameNumbersOnEveryMachine) {
  Random random(42);
  EXPECT_EQ(random.next(), 1546998764402558742ULL);
  EXPECT_EQ(random.next(), 6990951692964543102ULL);
  EXPECT_EQ(random.next(), 12544586762248559009ULL);
  Random a(7);
  Random b(7);
  Random c(8);
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(a.next(), c.next());
}

TEST(Random, DerivedNumbersAreTheSameOnEveryMachineToTheLastBit) {
  Random random(1);
  double exponential = 0;
  double normal = 0;
  for (int i = 0; i < 1000; ++i) {
    exponential += random.exponential(3.0);
    normal += random.normal();
  }
  EXPECT_EQ(exponential, 0x1.73c6c62b2ee2ep+11);
  EXPECT_EQ(normal, 0x1.ed93c98d3f352p+3);
}

TEST(Random, BelowIsEvenForSmallAndHugeBounds) {
  Random random(1);
  for (const std::uint64_t bound : {2ULL, 3ULL, 10ULL, 1000ULL}) {
    std::vector<double> counts(bound);
    const double expected = 200;
    for (std::uint64_t i = 0; i < bound * 200; ++i) ++counts.at(random.below(bound));
    EXPECT_LT(chi_squared(counts, expected), chi_squared_limit(bound)) << bound;
  }
  // Three quarters of the range: a plain remainder would give the lower third twice as often.
  const std::uint64_t bound = 3ULL << 62U;
  std::vector<double> thirds(3);
  for (int i = 0; i < 30'000; ++i) ++thirds.at(random.below(bound) / (1ULL << 62U));
  EXPECT_LT(chi_squared(thirds, 10'000), chi_squared_limit(3));
}

TEST(Random, BetweenHasBothEnds) {
  Random random(2);
  std::vector<double> counts(3);
  for (int i = 0; i < 3000; ++i) ++counts.at(random.between(5, 7) - 5);
  EXPECT_LT(chi_squared(counts, 1000), chi_squared_limit(3));
  EXPECT_EQ(random.between(9, 9), 9);
  bool has_high_bit = false;
  for (int i = 0; i < 64; ++i) has_high_bit |= (random.between(0, ~0ULL) >> 63U) != 0;
  EXPECT_TRUE(has_high_bit);
}

TEST(Random, UniformFillsTheUnitInterval) {
  Random random(3);
  std::vector<double> counts(100);
  for (int i = 0; i < 100'000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++counts.at(static_cast<std::size_t>(u * 100));
  }
  EXPECT_LT(chi_squared(counts, 1000), chi_squared_limit(100));
}

TEST(Random, EveryBitIsOneHalfOfTheTime) {
  Random random(4);
  std::vector<int> ones(64);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t bits = random.next();
    for (std::size_t b = 0; b < 64; ++b) ones[b] += static_cast<int>((bits >> b) & 1U);
  }
  for (const int count : ones) EXPECT_NEAR(count, 5000, 250);
}

TEST(Random, ExponentialHasItsDistribution) {
  Random random(5);
  constexpr int kCount = 100'000;
  std::vector<double> counts(20);  // twentieths of the distribution
  double sum = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.exponential(2.5);
    sum += x;
    ++counts.at(std::min<std::size_t>(19, static_cast<std::size_t>(-std::expm1(-x / 2.5) * 20)));
  }
  EXPECT_NEAR(sum / kCount, 2.5, 0.05);
  EXPECT_LT(chi_squared(counts, kCount / 20.0), chi_squared_limit(20));
}

TEST(Random, NormalHasItsDistribution) {
  Random random(6);
  constexpr int kCount = 100'000;
  std::vector<double> counts(20);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    const double below = std::erfc(-x / std::sqrt(2.0)) / 2;
    ++counts.at(std::min<std::size_t>(19, static_cast<std::size_t>(below * 20)));
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.02);
  EXPECT_NEAR(squares / kCount, 1.0, 0.02);
  EXPECT_LT(chi_squared(counts, kCount / 20.0), chi_squared_limit(20));
}

TEST(Random, ChanceKeepsItsProbability) {
  Random random(7);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) {
    hits += random.chance(0.3) ? 1 : 0;
    ASSERT_FALSE(random.chance(0.0));
    ASSERT_TRUE(random.chance(1.0));
  }
  EXPECT_NEAR(hits, 30'000, 600);
}

TEST(Random, SplitGeneratorsDifferFromTheirOriginAndEachOther) {
  Random random(8);
  Random a = random.split();
  Random b = random.split();
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t x = a.next();
    equal += x == b.next() || x == random.next() ? 1 : 0;
  }
  EXPECT_EQ(equal, 0);
}

TEST(Random, ShuffleReachesEveryPermutation) {
  Random random(9);
  std::vector<double> counts(6);
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> v = {0, 1, 2};
    std::ranges::shuffle(v, random);
    const int permutation = v[0] * 2 + (v[1] > v[2] ? 1 : 0);
    ++counts.at(static_cast<std::size_t>(permutation));
  }
  EXPECT_LT(chi_squared(counts, 1000), chi_squared_limit(6));
}

TEST(Random, TheSystemGivesAnotherSeedEachTime) {
  EXPECT_NE(Random::from_system().next(), Random::from_system().next());
}

}  // namespace
}  // namespace meguri::env
