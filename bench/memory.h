// How much memory a structure takes.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace meguri::bench {

// Bytes that malloc has given out now, with its own headers. Differences of it are what a structure
// takes, as long as nothing else allocates meanwhile.
inline std::size_t allocated_now() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Bytes of this process that are in memory, after malloc has given back what it can.
inline std::size_t resident_now() {
  ::malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace meguri::bench
