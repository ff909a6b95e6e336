// DoneSet: which documents of a run are done with, and RunCounts: how.
#pragma once

#include <cstdint>
#include <vector>

namespace meguri::scan {

// Documents that are done with: a set of numbers, mostly without gaps. Thread-compatible.
class DoneSet {
 public:
  bool contains(std::uint64_t number) const { return number < bits_.size() && bits_[number]; }
  void add(std::uint64_t number) {
    if (contains(number)) return;
    if (number >= bits_.size()) bits_.resize(number + 1);
    bits_[number] = true;
    ++size_;
  }
  std::uint64_t size() const { return size_; }

 private:
  std::vector<bool> bits_;
  std::uint64_t size_ = 0;
};

struct RunCounts {
  std::uint64_t results = 0;
  std::uint64_t skipped = 0;

  friend bool operator==(const RunCounts&, const RunCounts&) = default;
};

}  // namespace meguri::scan
