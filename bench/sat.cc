// The state store under the load of paper 003: every record is read, changed and written at its own
// period. Beside the paper's variants and B-tree, and what other stores make of it today.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "bench/benches.h"
#include "bench/sat_run.h"

namespace meguri::bench {
namespace {

constexpr std::uint32_t kRecords = 17'496'056;
constexpr std::uint32_t kQuickRecords = 500'000;
constexpr double kPeersGoal = 10;
constexpr double kSequentialGoal = 2;
constexpr double kNaiveGoal = 3;
constexpr double kMixedGoal = 1.5;
constexpr double kCachedGoalUs = 0.5;

const std::vector<std::string>& store_names() {
  static const std::vector<std::string> kNames = {"sat",  "naive",   "bdb",        "bdb-ro",
                                                  "lmdb", "rocksdb", "rocksdb-due"};
  return kNames;
}

struct Plan {
  std::uint32_t records = kRecords;
  std::uint32_t steps = 36;
  std::size_t fixed_bytes = 100;
  SatUnit unit = SatUnit::kHour;
  std::uint64_t memory_bytes = std::uint64_t{768} << 20U;
  std::uint64_t pool_bytes = std::uint64_t{32} << 20U;
  std::vector<std::string> stores = store_names();

  SatLoad load() const { return load(unit); }
  SatLoad load(SatUnit other) const { return {records, fixed_bytes, other, steps}; }
  SatSetting setting(const Options& options, const std::string& name) const {
    SatSetting setting;
    setting.dir = options.dir + "/" + name;
    setting.memory_bytes = memory_bytes;
    setting.pool_bytes = pool_bytes;
    return setting;
  }
};

template <typename T>
base::Status read_number(const std::string& text, T* number) {
  if (text.empty()) return {};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  if (error == std::errc() && stop == end && *number > 0) return {};
  return base::fail(base::ErrorCode::kInvalid, "{} is no number", base::quoted(text));
}

// "768M", "2G" or bytes.
base::Status read_size(std::string text, std::uint64_t* bytes) {
  unsigned shift = 0;
  if (text.ends_with('M')) shift = 20;
  if (text.ends_with('G')) shift = 30;
  if (shift > 0) text.pop_back();
  RETURN_IF_ERROR(read_number(text, bytes));
  if (!text.empty()) *bytes <<= shift;
  return {};
}

base::Status read_unit(const std::string& text, SatUnit* unit) {
  static const std::map<std::string, SatUnit> kUnits = {{"", SatUnit::kHour},
                                                        {"hour", SatUnit::kHour},
                                                        {"day", SatUnit::kDay},
                                                        {"minute", SatUnit::kMinute},
                                                        {"mixed", SatUnit::kMixed}};
  const auto found = kUnits.find(text);
  if (found == kUnits.end()) {
    return base::fail(base::ErrorCode::kInvalid, "{} is no unit: hour, day, minute or mixed",
                      base::quoted(text));
  }
  *unit = found->second;
  return {};
}

base::Status read_stores(const std::string& text, std::vector<std::string>* stores) {
  if (text.empty()) return {};
  stores->clear();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    stores->push_back(text.substr(at, comma - at));
    if (!make_sat_store(stores->back(), {})) {
      return base::fail(base::ErrorCode::kInvalid, "there is no store {}",
                        base::quoted(stores->back()));
    }
    at = comma + 1;
  }
  return {};
}

base::Result<Plan> make_plan(const Options& options) {
  Plan plan;
  RETURN_IF_ERROR(read_unit(options.sat.unit, &plan.unit));
  if (plan.unit == SatUnit::kDay) plan.steps = 5;
  if (options.quick) {
    plan.records = kQuickRecords;
    // As much less, but for what a process needs anyway.
    plan.memory_bytes = std::uint64_t{48} << 20U;
    plan.pool_bytes = std::uint64_t{4} << 20U;
  }
  RETURN_IF_ERROR(read_number(options.sat.records, &plan.records));
  RETURN_IF_ERROR(read_number(options.sat.fixed, &plan.fixed_bytes));
  RETURN_IF_ERROR(read_size(options.sat.memory, &plan.memory_bytes));
  RETURN_IF_ERROR(read_stores(options.sat.stores, &plan.stores));
  if (plan.fixed_bytes < sizeof(SatCounters)) {
    return base::fail(base::ErrorCode::kInvalid, "the fixed part has at least {} bytes",
                      sizeof(SatCounters));
  }
  return plan;
}

double add_cost(Report& report, const std::string& name, const SatCost& cost,
                std::optional<Goal> cpu_goal = std::nullopt) {
  const double mean_us = report.add(name + ", real time", cost.us(cost.seconds), "µs/record");
  report.add(name + ", CPU", cost.us(cost.cpu_seconds), "µs/record", cpu_goal);
  report.add(name + ", worst step", cost.worst_step_us, "µs/record");
  const auto updates = static_cast<double>(cost.updates);
  report.add(name + ", read", cost.read_bytes / updates, "bytes/record");
  report.add(name + ", written", cost.written_bytes / updates, "bytes/record");
  report.add(name + ", memory", cost.peak_mb, "MB");
  report.add(name + ", page cache emptied", cost.files_dropped, "times");
  report.add(name + ", disk after loading", cost.disk_bytes / 1e6, "MB");
  report.add(name + ", loading", cost.load_seconds, "s");
  return mean_us;
}

bool is_peer(const std::string& name) {
  static const std::vector<std::string> kPeers = {"bdb", "lmdb", "rocksdb", "rocksdb-due"};
  return std::ranges::find(kPeers, name) != kPeers.end();
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
    if (is_peer(name)) best = std::min(best, mean);
  }
  if (best < std::numeric_limits<double>::infinity()) {
    report.add("the best peer / sat", best / ours->second, "ratio", Goal::at_least(kPeersGoal));
  }
  report.add("sat / bytes once, sequentially", ours->second / us.at("sequential"), "ratio",
             Goal::at_most(kSequentialGoal));
  if (const auto naive = us.find("naive"); naive != us.end()) {
    report.add("naive / sat", naive->second / ours->second, "ratio", Goal::at_least(kNaiveGoal));
  }
  if (const auto mixed = us.find("mixed"); mixed != us.end()) {
    report.add("sat of minutes, mixed radix / sat", mixed->second / ours->second, "ratio",
               Goal::at_most(kMixedGoal));
  }
}

