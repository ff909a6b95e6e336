#include "env/cpu_time.h"

#include <time.h>

namespace meguri::env {

std::int64_t thread_cpu_nanoseconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

}  // namespace meguri::env
