// How long things take.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "env/clock.h"

namespace meguri::bench {

inline constexpr std::size_t kRounds = 3;  // the best of which counts

inline double seconds_of(const std::function<void()>& work) {
  const env::RealClock clock;
  const std::int64_t start = clock.nanoseconds();
  work();
  return static_cast<double>(clock.nanoseconds() - start) / 1e9;
}

// The same in CPU time of this thread. For work of one thread that waits for nothing: what else
// runs on the machine does not count then.
inline double cpu_seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double start = now();
  work();
  return now() - start;
}

// `amount` per second, in the best of kRounds; `seconds` runs it once and says how long it took.
inline double best_rate(double amount, const std::function<double()>& seconds) {
  double best = 0;
  for (std::size_t i = 0; i < kRounds; ++i) best = std::max(best, amount / seconds());
  return best;
}

}  // namespace meguri::bench
