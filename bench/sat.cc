// The state store under the load of paper 003: every record is read, changed and written at its own
// period. Beside the paper's variants and B-tree, and what other stores make of it today.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/benches.h"
#include "bench/control_group.h"
#include "bench/sat_figures.h"
#include "bench/sat_growth.h"
#include "bench/sat_plan.h"
#include "bench/sat_run.h"

namespace meguri::bench {
namespace {

constexpr double kPeersGoal = 10;
constexpr double kSequentialGoal = 2;
constexpr double kNaiveGoal = 3;
constexpr double kMixedGoal = 1.5;
constexpr double kCachedGoalUs = 0.5;
// With what its files and its index take, and what was replaced in them since a checkpoint.
constexpr std::uint64_t kCachedRecordBytes = 400;

double add_cost(Report& report, const std::string& name, const SatCost& cost,
                std::optional<Goal> cpu_goal = std::nullopt) {
  const double mean_us = report.add(name + ", real time", cost.us(cost.seconds), "µs/record");
  report.add(name + ", CPU", cost.us(cost.cpu_seconds), "µs/record", cpu_goal);
  report.add(name + ", median step", cost.median_step_us(), "µs/record");
  report.add(name + ", worst step", cost.worst_step_us(), "µs/record");
  const auto updates = static_cast<double>(cost.updates);
  report.add(name + ", read", cost.read_bytes / updates, "bytes/record");
  report.add(name + ", written", cost.written_bytes / updates, "bytes/record");
  report.add(name + ", memory", cost.peak_mb, "MB");
  if (cost.is_limited) {
    report.add(name + ", memory with files' pages", cost.group_peak_mb, "MB");
  } else {
    report.add(name + ", page cache emptied", cost.files_dropped, "times");
  }
  report.add(name + ", disk after loading", cost.disk_bytes / 1e6, "MB");
  report.add(name + ", loading", cost.load_seconds, "s");
  return mean_us;
}

std::string memory_limit_name(std::uint64_t bytes) {
  const auto group = ControlGroup::make(bytes);
  return group ? "memory allowed, kept by a control group"
               : "memory allowed, not enforced within a step";
}

// Bytes of the records that are due in all steps, and how many they are.
double add_load(Report& report, const SatLoad& load, std::uint64_t* bytes) {
  std::uint64_t updates = 0;
  for (const auto& step : load.due_by_step()) {
    updates += step.size();
    for (const std::uint32_t seq : step) *bytes += load.body_bytes(seq) + sizeof(base::Id);
  }
  const auto count = static_cast<double>(updates);
  report.add("records", load.records(), "records");
  report.add("steps", load.steps(), "steps");
  report.add("updates a step", count / load.steps(), "records");
  report.add("a record with its id", static_cast<double>(*bytes) / count, "bytes");
  return count;
}

void add_ratios(Report& report, const std::map<std::string, double>& us) {
  const auto ours = us.find("sat");
  if (ours == us.end()) return;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [name, mean] : us) {
    if (name == "bdb" || name == "lmdb" || name == "rocksdb") best = std::min(best, mean);
  }
  if (best < std::numeric_limits<double>::infinity()) {
    report.add("the best peer by id / sat", best / ours->second, "ratio",
               Goal::at_least(kPeersGoal));
  }
  // Ordered by time as we are, which nobody had asked for.
  if (const auto due = us.find("rocksdb-due"); due != us.end()) {
    report.add("rocksdb-due / sat", due->second / ours->second, "ratio");
  }
  report.add("sat / bytes once, sequentially", ours->second / us.at("sequential"), "ratio",
             Goal::at_most(kSequentialGoal));
  if (const auto naive = us.find("naive"); naive != us.end()) {
    report.add("naive / sat", naive->second / ours->second, "ratio");
    report.add("naive / sat, median step", us.at("naive, median step") / us.at("sat, median step"),
               "ratio");
    if (const auto files = us.find("sat-files"); files != us.end()) {
      report.add("naive / sat-files", naive->second / files->second, "ratio");
    }
  }
  if (const auto mixed = us.find("mixed"); mixed != us.end()) {
    report.add("sat of minutes, mixed radix / sat", mixed->second / ours->second, "ratio",
               Goal::at_most(kMixedGoal));
  }
}

// Without messages and with one for each record, joined by hash and by sorting. Sending them is not
// counted.
base::Status add_messages(const Options& options, const SatPlan& plan, Report& report) {
  for (const std::string store : {"sat", "sat-sort"}) {
    double without = 0;
    for (const bool has_messages : {false, true}) {
      SatSetting setting = plan.setting(options.dir, store);
      setting.has_messages = has_messages;
      ASSIGN_OR_RETURN(const SatCost cost,
                       measure_sat(store, setting, plan.load(), SatStart::kCold));
      if (has_messages && cost.messages != cost.updates) {
        return base::fail(base::ErrorCode::kInvalid, "{} messages arrived, and {} were sent",
                          cost.messages, cost.updates);
      }
      const std::string name = store == "sat" ? "joined by hash" : "joined by sorting";
      const std::string what = has_messages ? "a message for each record" : "no messages";
      const double us = cost.us(cost.seconds);
      report.add(what + ", " + name + ", real time", us, "µs/record");
      report.add(what + ", " + name + ", CPU", cost.us(cost.cpu_seconds), "µs/record");
      if (has_messages) report.add("with / without, " + name, us / without, "ratio");
      without = us;
    }
  }
  return {};
}

// SAT/Naive has one page for each buffer, and no more memory to gather what it writes. The system's
// page cache would be such a memory, of any size; so neither store gets it for its writes here. The
// median step counts: with a file for each bucket a checkpoint syncs thousands of them, which the
// paper does not.
base::Status add_naive(const Options& options, const SatPlan& plan, Report& report) {
  std::map<std::string, double> us;
  for (const std::string store : {"sat", "naive"}) {
    SatSetting setting = plan.setting(options.dir, store);
    setting.writes_through = true;
    ASSIGN_OR_RETURN(const SatCost cost, measure_sat(store, setting, plan.load(), SatStart::kCold));
    us[store] = cost.median_step_us();
    add_cost(report, store + ", written through", cost);
  }
  report.add("naive / sat, both written through, median step", us["naive"] / us["sat"], "ratio",
             Goal::at_least(kNaiveGoal));
  return {};
}

}  // namespace

