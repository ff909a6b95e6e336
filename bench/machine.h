// The machine a benchmark ran on.
#pragma once

#include <cstdint>
#include <string>

namespace meguri::bench {

struct Machine {
  std::string cpu;  // "unknown" where /proc does not say
  unsigned cores;   // that this process may use
  std::uint64_t memory_bytes;
  std::string kernel;
  std::string compiler;
};

Machine this_machine();

}  // namespace meguri::bench
