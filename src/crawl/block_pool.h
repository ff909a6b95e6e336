// BlockPool: the memory of HatTrie: pieces of many sizes on large pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace meguri::crawl {

// Where a table is far larger than the processor's caches, finding the page of an address costs as
// much as reading it: with pages of 2 MiB a trie of a million names takes half as many more in a
// second, and finds a quarter more. Asking malloc for such pages would cost the whole program
// memory.
//
// Memory is cut into sheets, each for pieces of one size; a sheet of which no piece is used serves
// another size. All memory goes with the pool. Thread-compatible.
class BlockPool {
 public:
  static constexpr std::size_t kAlignment = 16;  // of pieces

  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  void swap(BlockPool& other) noexcept;

  // At least so many bytes: as many as size_for() says.
  char* take(std::size_t bytes);
  // What take(bytes) returned.
  void give_back(char* piece, std::size_t bytes);
  // What a piece for so many bytes has: an eighth more at most, but for small ones.
  static std::size_t size_for(std::size_t bytes);

  // All that it has from the system, in use or not.
  std::size_t memory_bytes() const { return memory_bytes_; }
  // Of the pieces that are in use.
  std::size_t used_bytes() const { return used_bytes_; }

 private:
  struct Sheet;
  struct Chunk {
    char* memory = nullptr;
    std::size_t bytes = 0;
  };

  static constexpr std::size_t kSheetBytes = std::size_t{32} << 10U;
  static constexpr std::size_t kPieceBytesMax = std::size_t{8} << 10U;  // larger ones are malloc's
  static constexpr std::size_t kClasses = 57;

  static std::size_t class_of(std::size_t bytes);
  static std::size_t size_of_class(std::size_t size_class);
  static Sheet* sheet_of(char* piece);

  Sheet* take_sheet(std::size_t size_class);
  void add_chunk();
  void link(Sheet& sheet);
  void unlink(Sheet& sheet);

  std::vector<Chunk> chunks_;
  std::size_t chunk_used_ = 0;  // of the last one
  std::vector<Sheet*> empty_;
  std::array<Sheet*, kClasses> with_room_{};
  std::unordered_set<char*> large_;  // pieces of malloc's
  std::size_t memory_bytes_ = 0;
  std::size_t used_bytes_ = 0;
};

}  // namespace meguri::crawl
