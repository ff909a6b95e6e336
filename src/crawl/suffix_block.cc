#include "crawl/suffix_block.h"

#include <algorithm>
#include <bit>
#include <new>

#include "base/hash.h"

namespace meguri::crawl {

namespace {

constexpr std::size_t kBucketEntriesMax = 4;  // on average; half of that after growing

template <typename T>
std::uint64_t load(const char* at) {
  T value = 0;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Most suffixes are short: for these it needs no call, and is on no disk.
std::uint64_t hash_of(std::string_view suffix) {
  const char* const begin = suffix.data();
  const char* const end = begin + suffix.size();
  if (suffix.size() > 16) return base::hash64(suffix);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (suffix.size() >= 8) {
    first = load<std::uint64_t>(begin);
    last = load<std::uint64_t>(end - 8);
  } else if (suffix.size() >= 4) {
    first = load<std::uint32_t>(begin);
    last = load<std::uint32_t>(end - 4);
  } else if (!suffix.empty()) {
    first = load<std::uint8_t>(begin) | load<std::uint8_t>(begin + suffix.size() / 2) << 8U;
    last = load<std::uint8_t>(end - 1);
  }
  return base::mix64(first ^ std::rotl(last * 0x9e3779b97f4a7c15ULL, 29) ^ suffix.size());
}

}  // namespace

SuffixBlock* SuffixBlock::make(BlockPool& pool) { return allocate(pool, 0, 0); }

void SuffixBlock::free(BlockPool& pool, SuffixBlock* block) {
  const std::size_t bytes = fixed_bytes(block->bucket_bits_) + block->capacity_;
  pool.give_back(reinterpret_cast<char*>(block), bytes);
}

std::size_t SuffixBlock::fixed_bytes(std::size_t bucket_bits) {
  return sizeof(SuffixBlock) + ((std::size_t{1} << bucket_bits) + 1) * sizeof(std::uint16_t);
}

// The capacity is what the pool gives anyway.
SuffixBlock* SuffixBlock::allocate(BlockPool& pool, std::size_t bucket_bits, std::size_t capacity) {
  const std::size_t fixed = fixed_bytes(bucket_bits);
  const std::size_t bytes = BlockPool::size_for(fixed + capacity);
  auto* const block = new (pool.take(bytes)) SuffixBlock;
  block->bucket_bits_ = static_cast<std::uint8_t>(bucket_bits);
  block->capacity_ = static_cast<std::uint16_t>(bytes - fixed);
  std::fill_n(block->starts(), (std::size_t{1} << bucket_bits) + 1, std::uint16_t{0});
  return block;
}

std::size_t SuffixBlock::entry_bytes(std::string_view suffix) {
  return suffix.size() + (suffix.size() < kLongLength ? 1 : 3) + sizeof(std::uint32_t);
}

std::size_t SuffixBlock::bucket_of(std::string_view suffix, std::size_t bucket_bits) {
  return hash_of(suffix) & ((std::size_t{1} << bucket_bits) - 1);
}

const char* SuffixBlock::locate(std::string_view suffix, std::size_t bucket_bits) const {
  const std::size_t bucket = bucket_of(suffix, bucket_bits);
  const auto* const all =
      reinterpret_cast<const char*>(starts() + (std::size_t{1} << bucket_bits) + 1);
  const char* at = all + starts()[bucket];
  const char* const end = all + starts()[bucket + 1];
  while (at < end) {
    if (take_suffix(at) == suffix) return at;
    at += sizeof(std::uint32_t);
  }
  return nullptr;
}

std::optional<std::uint32_t> SuffixBlock::find(std::string_view suffix,
                                               std::size_t bucket_bits) const {
  const char* at = locate(suffix, bucket_bits);
  if (at == nullptr) return {};
  return take_value(at);
}

bool SuffixBlock::set(std::string_view suffix, std::uint32_t value) {
  const char* const at = locate(suffix, bucket_bits_);
  if (at == nullptr) return false;
  std::memcpy(entries() + (at - entries()), &value, sizeof(value));
  return true;
}

SuffixBlock* SuffixBlock::insert(BlockPool& pool, SuffixBlock* block, std::string_view suffix,
                                 std::uint32_t value) {
  const std::size_t needed = block->used_ + entry_bytes(suffix);
  const bool crowded = block->count_ >= kBucketEntriesMax << block->bucket_bits_;
  if (crowded || needed > block->capacity_) {
    const std::size_t bits = block->bucket_bits_ + (crowded ? 1U : 0U);
    SuffixBlock* const larger = rebuilt(pool, *block, bits, needed + needed / 16);
    free(pool, block);
    block = larger;
  }
  block->insert_here(suffix, value);
  return block;
}

SuffixBlock* SuffixBlock::rebuilt(BlockPool& pool, const SuffixBlock& block,
                                  std::size_t bucket_bits, std::size_t capacity) {
  SuffixBlock* const made = allocate(pool, bucket_bits, capacity);
  if (bucket_bits == block.bucket_bits_) {
    std::copy_n(block.starts(), block.buckets() + 1, made->starts());
    std::copy_n(block.entries(), block.used_, made->entries());
    made->count_ = block.count_;
    made->used_ = block.used_;
    return made;
  }
  block.for_each(
      [&](std::string_view suffix, std::uint32_t value) { made->insert_here(suffix, value); });
  return made;
}

// At the end of its bucket. Requires capacity.
void SuffixBlock::insert_here(std::string_view suffix, std::uint32_t value) {
  const std::size_t bucket = bucket_of(suffix, bucket_bits_);
  const std::size_t size = entry_bytes(suffix);
  const std::size_t offset = starts()[bucket + 1];
  char* at = entries() + offset;
  std::memmove(at + size, at, used_ - offset);
  for (std::size_t i = bucket + 1; i <= buckets(); ++i) {
    starts()[i] = static_cast<std::uint16_t>(starts()[i] + size);
  }
  if (suffix.size() < kLongLength) {
    *at++ = static_cast<char>(suffix.size());
  } else {
    *at++ = static_cast<char>(kLongLength);
    const auto length = static_cast<std::uint16_t>(suffix.size());
    std::memcpy(at, &length, sizeof(length));
    at += sizeof(length);
  }
  at = std::copy(suffix.begin(), suffix.end(), at);
  std::memcpy(at, &value, sizeof(value));
  used_ = static_cast<std::uint16_t>(used_ + size);
  ++count_;
}

bool SuffixBlock::erase(std::string_view suffix) {
  const std::size_t bucket = bucket_of(suffix, bucket_bits_);
  const char* const found = locate(suffix, bucket_bits_);
  if (found == nullptr) return false;
  const std::size_t size = entry_bytes(suffix);
  char* const after = entries() + (found - entries()) + sizeof(std::uint32_t);
  const auto behind = static_cast<std::size_t>(entries() + used_ - after);
  std::memmove(after - size, after, behind);
  for (std::size_t i = bucket + 1; i <= buckets(); ++i) {
    starts()[i] = static_cast<std::uint16_t>(starts()[i] - size);
  }
  used_ = static_cast<std::uint16_t>(used_ - size);
  --count_;
  return true;
}

}  // namespace meguri::crawl
