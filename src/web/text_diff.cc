#include "web/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace meguri::web {

namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// One line of the way from a text to the other.
struct Edit {
  char mark = ' ';  // '-', '+', or ' ' for a line of both
  std::string_view line;
};

// The lines of two texts, numbered so that equal ones have equal numbers.
class LineNumbers {
 public:
  std::vector<std::uint32_t> of(const Lines& lines) {
    std::vector<std::uint32_t> numbers;
    numbers.reserve(lines.size());
    for (const std::string_view line : lines) {
      numbers.push_back(
          numbers_.try_emplace(line, static_cast<std::uint32_t>(numbers_.size())).first->second);
    }
    return numbers;
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

// Takes away what both begin and end with, up to the context, which is shown.
struct Trimmed {
  Lines before;
  Lines after;
  std::size_t front = 0;  // lines that both begin with and that are left out
};

Trimmed trim(const Lines& before, const Lines& after, std::size_t context) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t front = 0;
  while (front < shorter && before[front] == after[front]) ++front;
  std::size_t back = 0;
  while (back < shorter - front && before.end()[-1 - static_cast<std::ptrdiff_t>(back)] ==
                                       after.end()[-1 - static_cast<std::ptrdiff_t>(back)]) {
    ++back;
  }
  front -= std::min(front, context);
  back -= std::min(back, context);
  const auto inside = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(front),
                 lines.end() - static_cast<std::ptrdiff_t>(back));
  };
  return {.before = inside(before), .after = inside(after), .front = front};
}

bool is_change(const Edit& edit) { return edit.mark != ' '; }

// Of each change, first what is taken away, then what is added, as people expect it.
void put_in_order(std::vector<Edit>& edits) {
  std::vector<Edit> added;
  for (auto at = edits.begin(); at != edits.end();) {
    at = std::find_if(at, edits.end(), is_change);
    const auto end = std::find_if_not(at, edits.end(), is_change);
    added.clear();
    for (auto from = at; from != end; ++from) {
      if (from->mark == '-') {
        *at++ = *from;
      } else {
        added.push_back(*from);
      }
    }
    std::ranges::copy(added, at);
    at = end;
  }
}

using Numbers = std::vector<std::uint32_t>;

// The fewest edits, by Myers' greedy algorithm: for d = 0, 1, …, how far d edits lead on each
// diagonal (lines of before less lines of after). What each round found is kept for the way back, d
// numbers for the d-th. O((lines) d) time, O(d²) memory.
class ShortestEdits {
 public:
  ShortestEdits(const Numbers& before, const Numbers& after) : before_(before), after_(after) {}

  // The marks of the lines in order; nullopt: it takes more than so many edits.
  std::optional<std::string> marks(std::size_t edits_max) {
    const auto most = static_cast<int>(std::min(edits_max, before_.size() + after_.size()));
    for (int d = 0; d <= most; ++d) {
      if (reach(d)) return way_back(d);
    }
    return std::nullopt;
  }

 private:
  // Of round d, on diagonal k: from -d to d in steps of two.
  int& at(int d, int k) {
    return rounds_[static_cast<std::size_t>(d)][static_cast<std::size_t>((k + d) / 2)];
  }
  // Whether the last edit before a place on diagonal k of round d adds a line.
  bool adds(int d, int k) { return k == -d || (k != d && at(d - 1, k - 1) < at(d - 1, k + 1)); }

  // Whether both texts end within d edits.
  bool reach(int d) {
    rounds_.emplace_back(static_cast<std::size_t>(d) + 1);
    for (int k = -d; k <= d; k += 2) {
      int x = 0;
      if (d > 0) x = adds(d, k) ? at(d - 1, k + 1) : at(d - 1, k - 1) + 1;
      while (is_equal(x, x - k)) ++x;
      at(d, k) = x;
      if (x >= size(before_) && x - k >= size(after_)) return true;
    }
    return false;
  }
  static int size(const Numbers& lines) { return static_cast<int>(lines.size()); }
  bool is_equal(int x, int y) const {
    return x < size(before_) && y >= 0 && y < size(after_) &&
           before_[static_cast<std::size_t>(x)] == after_[static_cast<std::size_t>(y)];
  }

  std::string way_back(int d) {
    std::string marks;
    int x = size(before_);
    int k = x - size(after_);
    for (; d > 0; --d) {
      const bool is_added = adds(d, k);
      const int from = is_added ? at(d - 1, k + 1) : at(d - 1, k - 1);
      const int edited = is_added ? from : from + 1;  // behind the edit
      marks.append(static_cast<std::size_t>(x - edited), ' ');
      marks += is_added ? '+' : '-';
      x = from;
      k += is_added ? 1 : -1;
    }
    marks.append(static_cast<std::size_t>(x), ' ');
    std::ranges::reverse(marks);
    return marks;
  }

  const Numbers& before_;
  const Numbers& after_;
  std::vector<std::vector<int>> rounds_;
};

