#include "env/cpu_time.h"

#include <ctime>

namespace meguri::env {

namespace {

std::int64_t nanoseconds_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t thread_cpu_nanoseconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return nanoseconds_of(used);
}

std::optional<std::int64_t> process_cpu_nanoseconds(int process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return std::nullopt;
  }
  return nanoseconds_of(used);
}

}  // namespace meguri::env
