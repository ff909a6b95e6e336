// Random: a small seeded generator (xoshiro256**). The only source of chance in the product.
#pragma once

#include <array>
#include <cstdint>

namespace meguri::env {

// Equal seeds give equal sequences on every machine. Not for secrets. Thread-compatible: give each
// module instance its own, by split().
class Random {
 public:
  using result_type = std::uint64_t;

  explicit Random(std::uint64_t seed);
  static Random from_system();  // seeded by the operating system

  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), unbiased; requires bound > 0
  std::uint64_t between(std::uint64_t low, std::uint64_t high);  // uniform in [low, high]
  double uniform();                                              // in [0, 1)
  double exponential(double mean);
  double normal();  // mean 0, variance 1
  bool chance(double probability);
  Random split();  // an independent generator

  // For std::shuffle and the like.
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return ~0ULL; }
  result_type operator()() { return next(); }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace meguri::env
