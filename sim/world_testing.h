// A small virtual web for tests, and when it begins.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "sim/world.h"

namespace meguri::sim {

inline constexpr base::Instant kTestStart = base::Instant::from_ms(1'767'225'600'000);  // 2026
inline constexpr base::Instant kTestNow = kTestStart + base::Duration::days(30);

inline WorldOptions test_world(std::uint64_t hosts = 150, std::uint64_t pages = 3'000,
                               std::uint64_t seed = 1) {
  WorldOptions options;
  options.census.hosts = hosts;
  options.census.pages = pages;
  options.census.seed = seed;
  options.start = kTestStart;
  return options;
}

}  // namespace meguri::sim