// Without messages and with one for each record, joined by hash and by sorting. Sending them is not
// counted.
base::Status add_messages(const Options& options, const Plan& plan, Report& report) {
  for (const std::string store : {"sat", "sat-sort"}) {
    double without = 0;
    for (const bool has_messages : {false, true}) {
      SatSetting setting = plan.setting(options, store);
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

}  // namespace

base::Status run_sat(const Options& options, Report& report) {
  ASSIGN_OR_RETURN(const Plan plan, make_plan(options));
  const SatLoad load = plan.load();
  std::uint64_t bytes = 0;
  const double updates = add_load(report, load, &bytes);
  report.add("memory allowed, not enforced within a step",
             static_cast<double>(plan.memory_bytes) / 1e6, "MB");
  ASSIGN_OR_RETURN(const SequentialCost once, measure_sequential(options.dir + "/once", bytes));
  std::map<std::string, double> us;
  report.add("bytes once, read", once.read_seconds * 1e6 / updates, "µs/record");
  report.add("bytes once, written", once.write_seconds * 1e6 / updates, "µs/record");
  us["sequential"] = (once.read_seconds + once.write_seconds) * 1e6 / updates;
  for (const std::string& name : plan.stores) {
    ASSIGN_OR_RETURN(const SatCost cost,
                     measure_sat(name, plan.setting(options, name), load, SatStart::kCold));
    us[name] = add_cost(report, name, cost);
    if (name != "sat") continue;
    if (plan.unit == SatUnit::kHour) {
      ASSIGN_OR_RETURN(const SatCost mixed,
                       measure_sat(name, plan.setting(options, name), plan.load(SatUnit::kMixed),
                                   SatStart::kCold));
      us["mixed"] = add_cost(report, "sat of minutes, mixed radix", mixed);
    }
    ASSIGN_OR_RETURN(const SatCost cached,
                     measure_sat(name, plan.setting(options, name), load, SatStart::kCached));
    add_cost(report, "sat in cache", cached, Goal::at_most(kCachedGoalUs));
  }
  if (options.sat.messages) RETURN_IF_ERROR(add_messages(options, plan, report));
  add_ratios(report, us);
  return {};
}

}  // namespace meguri::bench