base::Status run_sat(const Options& options, Report& report) {
  if (!options.figures.empty()) return draw_sat_figures(options, report);
  ASSIGN_OR_RETURN(const SatPlan plan, make_sat_plan(options));
  if (options.sat.growth) return measure_sat_growth(options, plan, report);
  const SatLoad load = plan.load();
  std::uint64_t bytes = 0;
  const double updates = add_load(report, load, &bytes);
  report.add(memory_limit_name(plan.memory_bytes), static_cast<double>(plan.memory_bytes) / 1e6,
             "MB");
  ASSIGN_OR_RETURN(const SequentialCost once, measure_sequential(options.dir + "/once", bytes));
  std::map<std::string, double> us;
  report.add("bytes once, read", once.read_seconds * 1e6 / updates, "µs/record");
  report.add("bytes once, written", once.write_seconds * 1e6 / updates, "µs/record");
  us["sequential"] = (once.read_seconds + once.write_seconds) * 1e6 / updates;
  for (const std::string& name : plan.stores) {
    ASSIGN_OR_RETURN(const SatCost cost,
                     measure_sat(name, plan.setting(options.dir, name), load, SatStart::kCold));
    us[name] = add_cost(report, name, cost);
    us[name + ", median step"] = cost.median_step_us();
    if (name != "sat") continue;
    if (plan.unit == SatUnit::kHour) {
      ASSIGN_OR_RETURN(const SatCost mixed,
                       measure_sat(name, plan.setting(options.dir, name),
                                   plan.load(SatUnit::kMixed), SatStart::kCold));
      us["mixed"] = add_cost(report, "sat of minutes, mixed radix", mixed);
    }
    SatPlan small = plan;
    small.records = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(plan.records, plan.memory_bytes / kCachedRecordBytes));
    ASSIGN_OR_RETURN(const SatCost cached, measure_sat(name, small.setting(options.dir, name),
                                                       small.load(), SatStart::kCached));
    report.add("sat in cache, records", small.records, "records");
    add_cost(report, "sat in cache", cached, Goal::at_most(kCachedGoalUs));
  }
  if (options.sat.messages) RETURN_IF_ERROR(add_messages(options, plan, report));
  add_ratios(report, us);
  if (us.contains("sat") && us.contains("naive")) return add_naive(options, plan, report);
  return {};
}

}  // namespace meguri::bench
