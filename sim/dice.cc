#include "sim/dice.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"

namespace meguri::sim {
namespace {

constexpr double kLn2 = 0.6931471805599453;
constexpr int kShuffleRounds = 4;

}  // namespace

// x = m * 2^e with m in [1/sqrt 2, sqrt 2); ln m = 2 atanh((m - 1) / (m + 1)) by its series.
double log_of(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  if (m < 0.7071067811865476) {
    m *= 2;
    --exponent;
  }
  const double z = (m - 1) / (m + 1);
  const double square = z * z;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  const double two_z = 2 * z;
  const double scaled = exponent * kLn2;
  const double tail = two_z * sum;
  return scaled + tail;
}

// x = k ln 2 + r with |r| <= ln 2 / 2; exp r by its series.
double exp_of(double x) {
  if (x < -700) return 0;
  x = std::min(x, 700.0);
  const double k = std::floor(x / kLn2 + 0.5);
  const double shift = k * kLn2;
  const double r = x - shift;
  double sum = 1;
  for (int i = 16; i >= 1; --i) {
    const double term = r * sum;
    sum = 1 + term / i;
  }
  return std::ldexp(sum, static_cast<int>(k));  // exact
}

// The sum of twelve uniforms, which needs no function at all; its tails end at 6 deviations.
double Dice::normal() {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += uniform();
  return sum;
}

std::uint64_t Dice::poisson(const Poisson& process) {
  std::uint64_t n = 0;
  for (double product = uniform(); product > process.limit_; product *= uniform()) ++n;
  return n;
}

Shuffle::Shuffle(std::uint64_t seed, std::uint64_t n) : seed_(seed), n_(n) {
  CHECK(n > 0);
  const auto bits = static_cast<unsigned>(std::bit_width(n - 1));
  half_bits_ = bits < 2 ? 1 : (bits + 1) / 2;
}

std::uint64_t Shuffle::round(std::uint64_t half, int i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  return base::mix64(seed_ ^ (half * 4 + static_cast<std::uint64_t>(i) + 1)) & mask;
}

// A Feistel network over at most 4 n numbers.
std::uint64_t Shuffle::once(std::uint64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = i >> half_bits_;
  std::uint64_t right = i & mask;
  for (int k = 0; k < kShuffleRounds; ++k) {
    const std::uint64_t next = left ^ round(right, k);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

std::uint64_t Shuffle::once_back(std::uint64_t i) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = i >> half_bits_;
  std::uint64_t right = i & mask;
  for (int k = kShuffleRounds - 1; k >= 0; --k) {
    const std::uint64_t before = right ^ round(left, k);
    right = left;
    left = before;
  }
  return (left << half_bits_) | right;
}

// Numbers beyond n are walked over until one lands within.
std::uint64_t Shuffle::operator()(std::uint64_t i) const {
  CHECK(i < n_);
  do {
    i = once(i);
  } while (i >= n_);
  return i;
}

std::uint64_t Shuffle::inverse(std::uint64_t i) const {
  CHECK(i < n_);
  do {
    i = once_back(i);
  } while (i >= n_);
  return i;
}

}  // namespace meguri::sim
