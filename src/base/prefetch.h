// prefetch: brings memory into the processor's caches before it is needed.
#pragma once

namespace meguri::base {

// A hint; any address may be given. The empty statement keeps it: GCC takes a function that does
// nothing but __builtin_prefetch for one without effect, and leaves calls of it out.
inline void prefetch(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");  // NOLINT(hicpp-no-assembler): emits nothing
}

}  // namespace meguri::base
