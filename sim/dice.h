// Dice: chance that is a function of what it is asked about, so that a world needs no memory. All
// arithmetic here gives the same bits on every machine: no library function whose last digit may
// differ, and no fused operations.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "base/hash.h"

namespace meguri::sim {

// Natural logarithm and exponential, good to about 1e-12, and the same everywhere.
double log_of(double x);  // requires a finite x > 0
double exp_of(double x);  // 0 below -700, the value at 700 above
inline double power_of(double x, double exponent) { return exp_of(exponent * log_of(x)); }

// A stream of numbers that depends on nothing but its keys. Draws must not stand in one list of
// arguments: compilers evaluate those in different orders.
class Dice {
 public:
  // Keys say what the dice are for: a constant for the purpose, then the things it concerns.
  Dice(std::initializer_list<std::uint64_t> keys) {
    for (const std::uint64_t key : keys) state_ = base::mix64(state_ ^ base::mix64(key));
  }

  std::uint64_t bits() { return base::mix64(state_ += 0x9e3779b97f4a7c15ULL); }
  double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }  // [0, 1)
  std::uint64_t below(std::uint64_t n) {  // requires 0 < n < 2^53
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(n));
  }
  bool chance(double probability) { return uniform() < probability; }

  double exponential() { return -log_of(1 - uniform()); }  // mean 1
  double normal();                                         // mean 0, deviation 1
  double log_normal(double mean, double sigma) {
    return mean * exp_of(sigma * normal() - sigma * sigma / 2);
  }
  // As many as a Poisson process of some mean has in its unit of time.
  std::uint64_t poisson(const class Poisson& process);

 private:
  std::uint64_t state_ = 0x6d65677572690001ULL;
};

// A Poisson process by its mean, which may be some hundreds. To make one costs more than to draw.
class Poisson {
 public:
  explicit Poisson(double mean) : limit_(exp_of(-mean)) {}

 private:
  friend class Dice;
  double limit_;
};

// A permutation of [0, n) chosen by a seed, and its inverse; without memory.
class Shuffle {
 public:
  Shuffle(std::uint64_t seed, std::uint64_t n);
  std::uint64_t operator()(std::uint64_t i) const;  // requires i < n
  std::uint64_t inverse(std::uint64_t i) const;

 private:
  std::uint64_t round(std::uint64_t half, int i) const;
  std::uint64_t once(std::uint64_t i) const;
  std::uint64_t once_back(std::uint64_t i) const;

  std::uint64_t seed_;
  std::uint64_t n_;
  unsigned half_bits_ = 1;
};

}  // namespace meguri::sim
