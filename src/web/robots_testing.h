// The plainest robots.txt matcher there is: every rule, one after the other. What compiled rules
// are compared with. Slow on hostile patterns; for tests only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "web/robots_rules.h"

namespace meguri::web {

// Dynamic programming over pattern and path: reached[j] says that the pattern so far can match the
// first j octets.
inline bool plain_pattern_matches(std::string_view pattern, std::string_view path) {
  const bool to_the_end = pattern.ends_with('$');
  if (to_the_end) pattern.remove_suffix(1);
  std::string reached(path.size() + 1, 'n');
  reached[0] = 'y';
  for (const char c : pattern) {
    if (c == '*') {
      for (std::size_t j = 1; j <= path.size(); ++j) {
        if (reached[j - 1] == 'y') reached[j] = 'y';
      }
      continue;
    }
    for (std::size_t j = path.size(); j > 0; --j) {
      reached[j] = path[j - 1] == c ? reached[j - 1] : 'n';
    }
    reached[0] = 'n';
  }
  return to_the_end ? reached.back() == 'y' : reached.contains('y');
}

// `pattern` with the ":" and "/" of its query as they are, all plain, or all escaped.
inline std::vector<std::string> plain_spellings(const std::string& pattern) {
  const auto replace_all = [](std::string text, std::string_view from, std::string_view to) {
    const std::size_t query = text.find('?');
    if (query == std::string::npos) return text;
    for (std::size_t at = text.find(from, query); at != std::string::npos;
         at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
    return text;
  };
  return {pattern, replace_all(replace_all(pattern, "%3A", ":"), "%2F", "/"),
          replace_all(replace_all(pattern, ":", "%3A"), "/", "%2F")};
}

// The length of the longest pattern that matches, and whether it allows.
struct PlainVerdict {
  std::size_t length = 0;
  bool allow = false;

  friend bool operator==(const PlainVerdict&, const PlainVerdict&) = default;
};

inline std::optional<PlainVerdict> plain_match(std::span<const RobotsRule> rules,
                                               std::string_view path) {
  std::optional<PlainVerdict> best;
  for (const RobotsRule& rule : rules) {
    const PlainVerdict verdict{rule.pattern.size(), rule.allow};
    const bool better = !best || verdict.length > best->length ||
                        (verdict.length == best->length && verdict.allow && !best->allow);
    if (!better) continue;
    for (const std::string& spelling : plain_spellings(rule.pattern)) {
      if (plain_pattern_matches(spelling, path)) best = verdict;
    }
  }
  return best;
}

}  // namespace meguri::web
