// KeyRange: a stretch of the temporal index.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "archive/temporal_index.h"
#include "base/result.h"

namespace meguri::archive {

// From `begin` up to, but not including, `end`.
struct KeyRange {
  std::string begin;
  std::string end;

  friend auto operator<=>(const KeyRange&, const KeyRange&) = default;
};

// All keys that begin with `front`, which is not empty and has a byte below 255.
KeyRange range_of_front(std::string_view front);
KeyRange range_of_entries();  // all of them

// In their order, those that overlap or meet joined.
std::vector<KeyRange> joined(std::vector<KeyRange> ranges);

// The same keys in about so many bytes a range, cut between SURTs, so that each can be walked by
// itself, and its lines be sorted. Entries that are only in memory are not weighed.
base::Result<std::vector<KeyRange>> split(const TemporalIndex& index,
                                          const std::vector<KeyRange>& ranges,
                                          std::uint64_t range_bytes);

}  // namespace meguri::archive