// How many lines one text has more often than the other, both ways.
void count_uncommon(const Numbers& before, const Numbers& after, TextDiff& diff) {
  std::unordered_map<std::uint32_t, std::ptrdiff_t> counts;
  for (const std::uint32_t line : before) ++counts[line];
  for (const std::uint32_t line : after) --counts[line];
  for (const auto& [line, count] : counts) {
    if (count > 0) diff.removed += static_cast<std::size_t>(count);
    if (count < 0) diff.inserted += static_cast<std::size_t>(-count);
  }
}

std::vector<Edit> edits_of(const Trimmed& texts, const std::string& marks) {
  std::vector<Edit> edits;
  std::size_t before = 0;
  std::size_t after = 0;
  for (const char mark : marks) {
    edits.push_back({mark, mark == '+' ? texts.after[after] : texts.before[before]});
    if (mark != '+') ++before;
    if (mark != '-') ++after;
  }
  put_in_order(edits);
  return edits;
}

// "12,3", "12", or "11,0" of no lines behind the 11th, as diff(1) has it.
std::string span_of(std::size_t lines_before, std::size_t count) {
  if (count == 1) return fmt::format("{}", lines_before + 1);
  return fmt::format("{},{}", count == 0 ? lines_before : lines_before + 1, count);
}

// Writes hunks. Changes whose contexts meet are one.
class HunkWriter {
 public:
  HunkWriter(const std::vector<Edit>& edits, std::size_t front, std::size_t context)
      : edits_(edits), context_(context), before_(front), after_(front) {}

  std::string write() {
    std::string out;
    std::size_t at = 0;
    for (;;) {
      const std::size_t change = next_change(at);
      if (change == edits_.size()) return out;
      const std::size_t begin = std::max(at, change - std::min(change, context_));
      pass(at, begin);
      at = end_of(change);
      append(begin, at, &out);
    }
  }

 private:
  std::size_t next_change(std::size_t from) const {
    while (from < edits_.size() && !is_change(edits_[from])) ++from;
    return from;
  }
  // Behind the context of the last change of a hunk.
  std::size_t end_of(std::size_t change) const {
    for (;;) {
      std::size_t last = change;
      while (last + 1 < edits_.size() && is_change(edits_[last + 1])) ++last;
      change = next_change(last + 1);
      if (change == edits_.size() || change - last - 1 > 2 * context_) {
        return std::min(last + 1 + context_, edits_.size());
      }
    }
  }
  void pass(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (edits_[i].mark != '+') ++before_;
      if (edits_[i].mark != '-') ++after_;
    }
  }
  void append(std::size_t begin, std::size_t end, std::string* out) {
    const std::size_t before = before_;
    const std::size_t after = after_;
    pass(begin, end);
    *out += fmt::format("@@ -{} +{} @@\n", span_of(before, before_ - before),
                        span_of(after, after_ - after));
    for (std::size_t i = begin; i < end; ++i) {
      out->push_back(edits_[i].mark);
      out->append(edits_[i].line).push_back('\n');
    }
  }

  const std::vector<Edit>& edits_;
  const std::size_t context_;
  std::size_t before_;  // lines of the text before, up to where it stands
  std::size_t after_;
};

}  // namespace

TextDiff diff_texts(std::string_view before, std::string_view after, const TextDiffLimits& limits) {
  TextDiff diff;
  const Lines lines_before = lines_of(before);
  const Lines lines_after = lines_of(after);
  if (lines_before == lines_after) return diff;
  const Trimmed texts = trim(lines_before, lines_after, limits.context);
  if (std::max(texts.before.size(), texts.after.size()) > limits.lines_max) {
    diff.outcome = TextDiffOutcome::kTooLong;
    return diff;
  }
  LineNumbers numbers;
  const Numbers numbers_before = numbers.of(texts.before);
  const Numbers numbers_after = numbers.of(texts.after);
  const auto marks = ShortestEdits(numbers_before, numbers_after).marks(limits.edits_max);
  if (!marks) {
    diff.outcome = TextDiffOutcome::kTooDifferent;
    count_uncommon(numbers_before, numbers_after, diff);
    return diff;
  }
  const std::vector<Edit> edits = edits_of(texts, *marks);
  diff.removed = static_cast<std::size_t>(std::ranges::count(edits, '-', &Edit::mark));
  diff.inserted = static_cast<std::size_t>(std::ranges::count(edits, '+', &Edit::mark));
  std::size_t bytes = 0;
  for (const Edit& edit : edits) bytes += is_change(edit) ? edit.line.size() : 0;
  diff.outcome = TextDiffOutcome::kTooDifferent;
  if (bytes > limits.bytes_max) return diff;
  diff.hunks = HunkWriter(edits, texts.front, limits.context).write();
  if (diff.hunks.size() > limits.bytes_max) {
    diff.hunks.clear();
    return diff;
  }
  diff.outcome = TextDiffOutcome::kDiffers;
  return diff;
}

}  // namespace meguri::web
