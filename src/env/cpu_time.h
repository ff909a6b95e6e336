// What our own work costs, and that of programs we start. Not a clock: nothing may depend on it but
// figures for people and limits of how much a program may use.
#pragma once

#include <cstdint>
#include <optional>

namespace meguri::env {

// Nanoseconds of CPU that the calling thread has used, in user mode and in the kernel.
std::int64_t thread_cpu_nanoseconds();

// Likewise of all threads of a process. Nullopt: there is none with this number.
std::optional<std::int64_t> process_cpu_nanoseconds(int process);

}  // namespace meguri::env
