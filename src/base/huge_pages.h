// HugePageAllocator: memory for large arrays that are read at random.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace meguri::base {

// Where an array is far larger than the processor's caches, finding the page of an address costs as
// much as reading it; with pages of 2 MiB the schedule of a million servers is 1.6 times as fast.
// Small arrays get ordinary memory. The kernel may decline, and nothing breaks.
template <typename T>
struct HugePageAllocator {
  using value_type = T;

  HugePageAllocator() = default;
  template <typename Other>
  // NOLINTNEXTLINE(google-explicit-constructor): what the standard asks of allocators.
  HugePageAllocator(const HugePageAllocator<Other>& /*other*/) {}

  // Without `huge`: for an array of which perhaps little is used.
  T* allocate(std::size_t count, bool huge = true) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kBytesMin) return static_cast<T*>(::operator new(bytes, kAlignment));
    void* const memory = ::operator new(bytes, std::align_val_t{kPageBytes});
    if (huge) ::madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kBytesMin) {
      ::operator delete(memory, kAlignment);
    } else {
      ::operator delete(memory, std::align_val_t{kPageBytes});
    }
  }

  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }

 private:
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20U;
  static constexpr std::size_t kBytesMin = kPageBytes / 2;
  static constexpr std::align_val_t kAlignment{
      std::max<std::size_t>(alignof(T), __STDCPP_DEFAULT_NEW_ALIGNMENT__)};
};

// An array of bytes in such memory, which are not set.
struct HugeDelete {
  std::size_t count = 0;
  void operator()(char* memory) const { HugePageAllocator<char>().deallocate(memory, count); }
};
using HugeBytes = std::unique_ptr<char[], HugeDelete>;
inline HugeBytes make_huge_bytes(std::size_t count) {
  return HugeBytes(HugePageAllocator<char>().allocate(count), HugeDelete{count});
}

}  // namespace meguri::base
