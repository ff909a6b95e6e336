// OrderedBlocks: what several threads make of the pieces of some work, put together in their order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace meguri::app {

// Pieces are begun in order, as do_in_parallel() does. The first that has not ended writes at once;
// the others are held, up to a limit each, and wait there. Thread-safe.
class OrderedBlocks {
 public:
  static constexpr std::size_t kHeldBytesMax = std::size_t{4} << 20U;  // of a piece

  // Called by one thread at a time.
  using Write = std::function<base::Status(std::string_view bytes)>;

  // Not more than `ahead` pieces are begun behind the first that has not ended.
  OrderedBlocks(Write write, std::size_t ahead) : write_(std::move(write)), ahead_(ahead) {}

  // Waits until the piece may begin. kStopped: everything ends.
  base::Status begin(std::size_t piece, const std::atomic<bool>& is_stopped);
  // Takes all of `block`, which is empty afterwards. May wait.
  base::Status append(std::size_t piece, std::string& block, const std::atomic<bool>& is_stopped);
  base::Status end(std::size_t piece);

  std::uint64_t bytes() const;  // written so far

 private:
  struct Piece {
    std::string bytes;
    bool has_ended = false;
  };

  base::Status wait(const std::atomic<bool>& is_stopped) REQUIRES(mutex_);
  Piece& at(std::size_t piece) REQUIRES(mutex_);
  base::Status write_out(std::string_view bytes) REQUIRES(mutex_);

  const Write write_;
  const std::size_t ahead_;
  mutable base::Mutex mutex_;
  base::CondVar moved_;
  std::size_t first_ GUARDED_BY(mutex_) = 0;     // that has not ended
  std::deque<Piece> pieces_ GUARDED_BY(mutex_);  // from that on, as far as they have begun
  std::uint64_t bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace meguri::app
