// use_large_pages(): what main() does first.
#pragma once

#ifdef MEGURI_MIMALLOC
#include <mimalloc.h>
#endif

namespace meguri::app {

// Asks the kernel for pages of 2 MiB for what the program allocates: tables of millions of hosts
// are read at random, and finding the page of an address costs as much as reading it.
inline void use_large_pages() {
#ifdef MEGURI_MIMALLOC
  mi_option_enable(mi_option_large_os_pages);
#endif
}

}  // namespace meguri::app
