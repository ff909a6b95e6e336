// BucketIndex: in which slot each record is. Three bytes a record, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/huge_pages.h"
#include "base/prefetch.h"
#include "base/result.h"
#include "sat/record.h"
#include "sat/time_layout.h"

namespace meguri::sat {

// A slot, and the last bits of the generation of the copy that counts there. A layout with few
// slots leaves more bits to the generation.
struct Place {
  Slot slot = 0;
  std::uint32_t generation = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

// Knows for every sequence number where its record is, and for every slot how many records are
// there. Thread-compatible.
class BucketIndex {
 public:
  // Requires slots <= TimeLayout::kSlotsMax + a few.
  explicit BucketIndex(std::uint32_t slots);

  std::uint32_t slots() const { return static_cast<std::uint32_t>(live_.size()); }
  std::size_t size() const { return size_; }  // removed ones included

  Seq add(Slot slot, std::uint32_t generation);
  void move(Seq seq, Slot slot, std::uint32_t generation);
  void remove(Seq seq);

  bool has(Seq seq) const { return seq < size() && entry(seq) != kRemoved; }
  Slot slot_of(Seq seq) const { return entry(seq) >> generation_bits_; }  // requires has(seq)
  // Whether the copy with this generation in this slot is the record.
  bool counts(Seq seq, Slot slot, std::uint32_t generation) const {
    return seq < size() && entry(seq) == pack(slot, generation);
  }
  // The last bits of the generation of the copy that counts. Requires has(seq).
  std::uint32_t generation_of(Seq seq) const { return entry(seq) & (generations() - 1); }
  // Two generations this far apart cannot be told from each other here.
  std::uint32_t generations() const { return 1U << generation_bits_; }

  std::uint64_t live(Slot slot) const { return live_[slot]; }  // records in a slot
  std::uint64_t records() const { return records_; }

  // Brings an entry into the cache. Any number may be asked for.
  void prefetch(Seq seq) const {
    if (seq < size_) base::prefetch(at(seq));
  }

  std::size_t byte_count() const { return size_ * kEntryBytes; }
  std::size_t memory_bytes() const;
  // The bytes of all entries, for a file, in so many parts; and back, one part after another into
  // an empty index. kCorrupt: they name slots that do not exist.
  std::size_t parts() const { return (byte_count() + kPartBytes - 1) / kPartBytes; }
  std::string_view part(std::size_t i) const;
  base::Status append_part(std::string_view bytes);

 private:
  static constexpr std::size_t kEntryBytes = 3;
  static constexpr std::uint32_t kChunkBits = 21;  // three large pages of memory
  static constexpr std::size_t kChunkEntries = std::size_t{1} << kChunkBits;
  static constexpr std::size_t kChunkBytes = kChunkEntries * kEntryBytes;
  static constexpr std::size_t kPartBytes = kChunkBytes / 8;
  static constexpr std::uint32_t kRemoved = 0xff'ffff;

  std::uint32_t pack(Slot slot, std::uint32_t generation) const {
    return slot << generation_bits_ | (generation & (generations() - 1));
  }
  std::uint32_t entry(Seq seq) const {
    const char* bytes = at(seq);
    return static_cast<std::uint8_t>(bytes[0]) |
           std::uint32_t{static_cast<std::uint8_t>(bytes[1])} << 8U |
           std::uint32_t{static_cast<std::uint8_t>(bytes[2])} << 16U;
  }
  char* at(Seq seq) const {
    return chunks_[seq >> kChunkBits].get() + (seq & (kChunkEntries - 1)) * kEntryBytes;
  }
  Seq push(std::uint32_t value);
  void set_entry(Seq seq, std::uint32_t value);

  std::uint32_t generation_bits_;
  // Memory grows by a chunk, and nothing is ever copied.
  std::vector<base::HugeBytes> chunks_;
  std::size_t size_ = 0;
  std::vector<std::uint64_t> live_;
  std::uint64_t records_ = 0;
};

}  // namespace meguri::sat
