#include "app/ordered_blocks.h"

#include <chrono>

#include "base/check.h"

namespace meguri::app {

namespace {

using base::ErrorCode;
using base::MutexLock;

constexpr std::chrono::milliseconds kLookEvery{50};  // whether everything ends

}  // namespace

base::Status OrderedBlocks::wait(const std::atomic<bool>& is_stopped) {
  if (is_stopped) return base::fail(ErrorCode::kStopped, "stopped");
  moved_.wait_for(mutex_, kLookEvery);
  return {};
}

OrderedBlocks::Piece& OrderedBlocks::at(std::size_t piece) {
  CHECK(piece >= first_, "a piece that has ended");
  if (pieces_.size() <= piece - first_) pieces_.resize(piece - first_ + 1);
  return pieces_[piece - first_];
}

base::Status OrderedBlocks::write_out(std::string_view bytes) {
  if (bytes.empty()) return {};
  RETURN_IF_ERROR(write_(bytes));
  bytes_ += bytes.size();
  return {};
}

base::Status OrderedBlocks::begin(std::size_t piece, const std::atomic<bool>& is_stopped) {
  const MutexLock lock(mutex_);
  while (piece > first_ + ahead_) RETURN_IF_ERROR(wait(is_stopped));
  at(piece);
  return {};
}

base::Status OrderedBlocks::append(std::size_t piece, std::string& block,
                                   const std::atomic<bool>& is_stopped) {
  const MutexLock lock(mutex_);
  while (piece != first_ && at(piece).bytes.size() >= kHeldBytesMax) {
    RETURN_IF_ERROR(wait(is_stopped));
  }
  std::string& held = at(piece).bytes;
  if (piece == first_) {
    RETURN_IF_ERROR(write_out(held));
    held.clear();
    RETURN_IF_ERROR(write_out(block));
  } else {
    held += block;
  }
  block.clear();
  return {};
}

base::Status OrderedBlocks::end(std::size_t piece) {
  const MutexLock lock(mutex_);
  at(piece).has_ended = true;
  while (!pieces_.empty() && pieces_.front().has_ended) {
    RETURN_IF_ERROR(write_out(pieces_.front().bytes));
    pieces_.pop_front();
    ++first_;
  }
  moved_.notify_all();
  return {};
}

std::uint64_t OrderedBlocks::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace meguri::app
