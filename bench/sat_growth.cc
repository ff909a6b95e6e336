#include "bench/sat_growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/sat_run.h"

namespace meguri::bench {
namespace {

constexpr std::uint32_t kSmallest = 1'000'000;
constexpr double kFlatGoal = 1.1;
constexpr double kRestartGoal = 60;  // seconds

// 1, 3, 10, 30 million and so on, up to `most`.
std::vector<std::uint32_t> sizes_up_to(std::uint32_t most) {
  std::vector<std::uint32_t> sizes = {std::min(kSmallest, most)};
  while (sizes.back() < most) {
    const std::uint64_t factor = sizes.size() % 2 == 1 ? 3 : 10;
    const std::uint64_t base = sizes.size() % 2 == 1 ? sizes.back() : sizes[sizes.size() - 2];
    sizes.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(base * factor, most)));
  }
  return sizes;
}

void add_size(Report& report, const std::string& name, const SatCost& cost) {
  report.add(name + ", real time", cost.us(), "µs/record");
  report.add(name + ", CPU", cost.us(cost.cpu_seconds), "µs/record");
  report.add(name + ", memory", cost.peak_mb, "MB");
  report.add(name + ", disk after loading", cost.disk_bytes / 1e6, "MB");
}

}  // namespace

base::Status measure_sat_growth(const Options& options, const SatPlan& plan, Report& report) {
  std::vector<double> us;
  for (const std::uint32_t records : sizes_up_to(plan.records)) {
    SatPlan sized = plan;
    sized.records = records;
    SatSetting setting = sized.setting(options.dir, "sat");
    setting.restarts = true;
    ASSIGN_OR_RETURN(const SatCost cost,
                     measure_sat("sat", setting, sized.load(), SatStart::kCold));
    const std::string name = fmt::format("{:.3g} M records", records / 1e6);
    add_size(report, name, cost);
    const bool is_last = records == plan.records;
    report.add(name + ", opened after a kill in", cost.restart_seconds, "s",
               is_last ? std::optional(Goal::at_most(kRestartGoal)) : std::nullopt);
    us.push_back(cost.us());
  }
  report.add("most records / fewest", us.back() / us.front(), "ratio", Goal::at_most(kFlatGoal));
  return {};
}

}  // namespace meguri::bench
