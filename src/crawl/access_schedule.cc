#include "crawl/access_schedule.h"

#include <fmt/format.h>

#include <string_view>

#include "crawl/list_schedule.h"
#include "crawl/wheel_schedule.h"

namespace meguri::crawl {

namespace {

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void append(std::string& to, std::uint64_t count, std::string_view one, std::string_view many) {
  if (count == 0) return;
  if (!to.empty()) to += ", ";
  to += counted(count, one, many);
}

}  // namespace

std::string AccessSummary::to_string() const {
  std::string text = jobs_waiting == 0 ? std::string("no job waits")
                                       : counted(jobs_waiting, "job waits", "jobs wait");
  std::string reasons;
  append(reasons, hosts_delayed, "host for its delay", "hosts for their delay");
  append(reasons, servers_gap, "server for its gap", "servers for their gap");
  append(reasons, servers_busy, "server for its answer", "servers for their answers");
  append(reasons, servers_ready, "server for nothing", "servers for nothing");
  if (!reasons.empty()) text += ": " + reasons;
  if (hosts_paused > 0) text += "; " + counted(hosts_paused, "host is paused", "hosts are paused");
  if (jobs_in_flight > 0) text += fmt::format("; {} in flight", jobs_in_flight);
  if (!paused.empty()) return fmt::format("paused: {}; {}", paused, text);
  if (jobs_waiting > 0 && next_ready != base::Ticks::never()) {
    const bool ready = next_ready <= now;
    text += ready ? std::string("; next now") : "; next in " + (next_ready - now).to_string();
  }
  return text;
}

std::unique_ptr<AccessSchedule> make_access_schedule(AccessScheduleKind kind,
                                                     const AccessLimits& limits) {
  if (kind == AccessScheduleKind::kLists) return std::make_unique<ListSchedule>(limits);
  return std::make_unique<WheelSchedule>(limits);
}

}  // namespace meguri::crawl
