#include "sat/bucket_index.h"

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
  char* at = bytes_.data() + std::size_t{seq} * kEntryBytes;
  at[0] = static_cast<char>(value);
  at[1] = static_cast<char>(value >> 8U);
  at[2] = static_cast<char>(value >> 16U);
}

Seq BucketIndex::add(Slot slot, std::uint32_t generation) {
  CHECK(size() < std::numeric_limits<Seq>::max(), "there are no more sequence numbers");
  const auto seq = static_cast<Seq>(size());
  bytes_.resize(bytes_.size() + kEntryBytes);
  set_entry(seq, pack(slot, generation));
  ++live_[slot];
  ++records_;
  return seq;
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

base::Status BucketIndex::assign(std::string_view bytes) {
  if (bytes.size() % kEntryBytes != 0) {
    return base::fail(base::ErrorCode::kCorrupt, "a bucket index of {} bytes is none",
                      bytes.size());
  }
  bytes_.assign(bytes.begin(), bytes.end());
  live_.assign(live_.size(), 0);
  records_ = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto seq = static_cast<Seq>(i);
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
