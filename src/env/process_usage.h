// ProcessUsage: what this process takes of its machine, for the metrics.
#pragma once

#include <cstdint>

namespace meguri::env {

struct ProcessUsage {
  double cpu_seconds = 0;  // user and system
  std::uint64_t resident_bytes = 0;
  std::uint64_t address_bytes = 0;  // mapped, used or not
  std::uint64_t open_files = 0;     // and sockets
  std::uint64_t open_files_max = 0;
};

// What cannot be found out is 0. Any thread.
ProcessUsage process_usage();

// Lets this process have as many files and sockets open as the system allows it; by itself it has
// 1,024 on most.
void raise_open_files_max();

}  // namespace meguri::env
