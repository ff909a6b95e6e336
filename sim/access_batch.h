// AccessBatch: lines of the access log on their way to whoever keeps it, many at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "sim/access_log.h"

namespace meguri::sim {

// Takes lines in the order in which answers ended. Called by every thread of a server, several at
// once if it has several; the lines are valid during the call.
using AccessSink = std::function<void(std::span<const Access>)>;

// Thread-compatible: each thread has one. Keeps the strings of earlier lines for later ones, so
// that a line costs no allocation.
class AccessBatch {
 public:
  static constexpr std::size_t kLinesMax = 256;

  explicit AccessBatch(AccessSink sink) : sink_(std::move(sink)) {
    if (sink_) lines_.resize(kLinesMax);
  }

  bool empty() const { return size_ == 0; }

  void add(const Access& access) {
    if (!sink_) return;
    lines_[size_] = access;
    ++size_;
    if (size_ == kLinesMax) flush();
  }

  void flush() {
    if (size_ == 0) return;
    sink_(std::span(lines_).first(size_));
    size_ = 0;
  }

 private:
  AccessSink sink_;  // may be empty: nobody wants them
  std::vector<Access> lines_;
  std::size_t size_ = 0;
};

}  // namespace meguri::sim
