#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/values.h"
#include "app/virtual_web.h"
#include "base/text.h"
#include "env/posix_file_system.h"
#include "sim/access_log.h"
#include "sim/captures.h"
#include "sim/checker.h"
#include "sim/leads.h"

namespace meguri::app {
namespace {

constexpr std::size_t kBreachesShown = 20;

nlohmann::json json_of(const sim::CheckReport& report, std::span<const sim::Access> log) {
  nlohmann::json counts;
  for (std::size_t i = 0; i < sim::kBreachKinds; ++i) {
    counts[std::string(sim::name_of(static_cast<sim::BreachKind>(i)))] = report.counts[i];
  }
  nlohmann::json first = nlohmann::json::array();
  for (const sim::Breach& breach : report.breaches) {
    const sim::Access& access = log[breach.access];
    first.push_back({{"kind", sim::name_of(breach.kind)},
                     {"time", access.arrival.to_rfc3339_ms()},
                     {"host", access.host},
                     {"target", access.target},
                     {"why", breach.why}});
  }
  return {{"requests", report.accesses},
          {"breaches", report.total()},
          {"by_kind", counts},
          {"first", first}};
}

nlohmann::json json_of(const sim::CaptureReport& report) {
  return {{"pages", report.pages},
          {"pages_captured", report.pages_captured},
          {"captures", report.captures},
          {"captures_of_no_page", report.captures_of_no_page},
          {"recall", report.holdings.recall()},
          {"coverage", report.holdings.coverage()},
          {"waste", report.holdings.waste()}};
}

void show(const sim::CheckReport& report, std::span<const sim::Access> log, Output& out) {
  out.print("{} requests, {} breaches\n", report.accesses, report.total());
  for (std::size_t i = 0; i < sim::kBreachKinds; ++i) {
    if (report.counts[i] == 0) continue;
    out.print("  {:<15}{}\n", sim::name_of(static_cast<sim::BreachKind>(i)), report.counts[i]);
  }
  for (const sim::Breach& breach : report.breaches) {
    const sim::Access& access = log[breach.access];
    out.print("{} {}{}: {}: {}\n", access.arrival.to_rfc3339_ms(), printable(access.host),
              printable(access.target), sim::name_of(breach.kind), printable(breach.why));
  }
  if (report.total() > report.breaches.size()) {
    out.print("and {} more\n", report.total() - report.breaches.size());
  }
}

void show(const sim::CaptureReport& report, Output& out) {
  out.print("{} captures of {} of {} pages", report.captures, report.pages_captured, report.pages);
  if (report.captures_of_no_page > 0) {
    out.print(" ({} captures of what is no page of this web or period)",
              report.captures_of_no_page);
  }
  out.print("\n  recall    {:.4f} of the versions\n", report.holdings.recall());
  out.print("  coverage  {:.4f} of the time\n", report.holdings.coverage());
  out.print("  waste     {:.4f} of the captures brought nothing new\n", report.holdings.waste());
}

}  // namespace

void VirtualWebCheck::declare(Options options) {
  world_.declare(options);
  options.option("--log", "FILE", log_, "The access log that the virtual web wrote");
  options.option("--agent", "NAME", agent_, "Whose robots rules count (default: meguri)");
  options.option("--host-gap", "DURATION", host_gap_,
                 "Least time between an answer of a host and the next request (default: 5s)");
  options.option("--host-factor", "X", host_factor_,
                 "And X times as long as that answer took (default: 0)");
  options.option("--server-gap", "DURATION", server_gap_, "The same for a server (default: 1s)");
  options.option("--server-parallel", "N", server_parallel_,
                 "Requests at once to a server (default: 1)");
  options.option("--tolerance", "DURATION", tolerance_, "Forgiven to every gap (default: 0)");
  options.list("--seed-url", "URL", seeds_,
               "What the crawler was given; then every request must have been led to");
  options.flag("--once", once_, "No address may be fetched again once it was answered");
  options.option("--captures", "FILE", captures_,
                 "What an archive holds: lines of URL and time, or CDXJ");
  options.option("--from", "TIME", from_, "Judge captures from then on (default: the first one)");
  options.option("--to", "TIME", to_, "Judge captures up to then (default: the last one)");
  options.flag("--json", json_, "Print one JSON object");
}

base::Result<sim::CheckOptions> VirtualWebCheck::read_options() const {
  sim::CheckOptions options;
  options.once = once_;
  options.seeds = seeds_;
  options.breaches_max = kBreachesShown;
  if (!agent_.empty()) options.agent = agent_;
  if (!host_gap_.empty()) {
    ASSIGN_OR_RETURN(options.host_gap, parse_duration("--host-gap", host_gap_));
  }
  if (!host_factor_.empty()) {
    ASSIGN_OR_RETURN(options.host_gap_factor, parse_number("--host-factor", host_factor_));
  }
  if (!server_gap_.empty()) {
    ASSIGN_OR_RETURN(options.server_gap, parse_duration("--server-gap", server_gap_));
  }
  if (!server_parallel_.empty()) {
    ASSIGN_OR_RETURN(options.server_parallel, parse_count("--server-parallel", server_parallel_));
  }
  if (!tolerance_.empty()) {
    ASSIGN_OR_RETURN(options.tolerance, parse_duration("--tolerance", tolerance_));
  }
  return options;
}

base::Result<sim::CheckReport> VirtualWebCheck::check_log(const sim::World& world,
                                                          env::FileSystem& files,
                                                          nlohmann::json* result, Output& out) {
  ASSIGN_OR_RETURN(const sim::CheckOptions options, read_options());
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files, log_));
  auto log = sim::parse_access_log(text);
  if (!log) return std::unexpected(log.error().with_context(log_));
  sim::CheckReport report = sim::check_log(world, *log, options);
  if (json_) {
    (*result)["log"] = json_of(report, *log);
  } else {
    show(report, *log, out);
  }
  return report;
}

base::Status VirtualWebCheck::check_captures(const sim::World& world, env::FileSystem& files,
                                             nlohmann::json* result, Output& out) {
  ASSIGN_OR_RETURN(const std::string text, env::read_file(files, captures_));
  auto captures = sim::parse_captures(text);
  if (!captures) return std::unexpected(captures.error().with_context(captures_));
  sim::Period period = sim::period_of(*captures);
  if (!from_.empty()) {
    ASSIGN_OR_RETURN(period.from, parse_time("--from", from_, period.to));
  }
  if (!to_.empty()) {
    ASSIGN_OR_RETURN(period.to, parse_time("--to", to_, period.to));
  }
  const sim::CaptureReport report = sim::judge_captures(world, *captures, period, seeds_);
  if (json_) {
    (*result)["captures"] = json_of(report);
  } else {
    show(report, out);
  }
  return {};
}

base::Status VirtualWebCheck::run(Output& out) {
  if (log_.empty() && captures_.empty()) {
    return base::fail(base::ErrorCode::kInvalid, "name what to check, by --log or --captures");
  }
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const sim::WorldOptions options, world_.read(files));
  const sim::World world(options);
  nlohmann::json result;
  std::size_t breaches = 0;
  if (!log_.empty()) {
    ASSIGN_OR_RETURN(const sim::CheckReport report, check_log(world, files, &result, out));
    breaches = report.total();
  }
  if (!captures_.empty()) RETURN_IF_ERROR(check_captures(world, files, &result, out));
  if (json_) out.print("{}\n", result.dump());
  if (breaches == 0) return {};
  return base::fail(base::ErrorCode::kFailed, "the log has {} breaches", breaches);
}

}  // namespace meguri::app
