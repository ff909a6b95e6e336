#include "crawl/host_load.h"

#include <algorithm>
#include <limits>

namespace meguri::crawl {

namespace {

double days_of(base::Duration duration) {
  return static_cast<double>(duration.ms()) / static_cast<double>(base::Duration::days(1).ms());
}

// However large the host, its pages are seen once in their lives.
constexpr double kFactorMax = 1e6;
constexpr double kDaysMax = 400;

}  // namespace

double bearable_load(const HostDemand& demand) {
  const double visit_days = days_of(demand.access);
  return visit_days > 0 ? std::min(demand.visits_a_day, 1 / visit_days) : demand.visits_a_day;
}

double crowding_of(double visits_a_day, base::Duration turn) {
  return std::max(1.0, visits_a_day * days_of(turn));
}

HostPace pace_of(const HostDemand& demand, Remedy remedy) {
  HostPace pace;
  pace.access = demand.access;
  const double left = bearable_load(demand) / std::max(1.0, demand.crowding);
  const double factor = left > 0 ? demand.visits_a_day / left : 1;
  if (!(factor > 1)) return pace;
  if (remedy != Remedy::kAddDays) {
    pace.factor = std::min(factor, kFactorMax);
    return pace;
  }
  // With intervals longer by d the load is at most n / (n/L + d), because a mean of n/L hides none
  // that are felt more; d = n (1/l - 1/L) makes that l.
  const double days = static_cast<double>(demand.pages) * (1 / left - 1 / demand.visits_a_day);
  const double most = std::clamp(days, 0.0, kDaysMax);
  pace.added = base::Duration::from_ms(
      static_cast<std::int64_t>(most * static_cast<double>(base::Duration::days(1).ms())));
  return pace;
}

double feasibility(double visits_a_day, base::Duration download) {
  const double busy = visits_a_day * days_of(download);
  return busy > 0 ? 1 / busy : std::numeric_limits<double>::infinity();
}

}  // namespace meguri::crawl
