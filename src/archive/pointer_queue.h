// PointerQueue: pointers in the order of their records, which are asked for ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <type_traits>

#include "archive/external_sort.h"
#include "archive/index_entry.h"
#include "base/result.h"

namespace meguri::archive {

// Takes pointers from a sort before they are wanted, and tells the system of their records, so that
// the disk reads while what came before is worked on. A Pointer is a RecordPlace, or has one as
// `place`; the source is told by will_read(). Thread-compatible.
template <typename Pointer, typename Source>
class PointerQueue {
 public:
  // What is asked for ahead: enough to keep a disk busy, little enough to stay in memory.
  static constexpr std::uint64_t kAheadBytes = std::uint64_t{4} << 20U;
  static constexpr std::size_t kAheadMax = 4096;

  // The sort has been finished. Both outlive this.
  PointerQueue(ExternalSort<Pointer>& sorted, Source& source) : sorted_(sorted), source_(source) {}

  // nullopt: there is none any more.
  base::Result<std::optional<Pointer>> next() {
    RETURN_IF_ERROR(fill());
    if (ahead_.empty()) return std::nullopt;
    const Pointer pointer = ahead_.front();
    ahead_.pop_front();
    ahead_bytes_ -= place_of(pointer).length;
    return pointer;
  }

 private:
  static RecordPlace place_of(const Pointer& pointer) {
    if constexpr (std::is_same_v<Pointer, RecordPlace>) {
      return pointer;
    } else {
      return pointer.place;
    }
  }

  base::Status fill() {
    while (!is_over_ && ahead_.size() < kAheadMax && ahead_bytes_ < kAheadBytes) {
      ASSIGN_OR_RETURN(const auto pointer, sorted_.next());
      if (!pointer) {
        is_over_ = true;
        return {};
      }
      source_.will_read(place_of(*pointer));
      ahead_bytes_ += place_of(*pointer).length;
      ahead_.push_back(*pointer);
    }
    return {};
  }

  ExternalSort<Pointer>& sorted_;
  Source& source_;
  std::deque<Pointer> ahead_;
  std::uint64_t ahead_bytes_ = 0;  // of their records, as far as it is known
  bool is_over_ = false;
};

}  // namespace meguri::archive
