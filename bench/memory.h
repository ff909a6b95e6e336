// How much memory a structure takes.
#pragma once

#ifdef MEGURI_MIMALLOC
#include <mimalloc.h>
#else
#include <malloc.h>
#endif
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace meguri::bench {

// Bytes that this thread has been given and not given back, rounded up as malloc does. Differences
// of it are what a structure takes, as long as nothing else allocates meanwhile.
inline std::size_t allocated_now() {
#ifdef MEGURI_MIMALLOC
  std::size_t bytes = 0;
  const auto add = [](const mi_heap_t* /*heap*/, const mi_heap_area_t* area, void* /*block*/,
                      std::size_t /*size*/, void* sum) {
    *static_cast<std::size_t*>(sum) += area->used * area->full_block_size;
    return true;
  };
  mi_heap_visit_blocks(mi_heap_get_default(), false, add, &bytes);
  return bytes;
#else
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

// Bytes of this process that are in memory, after malloc has given back what it can.
inline std::size_t resident_now() {
#ifdef MEGURI_MIMALLOC
  mi_collect(true);
#else
  ::malloc_trim(0);
#endif
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace meguri::bench
