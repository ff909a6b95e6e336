// Compares any two texts; what is shown must hold all that one has more than the other.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/check.h"
#include "web/text_diff.h"

namespace {

constexpr std::string_view kBetween = "\n===\n";

struct Counts {
  std::size_t lines = 0;
  std::size_t hash = 0;  // of all lines, whatever their order
};

Counts count(std::string_view text, char mark) {
  Counts counts;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (mark != '\0') {
      if (line.empty() || line[0] != mark) continue;
      line.remove_prefix(1);
    }
    ++counts.lines;
    counts.hash += std::hash<std::string_view>()(line);
  }
  return counts;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t between = input.find(kBetween);
  const std::string_view before = input.substr(0, between);
  const std::string_view after =
      between == std::string_view::npos ? "" : input.substr(between + kBetween.size());
  const meguri::web::TextDiff diff = meguri::web::diff_texts(before, after);
  using meguri::web::TextDiffOutcome;
  if (diff.outcome == TextDiffOutcome::kTooLong) return 0;
  const Counts old_lines = count(before, '\0');
  const Counts new_lines = count(after, '\0');
  CHECK(old_lines.lines + diff.inserted == new_lines.lines + diff.removed);
  CHECK(diff.hunks.empty() == (diff.outcome != TextDiffOutcome::kDiffers));
  if (diff.outcome == TextDiffOutcome::kTooDifferent) return 0;
  const Counts removed = count(diff.hunks, '-');
  const Counts inserted = count(diff.hunks, '+');
  CHECK(removed.lines == diff.removed && inserted.lines == diff.inserted);
  CHECK(old_lines.hash + inserted.hash == new_lines.hash + removed.hash);
  return 0;
}
