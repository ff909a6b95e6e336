// SuffixBlock: the leaves of HatTrie: some hundred ends of keys with their values, in one piece of
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "crawl/block_pool.h"

namespace meguri::crawl {

// An array hash: the entries of one bucket stand one after another, about three of them, so a
// bucket costs two bytes and a search reads one or two cache lines. An insertion moves what stands
// behind it. The starts of the buckets and the entries follow the header:
//
//   starts   2 bytes for each bucket and one for the end, from the first entry on
//   entries  length (1 byte, or 255 and 2 bytes), suffix, value (4 bytes)
//
// Owned by the trie, in whose pool they are. Thread-compatible.
class SuffixBlock {
 public:
  static constexpr std::size_t kEntriesMax = 384;
  static constexpr std::size_t kBucketBitsMax = 7;
  static constexpr std::size_t kBytesMax =
      std::size_t{32} * 1024;  // of entries; one more must fit 16 bits

  static SuffixBlock* make(BlockPool& pool);
  static void free(BlockPool& pool, SuffixBlock* block);

  std::size_t count() const { return count_; }

  std::optional<std::uint32_t> find(std::string_view suffix) const {
    return find(suffix, bucket_bits_);
  }
  // The same for who knows bucket_bits() already: it does not read the header.
  std::optional<std::uint32_t> find(std::string_view suffix, std::size_t bucket_bits) const;
  // At most kBucketBitsMax.
  std::size_t bucket_bits() const { return bucket_bits_; }
  // Returns false if it is not there.
  bool set(std::string_view suffix, std::uint32_t value);
  bool has_room(std::string_view suffix) const {
    return count_ < kEntriesMax && used_ + entry_bytes(suffix) <= kBytesMax;
  }
  // Requires room and that the suffix is not there. Returns the block, which may have moved.
  static SuffixBlock* insert(BlockPool& pool, SuffixBlock* block, std::string_view suffix,
                             std::uint32_t value);
  bool erase(std::string_view suffix);

  // In no order. The suffixes die with the next change.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    const char* at = entries();
    const char* const end = at + used_;
    while (at < end) {
      const std::string_view suffix = take_suffix(at);
      visit(suffix, take_value(at));
    }
  }

 private:
  static std::size_t entry_bytes(std::string_view suffix);
  static std::size_t fixed_bytes(std::size_t bucket_bits);  // before the entries
  static SuffixBlock* allocate(BlockPool& pool, std::size_t bucket_bits, std::size_t capacity);
  static SuffixBlock* rebuilt(BlockPool& pool, const SuffixBlock& block, std::size_t bucket_bits,
                              std::size_t capacity);

  static std::string_view take_suffix(const char*& at) {
    std::size_t length = static_cast<unsigned char>(*at++);
    if (length == kLongLength) [[unlikely]] {
      std::uint16_t longer = 0;
      std::memcpy(&longer, at, sizeof(longer));
      at += sizeof(longer);
      length = longer;
    }
    const std::string_view suffix(at, length);
    at += length;
    return suffix;
  }
  static std::uint32_t take_value(const char*& at) {
    std::uint32_t value = 0;
    std::memcpy(&value, at, sizeof(value));
    at += sizeof(value);
    return value;
  }

  std::size_t buckets() const { return std::size_t{1} << bucket_bits_; }
  static std::size_t bucket_of(std::string_view suffix, std::size_t bucket_bits);
  // The value of a suffix, or nullptr.
  const char* locate(std::string_view suffix, std::size_t bucket_bits) const;
  void insert_here(std::string_view suffix, std::uint32_t value);

  std::uint16_t* starts() { return reinterpret_cast<std::uint16_t*>(this + 1); }
  const std::uint16_t* starts() const { return reinterpret_cast<const std::uint16_t*>(this + 1); }
  char* entries() { return reinterpret_cast<char*>(starts() + buckets() + 1); }
  const char* entries() const { return reinterpret_cast<const char*>(starts() + buckets() + 1); }

  static constexpr unsigned char kLongLength = 255;

  std::uint8_t bucket_bits_ = 0;
  std::uint16_t count_ = 0;
  std::uint16_t used_ = 0;      // bytes of entries
  std::uint16_t capacity_ = 0;  // bytes that entries may take here
};

}  // namespace meguri::crawl
