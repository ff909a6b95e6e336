#include "sat/block_scan.h"

#include <algorithm>
#include <utility>

namespace meguri::sat {

using env::BlockState;

namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 20U;
constexpr std::string_view kFirstBytes = "MG";  // of all kinds

}  // namespace

base::Result<BlockScan> BlockScan::open(env::FileSystem& files, const std::string& path,
                                        std::vector<env::BlockKind> kinds,
                                        std::optional<std::uint64_t> end) {
  ASSIGN_OR_RETURN(auto file, files.open_read(path));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  return BlockScan(std::move(file), std::move(kinds), std::min(size, end.value_or(size)));
}

base::Result<bool> BlockScan::next(ScannedBlock& block) {
  block = {};
  block.offset = at_;
  if (at_ >= end_) return false;
  for (const env::BlockKind kind : kinds_) {
    ASSIGN_OR_RETURN(block.state, block_.read(*file_, kind, at_, end_, block.view));
    block.kind = kind;
    if (block.state != BlockState::kNoBlock) break;
  }
  if (block.state == BlockState::kWhole || block.state == BlockState::kDamaged) {
    block.length = block_.size();
  } else if (block.state == BlockState::kNoBlock) {
    ASSIGN_OR_RETURN(const std::uint64_t next, find_next(at_ + 1));
    block.length = next - at_;
  } else {
    block.length = end_ - at_;
  }
  at_ += block.length;
  return true;
}

// The first place from `from` on where a header is whole.
base::Result<std::uint64_t> BlockScan::find_next(std::uint64_t from) {
  env::Block found;
  env::BlockView view;
  while (from + env::Block::kHeaderBytes <= end_) {
    const std::uint64_t length = std::min(kWindowBytes, end_ - from);
    RETURN_IF_ERROR(file_->read_at(from, length, &window_));
    if (window_.size() < env::Block::kHeaderBytes) break;
    // A header that begins in the last bytes is looked at with the next window.
    const std::size_t starts = window_.size() - env::Block::kHeaderBytes + 1;
    for (std::size_t i = window_.find(kFirstBytes); i < starts;
         i = window_.find(kFirstBytes, i + 1)) {
      for (const env::BlockKind kind : kinds_) {
        ASSIGN_OR_RETURN(const BlockState state, found.read(*file_, kind, from + i, end_, view));
        if (state != BlockState::kNoBlock) return from + i;
      }
    }
    from += starts;
  }
  return end_;
}

}  // namespace meguri::sat
