// How much memory a structure has taken from malloc.
#pragma once

#include <malloc.h>

#include <cstddef>

namespace meguri::bench {

// Bytes that malloc has given out now, with its own headers. Differences of it are what a structure
// takes, as long as nothing else allocates meanwhile.
inline std::size_t allocated_now() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace meguri::bench
