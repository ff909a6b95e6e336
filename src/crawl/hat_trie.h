// HatTrie: from many short texts to numbers, in about the space of the texts. Made for the host
// names of a crawl (papers 002 and 004), whose keys crawl/host_key.h makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crawl/block_pool.h"
#include "crawl/suffix_block.h"

namespace meguri::crawl {

// A burst trie over array hashes (Askitis and Sinha 2007): branches by one byte lead to blocks of a
// few hundred ends of keys; a full block bursts into a branch with smaller blocks. What all keys of
// a block have in common becomes a chain, so that long common beginnings cost their bytes and no
// more. Any bytes may be in a key, also none at all.
//
// Debian has a HAT-trie (libhat-trie); its values and its empty branches are larger, and
// `meguri bench hosts` measures both. Thread-compatible.
class HatTrie {
 public:
  static constexpr std::size_t kKeyBytesMax = 4096;

  // Return false to end the walk.
  using Visit = std::function<bool(std::string_view key, std::uint32_t value)>;

  HatTrie() = default;
  HatTrie(HatTrie&& other) noexcept { swap(other); }
  HatTrie& operator=(HatTrie&& other) noexcept {
    swap(other);
    return *this;
  }
  HatTrie(const HatTrie&) = delete;
  HatTrie& operator=(const HatTrie&) = delete;
  ~HatTrie() = default;  // all its memory is the pool's

  // True: the key is new. Requires key.size() <= kKeyBytesMax.
  bool put(std::string_view key, std::uint32_t value);
  std::optional<std::uint32_t> get(std::string_view key) const;
  bool erase(std::string_view key);  // false: it was not there
  void clear();

  // In the order of the keys' bytes, those that begin with `prefix`. The key passed dies with the
  // call; the trie must not change meanwhile.
  void for_each(std::string_view prefix, const Visit& visit) const;
  void for_each(const Visit& visit) const { for_each({}, visit); }

  std::size_t size() const { return size_; }
  // All that it has from the system, also what is free of it.
  std::size_t memory_bytes() const { return pool_.memory_bytes(); }
  std::size_t used_bytes() const { return pool_.used_bytes(); }

  // All of it as bytes with a checksum, keys in order, each without what it shares with the one
  // before it; and back. kCorrupt for anything that encode() does not make.
  std::string encode() const;
  static base::Result<HatTrie> decode(std::string_view bytes);

 private:
  struct Branch;
  struct Chain;

  // A piece of the trie and what kind it is, in the low bits of its address, so that a search need
  // not read a piece before it knows where in it to look.
  class Ref {
   public:
    enum Kind : unsigned { kNone, kNarrow, kWide, kChain, kBlock = 8 };  // a block's bits are added

    Ref() = default;
    Ref(Branch* branch, Kind kind);
    explicit Ref(Chain* chain);
    explicit Ref(SuffixBlock* block);

    explicit operator bool() const { return tagged_ != nullptr; }
    bool is_block() const { return tag() >= kBlock; }
    bool is_branch() const { return tag() == kNarrow || tag() == kWide; }
    bool is_narrow() const { return tag() == kNarrow; }
    std::size_t bucket_bits() const { return tag() - kBlock; }
    Branch* branch() const;
    Chain* chain() const;
    SuffixBlock* block() const;

   private:
    unsigned tag() const {
      return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(tagged_) % 16);
    }
    char* tagged_ = nullptr;
  };

  void swap(HatTrie& other) noexcept;
  Ref make_branch(bool narrow);
  Ref make_chain(std::string_view bytes, Ref child);
  Ref insert(Ref block, std::string_view suffix, std::uint32_t value);
  void free_node(Ref node);

  Ref& child_of(Ref& slot, unsigned char byte);
  Ref split(Ref chain, std::size_t at);
  Ref burst(Ref block);
  bool erase_at(Ref& slot, std::string_view rest);
  bool walk(Ref node, std::string& path, std::string_view prefix, const Visit& visit) const;
  static bool walk_block(const SuffixBlock& block, std::string& path, std::string_view prefix,
                         const Visit& visit);

  BlockPool pool_;
  Ref root_;
  std::size_t size_ = 0;
};

}  // namespace meguri::crawl
