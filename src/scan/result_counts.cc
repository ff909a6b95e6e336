#include "scan/result_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/text.h"

namespace meguri::scan {

ResultCounts::ResultCounts(std::vector<std::string> names) : names_(std::move(names)) {
  CHECK(!names_.empty(), "a key without columns");
}

void ResultCounts::feed(std::string_view bytes) {
  cutter_.feed(bytes, [this](std::string_view line) { count(line); });
}

void ResultCounts::finish() {
  cutter_.finish([this](std::string_view line) { count(line); });
}

void ResultCounts::count(std::string_view key) {
  ++results_;
  const auto found = counts_.find(key);
  if (found != counts_.end()) {
    ++found->second;
  } else {
    counts_.emplace(key, 1);
  }
}

std::vector<std::pair<std::string_view, std::uint64_t>> ResultCounts::sorted() const {
  std::vector<std::pair<std::string_view, std::uint64_t>> all(counts_.begin(), counts_.end());
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return all;
}

std::string ResultCounts::to_lines() const {
  std::string text;
  for (const auto& [key, times] : sorted()) {
    fmt::format_to(std::back_inserter(text), "{}\t{}\n", key, times);
  }
  return text;
}

std::string ResultCounts::to_json() const {
  std::string text = "[";
  for (const auto& [key, times] : sorted()) {
    text += text.size() > 1 ? ",\n{" : "\n{";
    std::string_view rest = key;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool is_last = i + 1 == names_.size();
      const std::size_t end = is_last ? rest.npos : rest.find('\t');
      base::append_json_string(names_[i], &text);
      text += ':';
      base::append_json_string(rest.substr(0, end), &text);
      text += ',';
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    fmt::format_to(std::back_inserter(text), "\"count\":{}}}", times);
  }
  text += text.size() > 1 ? "\n]\n" : "]\n";
  return text;
}

}  // namespace meguri::scan
