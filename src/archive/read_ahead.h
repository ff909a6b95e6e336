// ReadAhead: which parts of a file the system is told of before they are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace meguri::archive {

// Collects ranges that will be read, so that near ones are asked for together: a system call for
// each small record would cost as much as reading it. Thread-compatible.
class ReadAhead {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    friend bool operator==(const Range&, const Range&) = default;
  };

  static constexpr std::uint64_t kTogetherBytes = std::uint64_t{256} << 10U;  // at a time
  // Costs less to read than to jump over.
  static constexpr std::uint64_t kGapBytes = std::uint64_t{64} << 10U;
  // Of one range: the rest of a larger one is read from front to end, which the system sees itself.
  static constexpr std::uint64_t kRangeBytesMax = std::uint64_t{1} << 20U;

  // Takes a range. What it returns is to be asked for now: of this range or of those before.
  std::optional<Range> add(Range range);

 private:
  Range held_;  // was not asked for yet
};

inline std::optional<ReadAhead::Range> ReadAhead::add(Range range) {
  range.end = std::min(range.end, range.begin + std::min(kRangeBytesMax, ~range.begin));
  const bool is_held = range.begin >= held_.begin && range.end <= held_.end;
  if (range.end <= range.begin || is_held) return std::nullopt;
  const bool is_near = range.begin >= held_.begin && range.begin <= held_.end + kGapBytes;
  if (!is_near) {
    const Range before = std::exchange(held_, range);
    if (before.end > before.begin) return before;
    return std::nullopt;
  }
  held_.end = range.end;
  if (held_.end - held_.begin < kTogetherBytes) return std::nullopt;
  const Range all = held_;
  held_.begin = held_.end;
  return all;
}

}  // namespace meguri::archive
