// IndexTable: from 64-bit keys to the 32-bit indices of the records that hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "base/huge_pages.h"
#include "crawl/slab.h"

namespace meguri::crawl {

// Open addressing in slots of eight bytes: an index and 32 bits of the key's hash. The key itself
// stays in the record, which a caller reads next anyway; `key_of(index)` fetches it for the rare
// comparison. Ten million keys take 134 MB. Growing rebuilds the table, so the call that makes it
// grow takes as long as all keys do. Thread-compatible.
class IndexTable {
 public:
  // kNoIndex if there is none.
  template <typename KeyOf>
  Index find(std::uint64_t key, const KeyOf& key_of) const {
    const std::size_t at = locate(key, key_of);
    return slots_.empty() ? kNoIndex : slots_[at].index;
  }

  // Requires that the key is not there.
  void insert(std::uint64_t key, Index index) {
    if ((size_ + 1) * 5 > slots_.size() * 4) grow();
    place({tag_of(key), index});
    ++size_;
  }

  // Requires that the key is there. The slots behind move up, so that no tombstones stay.
  template <typename KeyOf>
  void erase(std::uint64_t key, const KeyOf& key_of) {
    std::size_t hole = locate(key, key_of);
    CHECK(slots_[hole].index != kNoIndex);
    for (std::size_t at = (hole + 1) & mask(); slots_[at].index != kNoIndex;
         at = (at + 1) & mask()) {
      const std::size_t from_home = (at - slots_[at].tag) & mask();
      if (from_home < ((at - hole) & mask())) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
    --size_;
  }

  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    Index index = kNoIndex;
  };
  using Slots = std::vector<Slot, base::HugePageAllocator<Slot>>;
  static constexpr std::size_t kSlotsMin = 16;

  static std::uint32_t tag_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(base::mix64(key));
  }
  std::size_t mask() const { return slots_.size() - 1; }

  // The slot of the key, or the empty one where it would go.
  template <typename KeyOf>
  std::size_t locate(std::uint64_t key, const KeyOf& key_of) const {
    if (slots_.empty()) return 0;
    const std::uint32_t tag = tag_of(key);
    std::size_t at = tag & mask();
    while (slots_[at].index != kNoIndex) {
      if (slots_[at].tag == tag && key_of(slots_[at].index) == key) break;
      at = (at + 1) & mask();
    }
    return at;
  }

  void place(Slot slot) {
    std::size_t at = slot.tag & mask();
    while (slots_[at].index != kNoIndex) at = (at + 1) & mask();
    slots_[at] = slot;
  }

  void grow() {
    Slots old(slots_.empty() ? kSlotsMin : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.index != kNoIndex) place(slot);
    }
  }

  Slots slots_;  // a power of two, at most four fifths taken
  std::size_t size_ = 0;
};

}  // namespace meguri::crawl
