#include "sat/bucket_index.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"

namespace meguri::sat {

BucketIndex::BucketIndex(std::uint32_t slots)
    // The last slot number is left out, because kRemoved has it.
    : generation_bits_(24 - static_cast<std::uint32_t>(std::bit_width(slots))), live_(slots) {
  CHECK(slots > 0 && slots < (1U << 22U), "slots must leave bits for generations");
}

void BucketIndex::set_entry(Seq seq, std::uint32_t value) {
  char* bytes = at(seq);
  bytes[0] = static_cast<char>(value);
  bytes[1] = static_cast<char>(value >> 8U);
  bytes[2] = static_cast<char>(value >> 16U);
}

Seq BucketIndex::push(std::uint32_t value) {
  CHECK(size_ < std::numeric_limits<Seq>::max(), "there are no more sequence numbers");
  if (size_ % kChunkEntries == 0) {
    chunks_.push_back(base::make_huge_bytes(kChunkBytes));
  }
  const auto seq = static_cast<Seq>(size_++);
  set_entry(seq, value);
  return seq;
}

Seq BucketIndex::add(Slot slot, std::uint32_t generation) {
  ++live_[slot];
  ++records_;
  return push(pack(slot, generation));
}

void BucketIndex::move(Seq seq, Slot slot, std::uint32_t generation) {
  --live_[slot_of(seq)];
  ++live_[slot];
  set_entry(seq, pack(slot, generation));
}

void BucketIndex::remove(Seq seq) {
  --live_[slot_of(seq)];
  --records_;
  set_entry(seq, kRemoved);
}

std::string_view BucketIndex::part(std::size_t i) const {
  const std::size_t at = i * kPartBytes;
  return {chunks_[at / kChunkBytes].get() + at % kChunkBytes,
          std::min(kPartBytes, byte_count() - at)};
}

// What has been written to, to the large page.
std::size_t BucketIndex::memory_bytes() const {
  constexpr std::size_t kPageBytes = kChunkBytes / 3;
  return (byte_count() + kPageBytes - 1) / kPageBytes * kPageBytes;
}

base::Status BucketIndex::append_part(std::string_view bytes) {
  if (bytes.size() % kEntryBytes != 0) {
    return base::fail(base::ErrorCode::kCorrupt, "{} bytes are no part of a bucket index",
                      bytes.size());
  }
  for (; !bytes.empty(); bytes.remove_prefix(kEntryBytes)) {
    const auto byte = [&](std::size_t i) {
      return std::uint32_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    };
    const Seq seq = push(byte(0) | byte(1) | byte(2));
    if (entry(seq) == kRemoved) continue;
    if (slot_of(seq) >= slots()) {
      return base::fail(base::ErrorCode::kCorrupt, "record {} is in slot {}, and there are {}", seq,
                        slot_of(seq), slots());
    }
    ++live_[slot_of(seq)];
    ++records_;
  }
  return {};
}

}  // namespace meguri::sat
