// What our own work costs. Not a clock: nothing may depend on it but figures for people.
#pragma once

#include <cstdint>

namespace meguri::env {

// Nanoseconds of CPU that the calling thread has used, in user mode and in the kernel.
std::int64_t thread_cpu_nanoseconds();

}  // namespace meguri::env
