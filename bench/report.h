// Report: the figures of one benchmark, as a table for people and as JSON for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meguri::bench {

// What a figure must reach.
struct Goal {
  enum class Kind : std::uint8_t { kAtLeast, kAtMost };
  Kind kind;
  double value;

  static Goal at_least(double value) { return {Kind::kAtLeast, value}; }
  static Goal at_most(double value) { return {Kind::kAtMost, value}; }

  bool met_by(double measured) const {
    return kind == Kind::kAtLeast ? measured >= value : measured <= value;
  }
};

struct Measurement {
  std::string name;
  double value;
  std::string unit;  // "items/s", "µs", "ratio"
  std::optional<Goal> goal;
};

// Peers and limits are measured in the same run and are results of their own, so that a reader can
// form every ratio from one report. Thread-compatible.
class Report {
 public:
  explicit Report(std::string bench) : bench_(std::move(bench)) {}

  // Returns `value`, so that ratios can be formed on the way.
  double add(std::string name, double value, std::string unit,
             std::optional<Goal> goal = std::nullopt);

  const std::vector<Measurement>& results() const { return results_; }

  std::string to_table() const;
  // One line: {"bench":…,"machine":{…},"results":[{"name","value","unit","goal","met"}…]}; goal and
  // met are null where there is no goal.
  std::string to_json() const;

 private:
  std::string bench_;
  std::vector<Measurement> results_;
};

// Four significant digits with k, M or G: "12.34 M".
std::string short_number(double value);

}  // namespace meguri::bench
