#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/machine.h"

namespace meguri::bench {

namespace {

std::string goal_text(const Measurement& result) {
  if (!result.goal) return "";
  const char* sign = result.goal->kind == Goal::Kind::kAtLeast ? "≥" : "≤";
  return fmt::format("{} {}", sign, short_number(result.goal->value));
}

std::string met_text(const Measurement& result) {
  if (!result.goal) return "";
  return result.goal->met_by(result.value) ? "met" : "MISSED";
}

}  // namespace

double Report::add(std::string name, double value, std::string unit, std::optional<Goal> goal) {
  results_.push_back({std::move(name), value, std::move(unit), goal});
  return value;
}

std::string Report::to_table() const {
  const Machine machine = this_machine();
  std::string text = fmt::format(
      "{} on {}, {} cores, {:.1f} GiB, Linux {}, {}\n", bench_, machine.cpu, machine.cores,
      static_cast<double>(machine.memory_bytes) / (1U << 30U), machine.kernel, machine.compiler);
  std::size_t name_width = 0;
  std::size_t unit_width = 0;
  for (const Measurement& result : results_) {
    name_width = std::max(name_width, result.name.size());
    unit_width = std::max(unit_width, result.unit.size());
  }
  for (const Measurement& result : results_) {
    std::string line = fmt::format("  {:<{}}  {:>10}  {:<{}}  {:<12}  {}", result.name, name_width,
                                   short_number(result.value), result.unit, unit_width,
                                   goal_text(result), met_text(result));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string Report::to_json() const {
  const Machine machine = this_machine();
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const Measurement& result : results_) {
    nlohmann::ordered_json goal;
    nlohmann::ordered_json met;
    if (result.goal) {
      goal = result.goal->value;
      met = result.goal->met_by(result.value);
    }
    results.push_back({{"name", result.name},
                       {"value", result.value},
                       {"unit", result.unit},
                       {"goal", goal},
                       {"met", met}});
  }
  const nlohmann::ordered_json report = {{"bench", bench_},
                                         {"machine",
                                          {{"cpu", machine.cpu},
                                           {"cores", machine.cores},
                                           {"memory_bytes", machine.memory_bytes},
                                           {"kernel", machine.kernel},
                                           {"compiler", machine.compiler}}},
                                         {"results", results}};
  return report.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string short_number(double value) {
  struct Scale {
    double factor;
    const char* letter;
  };
  static constexpr Scale kScales[] = {{1e9, " G"}, {1e6, " M"}, {1e4, " k"}};
  for (const Scale& scale : kScales) {
    if (std::abs(value) < scale.factor) continue;
    const double factor = scale.factor == 1e4 ? 1e3 : scale.factor;
    return fmt::format("{:.4g}{}", value / factor, scale.letter);
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace meguri::bench
