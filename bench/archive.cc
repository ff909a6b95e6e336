// What an archive costs: importing WARC files into the temporal index, against FastWARC; snapshots
// of the index, against RocksDB's bare iterator; and records read by sorted pointers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/archive_import.h"
#include "bench/archive_order.h"
#include "bench/archive_walks.h"
#include "bench/archive_warcs.h"
#include "bench/benches.h"
#include "bench/timing.h"

namespace meguri::bench {
namespace {

constexpr double kImportGoal = 1.5;      // times FastWARC's records
constexpr double kWalkGoal = 1'500'000;  // entries a second and core
constexpr double kWalkMemoryGoalMb = 300;
constexpr double kFlatGoal = 1.1;
constexpr double kOrderGoal = 3;

struct ArchiveLoad {
  std::uint64_t entries = 20'000'000;
  std::uint64_t few_entries = 1'000'000;
  WarcLoad text{.pages = 80'000};
  WarcLoad encoded{.pages = 500'000, .is_encoded = true};
  std::size_t import_files = 8;  // of each kind
};

ArchiveLoad quick_load() {
  ArchiveLoad load;
  load.entries = 1'000'000;
  load.few_entries = 100'000;
  load.text = {.pages = 8'000, .file_bytes = std::uint64_t{8} << 20U};
  load.encoded = {.pages = 16'000, .file_bytes = std::uint64_t{8} << 20U, .is_encoded = true};
  return load;
}

unsigned cores() { return std::max(1U, std::thread::hardware_concurrency()); }

// Of the rounds that which took the least CPU; and the most memory of any.
base::Result<WalkCost> best_walk(const std::string& archive, std::uint64_t entries, Walk walk,
                                 std::size_t threads) {
  WalkCost best;
  double peak_mb = 0;
  for (std::size_t i = 0; i < kRounds; ++i) {
    ASSIGN_OR_RETURN(const WalkCost cost, measure_walk(archive, entries, walk, threads));
    if (i == 0 || cost.cpu_seconds < best.cpu_seconds) best = cost;
    peak_mb = std::max(peak_mb, cost.peak_mb);
  }
  best.peak_mb = peak_mb;
  return best;
}

void add_walk(Report& report, const std::string& name, const WalkCost& cost) {
  report.add(name + ", entries a second of CPU", cost.rate(), "entries/s",
             Goal::at_least(kWalkGoal));
  report.add(name + ", real time", cost.real_seconds, "s");
  report.add(name + ", items", static_cast<double>(cost.items), "items");
  report.add(name + ", memory", cost.peak_mb, "MB", Goal::at_most(kWalkMemoryGoalMb));
}

base::Status measure_walks(const ArchiveLoad& load, const std::string& dir, Report& report) {
  const std::string many = dir + "/many";
  const std::string few = dir + "/few";
  report.add("entries", static_cast<double>(load.entries), "entries");
  ASSIGN_OR_RETURN(const IndexCost made, make_index(many, load.entries));
  RETURN_IF_ERROR(make_index(few, load.few_entries));
  const auto entries = static_cast<double>(load.entries);
  report.add("filling the index, CPU", made.cpu_seconds * 1e6 / entries, "µs/entry");
  report.add("index on disk", made.disk_mb * 1e6 / entries, "bytes/entry");
  ASSIGN_OR_RETURN(const WalkCost bare, best_walk(many, load.entries, Walk::kBare, 1));
  ASSIGN_OR_RETURN(const WalkCost at, best_walk(many, load.entries, Walk::kAt, 1));
  ASSIGN_OR_RETURN(const WalkCost during, best_walk(many, load.entries, Walk::kDuring, 1));
  ASSIGN_OR_RETURN(const WalkCost shared, best_walk(many, load.entries, Walk::kAt, cores()));
  ASSIGN_OR_RETURN(const WalkCost small, best_walk(few, load.few_entries, Walk::kAt, 1));
  report.add("RocksDB's iterator alone, entries a second of CPU", bare.rate(), "entries/s");
  report.add("RocksDB's iterator alone, real time", bare.real_seconds, "s");
  add_walk(report, "snapshot of a moment, 1 thread", at);
  add_walk(report, "snapshot of a day, 1 thread", during);
  add_walk(report, fmt::format("snapshot of a moment, {} threads", cores()), shared);
  report.add("snapshot of a moment / RocksDB's iterator", at.us() / bare.us(), "ratio");
  report.add("an entry of few", small.us(), "µs");
  report.add("an entry of many", at.us(), "µs");
  report.add("an entry of many / of few", at.us() / small.us(), "ratio", Goal::at_most(kFlatGoal));
  return {};
}

void add_rates(Report& report, const std::string& name, double records, const ImportCost& cost) {
  report.add(name + ", records a second of CPU", records / cost.cpu_seconds, "records/s");
  report.add(name + ", records a second", records / cost.real_seconds, "records/s");
}

void keep_best(std::optional<ImportCost>& best, const ImportCost& cost) {
  if (!best) best = cost;
  best->cpu_seconds = std::min(best->cpu_seconds, cost.cpu_seconds);
  best->real_seconds = std::min(best->real_seconds, cost.real_seconds);
}

void add_peer(Report& report, const std::string& kind, const std::string& name,
              const WarcContents& contents, const ImportCost& ours, const ImportCost& peer) {
  add_rates(report, fmt::format("{}, {}", kind, name), contents.records, peer);
  report.add(fmt::format("{}, visits that {} has not", kind, name), contents.visits - peer.visits,
             "visits", Goal::at_most(0));
  report.add(fmt::format("{}, import / {}, by CPU", kind, name),
             peer.cpu_seconds / ours.cpu_seconds, "ratio", Goal::at_least(kImportGoal));
  report.add(fmt::format("{}, import / {}, by real time", kind, name),
             peer.real_seconds / ours.real_seconds, "ratio", Goal::at_least(kImportGoal));
}

// All in turn, so that what else runs on the machine meets all.
base::Status measure_imports(const std::string& kind, const std::vector<std::string>& paths,
                             const std::string& dir, Report& report) {
  ASSIGN_OR_RETURN(const WarcContents contents, count_records(paths));
  report.add(kind + ", records", contents.records, "records");
  report.add(kind + ", files", contents.mb, "MB");
  std::optional<ImportCost> ours;
  std::array<std::optional<ImportCost>, kFastWarcVersions.size()> peers;
  for (std::size_t i = 0; i < kRounds; ++i) {
    ASSIGN_OR_RETURN(const auto cost, measure_import(paths, fmt::format("{}/{}-{}", dir, kind, i)));
    keep_best(ours, cost);
    for (std::size_t j = 0; j < peers.size(); ++j) {
      ASSIGN_OR_RETURN(const auto peer, measure_fastwarc(kFastWarcVersions[j], paths, dir));
      if (peer) keep_best(peers[j], *peer);
    }
  }
  add_rates(report, kind + ", import", contents.records, *ours);
  report.add(kind + ", visits that import has not", contents.visits - ours->visits, "visits",
             Goal::at_most(0));
  for (std::size_t j = 0; j < peers.size(); ++j) {
    const std::string name = fmt::format("FastWARC {}", kFastWarcVersions[j]);
    if (peers[j]) {
      add_peer(report, kind, name, contents, *ours, *peers[j]);
    } else {
      report.add(name + ": cannot be installed here", 0, "records");
    }
  }
  return {};
}

base::Status measure_reading(const std::vector<std::string>& paths, const std::string& dir,
                             Report& report) {
  const std::string archive = dir + "/all";
  RETURN_IF_ERROR(measure_import(paths, archive));
  ASSIGN_OR_RETURN(const OrderCost cost, measure_orders(archive, dir));
  const auto records = static_cast<double>(cost.records);
  report.add("reading by pointers, records", records, "records");
  report.add("reading by pointers, their bytes", cost.mb, "MB");
  report.add("files still in memory, at most", cost.kept_share * 100, "%");
  report.add("in the order of URLs", cost.index_seconds * 1e6 / records, "µs/record");
  report.add("the same, told ahead", cost.told_seconds * 1e6 / records, "µs/record");
  report.add("in the order of files", cost.sorted_seconds * 1e6 / records, "µs/record");
  report.add("of that, sorting", cost.sort_seconds * 1e6 / records, "µs/record");
  report.add("the files once, from front to end", cost.once_seconds * 1e6 / records, "µs/record");
  report.add("order of URLs / of files", cost.index_seconds / cost.sorted_seconds, "ratio",
             Goal::at_least(kOrderGoal));
  return {};
}

}  // namespace

base::Status run_archive(const Options& options, Report& report) {
  const ArchiveLoad load = options.quick ? quick_load() : ArchiveLoad();
  // First what memory is measured of: a child begins with that of this process.
  RETURN_IF_ERROR(measure_walks(load, options.dir, report));
  ASSIGN_OR_RETURN(std::vector<std::string> text, make_warcs(options.dir + "/text", load.text));
  text.resize(std::min(text.size(), load.import_files));
  RETURN_IF_ERROR(measure_imports("text", text, options.dir, report));
  ASSIGN_OR_RETURN(const std::vector<std::string> all,
                   make_warcs(options.dir + "/encoded", load.encoded));
  const std::vector<std::string> some(
      all.begin(),
      all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), load.import_files)));
  RETURN_IF_ERROR(measure_imports("as crawled", some, options.dir, report));
  return measure_reading(all, options.dir, report);
}

}  // namespace meguri::bench
