#include "env/block_file.h"

#include <fmt/format.h>

#include <charconv>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"

namespace meguri::env {

using base::put_fixed;
using base::take_fixed;

namespace {

constexpr std::size_t kNumberDigits = 16;

struct Header {
  std::uint32_t count = 0;
  std::uint64_t length = 0;  // of the payload
  std::uint64_t number = 0;
  std::uint64_t payload_hash = 0;
};

// Requires kHeaderBytes.
std::optional<Header> decode_header(std::string_view bytes, BlockKind kind) {
  const std::uint64_t expected = base::hash64(bytes.substr(0, Block::kHeaderBytes - 8));
  BlockKind found = 0;
  std::uint64_t hash = 0;
  Header header;
  const bool whole = take_fixed(bytes, found) && take_fixed(bytes, header.count) &&
                     take_fixed(bytes, header.length) && take_fixed(bytes, header.number) &&
                     take_fixed(bytes, header.payload_hash) && take_fixed(bytes, hash);
  if (!whole || found != kind || hash != expected) return std::nullopt;
  return header;
}

}  // namespace

std::string_view describe(BlockState state) {
  switch (state) {
    case BlockState::kWhole: return "the block is whole";
    case BlockState::kEnd: return "there is no further block";
    case BlockState::kTorn: return "the block is cut off";
    case BlockState::kNoBlock: return "no block begins there";
    case BlockState::kDamaged: return "the block fails its checksum";
  }
  return "";
}

BlockState read_block(std::string_view bytes, BlockKind kind, BlockView& view) {
  view = {};
  if (bytes.empty()) return BlockState::kEnd;
  if (bytes.size() < Block::kHeaderBytes) return BlockState::kTorn;
  const auto header = decode_header(bytes.substr(0, Block::kHeaderBytes), kind);
  if (!header) return BlockState::kNoBlock;
  bytes.remove_prefix(Block::kHeaderBytes);
  if (bytes.size() < header->length) return BlockState::kTorn;
  view = {header->count, header->number, bytes.substr(0, header->length)};
  const bool whole = base::hash64(view.payload) == header->payload_hash;
  return whole ? BlockState::kWhole : BlockState::kDamaged;
}

void seal_block(std::string& bytes, std::size_t at, BlockKind kind, std::uint32_t count,
                std::uint64_t number) {
  const std::string_view payload = std::string_view(bytes).substr(at + Block::kHeaderBytes);
  std::string header;
  header.reserve(Block::kHeaderBytes);
  put_fixed(header, kind);
  put_fixed(header, count);
  put_fixed(header, std::uint64_t{payload.size()});
  put_fixed(header, number);
  put_fixed(header, base::hash64(payload));
  put_fixed(header, base::hash64(header));
  header.copy(bytes.data() + at, Block::kHeaderBytes);
}

std::string_view Block::seal(BlockKind kind, std::uint32_t count, std::uint64_t number) {
  CHECK(bytes_.size() >= kHeaderBytes, "the block was moved away");
  seal_block(bytes_, 0, kind, count, number);
  return bytes_;
}

base::Result<BlockState> Block::read(const ReadableFile& file, BlockKind kind, std::uint64_t offset,
                                     std::uint64_t end, BlockView& view) {
  view = {};
  const std::uint64_t left = end > offset ? end - offset : 0;
  const std::uint64_t first = left < kHeaderBytes ? left : kHeaderBytes;
  RETURN_IF_ERROR(file.read_at(offset, first, &bytes_));
  BlockState state = BlockState::kTorn;
  if (bytes_.size() == kHeaderBytes) {
    const auto header = decode_header(bytes_, kind);
    state = header ? BlockState::kTorn : BlockState::kNoBlock;
    if (header && header->length <= left - kHeaderBytes) {
      RETURN_IF_ERROR(file.read_at(offset, kHeaderBytes + header->length, &bytes_));
      state = read_block(bytes_, kind, view);
    }
  } else if (left == 0) {
    state = BlockState::kEnd;
  }
  const bool is_there = state == BlockState::kWhole || state == BlockState::kDamaged;
  if (!is_there) bytes_.assign(kHeaderBytes, '\0');
  return state;
}

std::string numbered_path(std::string_view dir, std::uint64_t number, std::string_view suffix) {
  return fmt::format("{}/{:016x}{}", dir, number, suffix);
}

std::optional<std::uint64_t> number_of_name(std::string_view name, std::string_view suffix) {
  if (name.size() != kNumberDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  std::uint64_t number = 0;
  const char* const last = name.data() + kNumberDigits;
  const auto [end, error] = std::from_chars(name.data(), last, number, 16);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

}  // namespace meguri::env
