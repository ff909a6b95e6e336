// ResultCounts: how often each key stands among the results of an analyser such as count-by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scan/line_cutter.h"

namespace meguri::scan {

// Takes results, in which each line is a key: columns with tabs between them. Memory grows with the
// keys, not with the results. Thread-compatible.
class ResultCounts {
 public:
  // The names of the columns, in their order; not empty.
  explicit ResultCounts(std::vector<std::string> names);

  // The next bytes of the results, cut anywhere.
  void feed(std::string_view bytes);
  // The results have ended. To be called before any below.
  void finish();

  std::uint64_t results() const { return results_; }
  std::size_t keys() const { return counts_.size(); }

  // "KEY<tab>COUNT" for each key, a line each, as the columns stand: the most frequent first, and
  // among those of one count by the bytes of the key.
  std::string to_lines() const;
  // The same as an array of objects, a line each: [{"month":"2026-11","count":3},…]. A key with
  // more columns than there are names has the rest in its last one.
  std::string to_json() const;

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): as the standard has it
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  void count(std::string_view key);
  std::vector<std::pair<std::string_view, std::uint64_t>> sorted() const;

  const std::vector<std::string> names_;
  LineCutter cutter_;
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> counts_;
  std::uint64_t results_ = 0;
};

}  // namespace meguri::scan
