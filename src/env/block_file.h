// Blocks: bytes on disk with checksums, so that a file cut off or damaged is known for what it is.
// The format is described in docs/formats/blocks.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::env {

// What the blocks of a file are for: the four characters they begin with.
using BlockKind = std::uint32_t;
consteval BlockKind block_kind(std::string_view name) {
  BlockKind kind = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    kind |= BlockKind{static_cast<unsigned char>(name.at(i))} << (8 * i);
  }
  return kind;
}

// What was found where a block should begin.
enum class BlockState : std::uint8_t {
  kWhole,
  kEnd,      // nothing: the bytes end here
  kTorn,     // the bytes end inside the block
  kNoBlock,  // no header of this kind, or one that fails its checksum: nobody knows what follows
  kDamaged,  // the payload fails its checksum; the next block can be found
};
std::string_view describe(BlockState state);  // "the block is cut off"

struct BlockView {
  std::uint32_t count = 0;   // of what is in it
  std::uint64_t number = 0;  // of the first of these, or what else its owner numbers
  std::string_view payload;
};

// The block that `bytes` begin with; more may follow it. The view is of these bytes: all of it if
// kWhole or kDamaged, nothing otherwise.
BlockState read_block(std::string_view bytes, BlockKind kind, BlockView& view);

// A block in memory, on its way to a file or from one. The payload stands behind room for the
// header, so that it is not copied to be written. Thread-compatible.
class Block {
 public:
  static constexpr std::size_t kHeaderBytes = 40;

  Block() : bytes_(kHeaderBytes, '\0') {}

  // What is appended here is appended to the payload.
  std::string& out() { return bytes_; }
  std::string_view payload() const { return std::string_view(bytes_).substr(kHeaderBytes); }
  bool empty() const { return bytes_.size() == kHeaderBytes; }
  std::size_t size() const { return bytes_.size(); }  // as a file has it
  std::size_t capacity() const { return bytes_.capacity(); }
  void clear() { bytes_.resize(kHeaderBytes); }

  // Fills the header in. What is returned is what belongs on disk; it dies with the next change.
  std::string_view seal(BlockKind kind, std::uint32_t count, std::uint64_t number);

  // Reads the block at `offset` of a file whose first `end` bytes count. If it is kWhole or
  // kDamaged, `view` says what it holds and the next one begins size() further on; otherwise the
  // block is empty. An error: the disk failed.
  base::Result<BlockState> read(const ReadableFile& file, BlockKind kind, std::uint64_t offset,
                                std::uint64_t end, BlockView& view);

 private:
  std::string bytes_;
};

// Fills in the header of the block that begins at `at` of `bytes`, behind room for it, and reaches
// to their end. For blocks that are written several at once.
void seal_block(std::string& bytes, std::size_t at, BlockKind kind, std::uint32_t count,
                std::uint64_t number);

// Files of blocks are named by a number, in hexadecimal: "DIR/000000000000002a.spill".
std::string numbered_path(std::string_view dir, std::uint64_t number, std::string_view suffix);
// The number in such a name, which has no folder; nullopt: it is no such name.
std::optional<std::uint64_t> number_of_name(std::string_view name, std::string_view suffix);

}  // namespace meguri::env
