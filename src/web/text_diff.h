// The difference of two texts, line by line, as people read it: a unified diff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meguri::web {

// Bounds on what two texts can cost: with these, some 20 MB for the time of the call, and less than
// a second.
struct TextDiffLimits {
  std::size_t lines_max = 20'000;     // of either text, without those both begin and end with
  std::size_t edits_max = 2'000;      // lines taken away or added
  std::size_t bytes_max = 1'000'000;  // of what is shown
  std::size_t context = 3;            // equal lines that are shown round each change
};

enum class TextDiffOutcome : std::uint8_t {
  kSame,
  kDiffers,
  kTooLong,       // lines_max: not compared
  kTooDifferent,  // edits_max or bytes_max: not shown
};

struct TextDiff {
  TextDiffOutcome outcome = TextDiffOutcome::kSame;
  std::string hunks;  // "@@ -1,2 +1,3 @@", then lines that begin with ' ', '-' or '+'
  // Lines; past edits_max, those that one text has more often than the other.
  std::size_t removed = 0;
  std::size_t inserted = 0;
};

// A line ends with a line feed, or with its text; which of both is no difference. The
// fewest edits. Any bytes may be given; they come out as they were.
TextDiff diff_texts(std::string_view before, std::string_view after,
                    const TextDiffLimits& limits = {});

}  // namespace meguri::web
