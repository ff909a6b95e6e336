#include "bench/scan_work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/archive_index.h"
#include "app/scan_run.h"
#include "app/stop_signals.h"
#include "archive/snapshot_query.h"
#include "base/check.h"
#include "bench/process.h"
#include "bench/timing.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "env/process_usage.h"
#include "scan/builtin_burn.h"
#include "scan/run_folder.h"
#include "scan/sinks.h"

namespace meguri::bench {
namespace {

constexpr base::Instant kAfterAll = base::Instant::from_ms(4'000'000'000'000);
constexpr std::int64_t kMemoryEveryNs = 200'000'000;

// Runs `work` in a child, which says what came out as JSON.
base::Result<nlohmann::json> json_of_child(
    const std::function<base::Result<nlohmann::json>()>& work) {
  const ChildEnd end = run_child([&work] {
    const auto json = work();
    if (!json) {
      fmt::print(stderr, "{}\n", json.error().message());
      return 1;
    }
    const std::string text = json->dump();
    CHECK(::write(STDOUT_FILENO, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return 0;
  });
  auto json = nlohmann::json::parse(end.output, nullptr, false);
  if (!end.is_good || json.is_discarded()) {
    return base::fail(base::ErrorCode::kFailed, "the scan failed");
  }
  return json;
}

// What is seen of a run while it goes on.
class Observer {
 public:
  explicit Observer(std::size_t workers) : traces_(workers), began_ns_(clock_.nanoseconds()) {}

  void take(std::size_t worker, const scan::WorkerRecord& record) {
    const std::int64_t now = clock_.nanoseconds();
    traces_[worker].push_back(
        {static_cast<double>(now - began_ns_) / 1e9, static_cast<double>(record.cpu_ns) / 1e9});
    if (now - looked_ns_ < kMemoryEveryNs) return;
    looked_ns_ = now;
    look();
  }
  void look() {
    const double mb = static_cast<double>(env::process_usage().resident_bytes) / 1e6;
    memory_mb_.push_back(mb);
  }

  const std::vector<std::vector<std::pair<double, double>>>& traces() const { return traces_; }
  std::int64_t began_ns() const { return began_ns_; }
  double memory_mb() const { return std::ranges::max(memory_mb_); }
  double memory_growth_mb() const {
    return memory_mb() - *std::max_element(memory_mb_.begin(),
                                           memory_mb_.begin() + static_cast<std::ptrdiff_t>(
                                                                    memory_mb_.size() / 10 + 1));
  }

 private:
  const env::RealClock clock_;
  std::vector<std::vector<std::pair<double, double>>> traces_;
  const std::int64_t began_ns_;
  std::int64_t looked_ns_ = 0;
  std::vector<double> memory_mb_;
};

nlohmann::json figures_of(const app::ScanOutcome& outcome, const Observer& observer) {
  nlohmann::json figures = {{"results", outcome.counts.results},
                            {"skipped", outcome.counts.skipped},
                            {"failures", outcome.counts.failures},
                            {"restarts", outcome.counts.restarts},
                            {"real", outcome.seconds},
                            {"memory", observer.memory_mb()},
                            {"growth", observer.memory_growth_mb()}};
  for (std::size_t i = 0; i < outcome.workers.size(); ++i) {
    const scan::WorkerRecord& worker = outcome.workers[i];
    const double busy =
        static_cast<double>(worker.ready_ns - std::min(worker.ready_ns, worker.idle_ns)) / 1e9;
    figures["workers"].push_back(
        {{"results", worker.results},
         {"busy", busy / outcome.seconds},
         {"cpu", static_cast<double>(worker.cpu_ns) / 1e9},
         {"end", static_cast<double>(worker.last_ns - observer.began_ns()) / 1e9},
         {"trace", observer.traces()[i]}});
  }
  return figures;
}

base::Result<nlohmann::json> scan_in_child(const ScanSetting& setting) {
  const app::StopSignals signals;
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const auto index, app::open_archive_index(files, setting.archive));
  ASSIGN_OR_RETURN(const auto reader, scan::DocumentListReader::open(files, setting.list));
  ASSIGN_OR_RETURN(const auto folder, scan::RunFolder::create(files, setting.dir, "{}"));
  RETURN_IF_ERROR(folder->begin(reader->size()));
  scan::FolderSink sink(*folder, [](const scan::SkippedDocument& document) {
    return nlohmann::json{{"reason", document.reason}}.dump();
  });
  scan::AnalyserSettings analyser;
  analyser.kind = scan::AnalyserKind::kBuiltIn;
  analyser.arguments = {std::string(scan::kBurn), setting.burn};
  analyser.scratch = setting.dir;
  scan::DispatchSettings dispatch;
  dispatch.workers = setting.workers;
  dispatch.mode = setting.mode;
  dispatch.restart_after = setting.restart_after;
  Observer observer(setting.workers);
  const app::ScanRequest request{
      .signals = signals,
      .index = *index,
      .archive = setting.archive,
      .list = setting.list,
      .analyser = analyser,
      .dispatch = dispatch,
      .worker_program = program_folder() + "/meguri",
      .is_quiet = true,
      .on_usage = [&observer](std::size_t worker, const scan::WorkerRecord& record) {
        observer.take(worker, record);
      }};
  app::ScanOutcome outcome;
  const double cpu_before = env::process_usage().cpu_seconds;
  RETURN_IF_ERROR(app::run_scan(files, request, folder->done(), sink, outcome));
  RETURN_IF_ERROR(folder->commit());
  const double cpu = env::process_usage().cpu_seconds - cpu_before;
  observer.look();
  nlohmann::json figures = figures_of(outcome, observer);
  figures["cpu"] = cpu;
  return figures;
}

}  // namespace

double ScanCost::worker_cpu_seconds() const {
  double sum = 0;
  for (const ScanWorkerCost& worker : workers) sum += worker.cpu_seconds;
  return sum;
}

double ScanCost::least_busy_share() const {
  return std::ranges::min(workers, {}, &ScanWorkerCost::busy_share).busy_share;
}

double ScanCost::end_spread() const {
  const auto [first, last] = std::ranges::minmax(workers, {}, &ScanWorkerCost::end_seconds);
  return (last.end_seconds - first.end_seconds) / real_seconds;
}

base::Result<std::uint64_t> write_scan_list(const std::string& archive, const std::string& path) {
  ASSIGN_OR_RETURN(
      const auto json, json_of_child([&]() -> base::Result<nlohmann::json> {
        env::PosixFileSystem files;
        ASSIGN_OR_RETURN(const auto index, app::open_archive_index(files, archive));
        const archive::SnapshotQuery query = archive::SnapshotQuery::at(kAfterAll);
        const app::SnapshotRun run{.index = *index,
                                   .query = query,
                                   .workers = std::max(1U, std::thread::hardware_concurrency()),
                                   .is_quiet = true,
                                   .doing = "selecting"};
        ASSIGN_OR_RETURN(const std::uint64_t documents, app::write_document_list(files, run, path));
        return nlohmann::json(documents);
      }));
  return json.get<std::uint64_t>();
}

base::Result<ScanCost> measure_scan(const ScanSetting& setting) {
  ASSIGN_OR_RETURN(const auto figures, json_of_child([&] { return scan_in_child(setting); }));
  ScanCost cost;
  cost.results = figures["results"].get<double>();
  cost.skipped = figures["skipped"].get<double>();
  cost.failures = figures["failures"].get<double>();
  cost.restarts = figures["restarts"].get<double>();
  cost.real_seconds = figures["real"].get<double>();
  cost.dispatcher_cpu_seconds = figures["cpu"].get<double>();
  cost.memory_mb = figures["memory"].get<double>();
  cost.memory_growth_mb = figures["growth"].get<double>();
  for (const auto& worker : figures["workers"]) {
    cost.workers.push_back(
        {.results = worker["results"].get<double>(),
         .busy_share = worker["busy"].get<double>(),
         .cpu_seconds = worker["cpu"].get<double>(),
         .end_seconds = worker["end"].get<double>(),
         .trace = worker["trace"].get<std::vector<std::pair<double, double>>>()});
  }
  return cost;
}

}  // namespace meguri::bench
