// Slab: records addressed by 32-bit indices, and IndexList: lists threaded through them. Ten
// million small records with links cost half of what pointers and an allocator would take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/huge_pages.h"

namespace meguri::crawl {

using Index = std::uint32_t;
inline constexpr Index kNoIndex = ~Index{0};

// Grows by chunks and never moves a record. T has a member `Index next`, which the slab uses while
// the record is free. Memory of freed records is kept for later ones. Thread-compatible.
template <typename T>
class Slab {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    for (T* const chunk : chunks_) Memory().deallocate(chunk, kChunkRecords);
  }

  T& operator[](Index i) { return chunks_[i >> kChunkBits][i & kChunkMask]; }
  const T& operator[](Index i) const { return chunks_[i >> kChunkBits][i & kChunkMask]; }

  // A record as T{} makes it.
  Index make() {
    ++size_;
    if (free_ != kNoIndex) {
      const Index i = free_;
      free_ = (*this)[i].next;
      (*this)[i] = T{};
      return i;
    }
    CHECK(used_ < kNoIndex);
    // Of the first chunk only what is used is touched: most schedules are small.
    if ((used_ & kChunkMask) == 0) {
      chunks_.push_back(Memory().allocate(kChunkRecords, !chunks_.empty()));
    }
    new (&(*this)[used_]) T{};
    return used_++;
  }

  void free(Index i) {
    (*this)[i].next = free_;
    free_ = i;
    --size_;
  }

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return chunks_.size() * kChunkRecords * sizeof(T); }

 private:
  using Memory = base::HugePageAllocator<T>;
  static constexpr std::uint32_t kChunkBits = 17;
  static constexpr std::size_t kChunkRecords = std::size_t{1} << kChunkBits;
  static constexpr Index kChunkMask = kChunkRecords - 1;

  std::vector<T*> chunks_;
  Index used_ = 0;
  Index free_ = kNoIndex;
  std::size_t size_ = 0;
};

// A list through records with `Index prev` and `Index next`, each in one list at a time. It is a
// ring, so that four bytes know both ends. All calls are O(1).
class IndexList {
 public:
  bool empty() const { return head_ == kNoIndex; }
  Index front() const { return head_; }

  template <typename T>
  void push_back(Slab<T>& slab, Index i) {
    T& record = slab[i];
    if (head_ == kNoIndex) {
      record.prev = i;
      record.next = i;
      head_ = i;
      return;
    }
    T& head = slab[head_];
    record.prev = head.prev;
    record.next = head_;
    slab[head.prev].next = i;
    head.prev = i;
  }

  // Requires that `i` is in this list.
  template <typename T>
  void erase(Slab<T>& slab, Index i) {
    const T& record = slab[i];
    if (record.next == i) {
      head_ = kNoIndex;
      return;
    }
    slab[record.prev].next = record.next;
    slab[record.next].prev = record.prev;
    if (head_ == i) head_ = record.next;
  }

  template <typename T>
  Index pop_front(Slab<T>& slab) {
    const Index i = head_;
    erase(slab, i);
    return i;
  }

 private:
  Index head_ = kNoIndex;
};

}  // namespace meguri::crawl
