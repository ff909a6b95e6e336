#include "sim/dice.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace meguri::sim {
namespace {

TEST(Dice, FunctionsAreTheirs) {
  for (const double x : {1e-300, 1e-9, 0.1, 0.5, 0.7071, 0.9999, 1.0, 1.5, 2.0, 1e3, 1e300}) {
    EXPECT_NEAR(log_of(x), std::log(x), 1e-11 * std::max(1.0, std::abs(std::log(x)))) << x;
  }
  for (const double x : {-690.0, -10.0, -1.0, -0.1, 0.0, 1e-9, 0.5, 1.0, 10.0, 600.0}) {
    EXPECT_NEAR(exp_of(x) / std::exp(x), 1, 1e-12) << x;
  }
  EXPECT_EQ(exp_of(-1000), 0);
}

// The same bits on every machine, or every world is another one there.
TEST(Dice, GivesTheSameNumbersEverywhere) {
  Dice dice{1, 2, 3};
  EXPECT_EQ(dice.bits(), Dice({1, 2, 3}).bits());
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    sum += dice.exponential();
    sum += dice.log_normal(3, 1);
    sum += static_cast<double>(dice.poisson(Poisson(5)));
  }
  EXPECT_EQ(std::bit_cast<std::uint64_t>(sum), 4666083180159779044U);
}

TEST(Dice, KeysMatter) {
  EXPECT_NE(Dice({1, 2}).bits(), Dice({2, 1}).bits());
  EXPECT_NE(Dice({1}).bits(), Dice({1, 0}).bits());
}

TEST(Dice, DrawsHaveTheirMeans) {
  Dice dice{7};
  constexpr int kDraws = 200'000;
  double uniform = 0;
  double exponential = 0;
  double normal = 0;
  double squares = 0;
  double log_normal = 0;
  double poisson = 0;
  for (int i = 0; i < kDraws; ++i) {
    uniform += dice.uniform();
    exponential += dice.exponential();
    const double n = dice.normal();
    normal += n;
    squares += n * n;
    log_normal += dice.log_normal(10, 0.8);
    poisson += static_cast<double>(dice.poisson(Poisson(16)));
  }
  EXPECT_NEAR(uniform / kDraws, 0.5, 0.005);
  EXPECT_NEAR(exponential / kDraws, 1, 0.01);
  EXPECT_NEAR(normal / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(log_normal / kDraws, 10, 0.15);
  EXPECT_NEAR(poisson / kDraws, 16, 0.05);
}

TEST(Dice, BelowIsBelow) {
  Dice dice{9};
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts.at(dice.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(Shuffle, IsAPermutationWithItsInverse) {
  for (const std::uint64_t n : {1U, 2U, 3U, 10U, 64U, 65U, 1000U, 4097U}) {
    const Shuffle shuffle(n * 31, n);
    std::vector<bool> seen(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t to = shuffle(i);
      ASSERT_LT(to, n);
      EXPECT_FALSE(seen[to]);
      seen[to] = true;
      EXPECT_EQ(shuffle.inverse(to), i);
    }
  }
}

}  // namespace
}  // namespace meguri::sim
