// The parallel scan: how fast analysers are fed, against FastWARC; what the dispatcher costs; and
// how busy workers are by each of paper 001's ways to dispatch.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/archive_import.h"
#include "bench/archive_warcs.h"
#include "bench/benches.h"
#include "bench/scan_figures.h"
#include "bench/scan_peer.h"
#include "bench/scan_work.h"
#include "bench/timing.h"
#include "env/posix_file_system.h"
#include "scan/builtin_burn.h"

namespace meguri::bench {
namespace {

constexpr double kFeedGoal = 1.5;  // times FastWARC's documents
constexpr double kDispatcherGoalUs = 10;
constexpr double kBusyGoal = 95;
constexpr double kSpreadGoal = 2;
constexpr double kGrowthGoalMb = 8;
constexpr double kPoisonGoal = 1;  // %

constexpr WarcLoad kLoad{.pages = 120'000};
constexpr WarcLoad kQuickLoad{.pages = 12'000, .file_bytes = std::uint64_t{8} << 20U};

struct Mode {
  scan::DispatchMode mode;
  const char* name;
  const char* what;
};
constexpr std::array kModes = {
    Mode{scan::DispatchMode::kPipelined, "pipelined",
         "a worker gets documents before it has answered those it has"},
    Mode{scan::DispatchMode::kSync, "sync", "a worker gets a document when it has none"},
    Mode{scan::DispatchMode::kStatic, "static", "a worker has its part of the list from the start"},
};

std::size_t cores() { return std::max(1U, std::thread::hardware_concurrency()); }

// What is scanned, and where.
struct Ground {
  std::vector<std::string> paths;  // of WARC files
  ScanSetting setting;
  double documents = 0;
  int runs = 0;

  // In a folder of its own.
  base::Result<ScanCost> measure(const std::string& burn, scan::DispatchMode mode) {
    ScanSetting one = setting;
    one.dir = fmt::format("{}/run-{}", setting.dir, ++runs);
    one.burn = burn;
    one.mode = mode;
    ASSIGN_OR_RETURN(const ScanCost cost, measure_scan(one));
    const double expected = burn == "poisoned" ? documents - poison() : documents;
    if (cost.results != expected || cost.results + cost.skipped != documents) {
      return base::fail(base::ErrorCode::kFailed, "{} of {} documents had a result", cost.results,
                        expected);
    }
    return cost;
  }
  double poison() const {
    double count = 0;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(documents); ++i) {
      if (scan::is_poison(i)) ++count;
    }
    return count;
  }
};

base::Result<Ground> make_ground(const WarcLoad& load, const std::string& dir, Report& report) {
  Ground ground;
  ASSIGN_OR_RETURN(ground.paths, make_warcs(dir + "/warcs", load));
  ground.setting.archive = dir + "/archive";
  ground.setting.list = dir + "/list";
  ground.setting.dir = dir;
  ground.setting.workers = cores();
  RETURN_IF_ERROR(measure_import(ground.paths, ground.setting.archive));
  base::Result<std::uint64_t> documents = 0;
  const double seconds =
      seconds_of([&] { documents = write_scan_list(ground.setting.archive, ground.setting.list); });
  RETURN_IF_ERROR(documents);
  ground.documents = static_cast<double>(*documents);
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const std::uint64_t bytes, files.size(ground.setting.list));
  ASSIGN_OR_RETURN(const WarcContents contents, count_records(ground.paths));
  report.add("documents", ground.documents, "documents");
  report.add("files", contents.mb, "MB");
  report.add("records in them", contents.records, "records");
  report.add("making the list", seconds * 1e6 / ground.documents, "µs/document");
  report.add("the list on disk", static_cast<double>(bytes) / ground.documents, "bytes/document");
  report.add("workers", static_cast<double>(ground.setting.workers), "workers");
  return ground;
}

// What it costs to read all of the content and to do nothing with it.
struct FeedCost {
  double worker_us = 0;      // CPU a document
  double dispatcher_us = 0;  // likewise
  double real_us = 0;
  double memory_mb = 0;
  double growth_mb = 0;
  std::array<std::optional<double>, kFastWarcVersions.size()> peer_us = {};
};

// All in turn, so that what else runs on the machine meets all; the best round of each counts.
base::Result<FeedCost> measure_feed(Ground& ground, const std::string& dir) {
  FeedCost best;
  const auto keep = [](double& least, double us, bool is_first) {
    least = is_first ? us : std::min(least, us);
  };
  for (std::size_t i = 0; i < kRounds; ++i) {
    ASSIGN_OR_RETURN(const ScanCost cost,
                     ground.measure("nothing", scan::DispatchMode::kPipelined));
    const double us = 1e6 / ground.documents;
    keep(best.worker_us, cost.worker_cpu_seconds() * us, i == 0);
    keep(best.dispatcher_us, cost.dispatcher_cpu_seconds * us, i == 0);
    keep(best.real_us, cost.real_seconds * us, i == 0);
    best.memory_mb = std::max(best.memory_mb, cost.memory_mb);
    best.growth_mb = std::max(best.growth_mb, cost.memory_growth_mb);
    for (std::size_t j = 0; j < kFastWarcVersions.size(); ++j) {
      ASSIGN_OR_RETURN(const auto peer,
                       measure_fastwarc_reading(kFastWarcVersions[j], ground.paths, dir));
      if (!peer) continue;
      const double peer_us = peer->cpu_seconds * 1e6 / peer->documents;
      best.peer_us[j] = std::min(best.peer_us[j].value_or(peer_us), peer_us);
    }
  }
  return best;
}

void add_feed(Report& report, const FeedCost& cost) {
  report.add("nothing done with the content, CPU of workers", cost.worker_us, "µs/document");
  report.add("nothing done with the content, CPU of the dispatcher", cost.dispatcher_us,
             "µs/document", Goal::at_most(kDispatcherGoalUs));
  report.add("nothing done with the content, real time", cost.real_us, "µs/document");
  report.add("documents for a worker's second of CPU", 1e6 / cost.worker_us, "documents/s");
  for (std::size_t j = 0; j < kFastWarcVersions.size(); ++j) {
    const std::string name = fmt::format("FastWARC {}", kFastWarcVersions[j]);
    if (!cost.peer_us[j]) {
      report.add(name + ": cannot be installed here", 0, "documents");
      continue;
    }
    report.add(name + ", documents for a second of CPU", 1e6 / *cost.peer_us[j], "documents/s");
    report.add(fmt::format("a worker / {}", name), *cost.peer_us[j] / cost.worker_us, "ratio",
               Goal::at_least(kFeedGoal));
  }
  report.add("memory of the dispatcher", cost.memory_mb, "MB");
  report.add("of that, since a tenth of the documents", cost.growth_mb, "MB",
             Goal::at_most(kGrowthGoalMb));
}

void add_mode(Report& report, const ScanModeRun& run, bool has_goals) {
  const ScanCost& cost = run.cost;
  const auto goal = [has_goals](Goal wanted) {
    return has_goals ? std::optional(wanted) : std::nullopt;
  };
  for (std::size_t i = 0; i < cost.workers.size(); ++i) {
    report.add(fmt::format("{}, worker {}, busy", run.name, i + 1),
               cost.workers[i].busy_share * 100, "%", goal(Goal::at_least(kBusyGoal)));
    report.add(fmt::format("{}, worker {}, CPU", run.name, i + 1),
               cost.workers[i].cpu_seconds / cost.real_seconds * 100, "% of a core");
  }
  report.add(run.name + ", ends apart", cost.end_spread() * 100, "% of the time",
             goal(Goal::at_most(kSpreadGoal)));
  report.add(run.name + ", real time", cost.real_seconds, "s");
  report.add(run.name + ", CPU of the dispatcher", cost.dispatcher_cpu_seconds * 1e6 / cost.results,
             "µs/document");
}

// What poison costs besides the starts of workers, of which as many are made without any.
void add_poison(Report& report, const ScanCost& clean, const ScanCost& restarted,
                const ScanCost& poisoned) {
  report.add("1 % poison, skipped", poisoned.skipped, "documents");
  report.add("1 % poison, failures of workers", poisoned.failures, "failures");
  report.add("1 % poison, real time", poisoned.real_seconds, "s");
  report.add("no poison, restarts of workers", restarted.restarts, "restarts");
  report.add("no poison, restarts of workers, real time", restarted.real_seconds, "s");
  const double restart = (restarted.real_seconds - clean.real_seconds) / restarted.restarts;
  report.add("a restart", restart * 1e3, "ms of the run");
  const double work = clean.real_seconds * poisoned.results / clean.results;
  const double beyond = poisoned.real_seconds - work - restart * poisoned.failures;
  report.add("1 % poison, slowdown beyond restarts", beyond / clean.real_seconds * 100, "%",
             Goal::at_most(kPoisonGoal));
}

}  // namespace

base::Status run_scan(const Options& options, Report& report) {
  ASSIGN_OR_RETURN(Ground ground,
                   make_ground(options.quick ? kQuickLoad : kLoad, options.dir, report));
  ASSIGN_OR_RETURN(const FeedCost feed, measure_feed(ground, options.dir));
  add_feed(report, feed);
  std::vector<ScanModeRun> runs;
  for (const Mode& mode : kModes) {
    ASSIGN_OR_RETURN(ScanCost cost, ground.measure("skewed", mode.mode));
    runs.push_back({.name = mode.name, .what = mode.what, .cost = std::move(cost)});
    add_mode(report, runs.back(), mode.mode == scan::DispatchMode::kPipelined);
  }
  const double pipelined = runs.front().cost.real_seconds;
  for (const ScanModeRun& run : runs) {
    if (&run == &runs.front()) continue;
    report.add(fmt::format("{} / pipelined, real time", run.name),
               run.cost.real_seconds / pipelined, "ratio");
  }
  ASSIGN_OR_RETURN(const ScanCost poisoned,
                   ground.measure("poisoned", scan::DispatchMode::kPipelined));
  const double failures = std::max(poisoned.failures, 1.0);
  ground.setting.restart_after = static_cast<std::uint64_t>(ground.documents / failures);
  ASSIGN_OR_RETURN(const ScanCost restarted,
                   ground.measure("skewed", scan::DispatchMode::kPipelined));
  add_poison(report, runs.front().cost, restarted, poisoned);
  if (options.figures.empty()) return {};
  return write_scan_figure(options.figures, options.quick, ground.documents, runs);
}

}  // namespace meguri::bench
