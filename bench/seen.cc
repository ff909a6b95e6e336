// Which of the ids that are offered are known: time, memory and exactness, against RocksDB and a
// hash map.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/check.h"
#include "bench/benches.h"
#include "bench/memory.h"
#include "bench/seen_subjects.h"
#include "bench/timing.h"
#include "env/process_usage.h"
#include "env/random.h"

namespace meguri::bench {
namespace {

constexpr double kNewShare = 0.05;
constexpr std::uint64_t kChecksOfCommit = 1'000'000;

// What is offered: one in twenty is new, the others are known. Of these the k-th popular one comes
// in proportion to k^-0.8, whenever it was added; or each as often as any other.
class Offers {
 public:
  explicit Offers(std::uint64_t ids) : ids_(ids), next_new_(ids) {}

  void set_skewed(bool is_skewed) { is_skewed_ = is_skewed; }

  std::uint64_t next() {
    if (random_.uniform() < kNewShare) return next_new_++;
    if (!is_skewed_) return random_.below(ids_);
    const double draw = random_.uniform();
    const double share = draw * draw * draw * draw * draw;  // the inverse of (k / ids)^(1 - 0.8)
    const auto rank = static_cast<std::uint64_t>(share * static_cast<double>(ids_));
    constexpr std::uint64_t kPrime = 2'654'435'761;  // which has no divisor in common with ids_
    return rank * kPrime % ids_;
  }

 private:
  const std::uint64_t ids_;
  bool is_skewed_ = true;
  std::uint64_t next_new_;
  env::Random random_{7};
};

struct Load {
  std::uint64_t ids = 0;
  std::uint64_t checks = 0;
  std::size_t cache_bytes = 0;  // for fewer ids less, so that its share of the answers is the same
};

struct Cost {
  double cpu_us = 0;  // of all threads
  double real_us = 0;
};

base::Result<Cost> cost_of(std::uint64_t count, const std::function<base::Status()>& work) {
  base::Status status;
  const double before = env::process_usage().cpu_seconds;
  const double seconds = seconds_of([&] { status = work(); });
  const double cpu = env::process_usage().cpu_seconds - before;
  RETURN_IF_ERROR(status);
  const double each = 1e6 / static_cast<double>(count);
  return Cost{cpu * each, seconds * each};
}

// Without what drawing the offers takes.
base::Result<Cost> cost_of_checks(SeenSubject& subject, std::uint64_t checks, Offers& offers) {
  Offers drawn = offers;
  std::uint64_t sum = 0;
  const auto draw = [&]() -> base::Status {
    for (std::uint64_t i = 0; i < checks; ++i) sum += drawn.next();
    CHECK(sum > 0);
    return {};
  };
  const auto check = [&]() -> base::Status {
    for (std::uint64_t i = 1; i <= checks; ++i) {
      RETURN_IF_ERROR(subject.ask(offers.next()));
      if (i % kChecksOfCommit == 0) RETURN_IF_ERROR(subject.commit());
    }
    RETURN_IF_ERROR(subject.finish());
    return subject.commit();
  };
  ASSIGN_OR_RETURN(const Cost drawing, cost_of(checks, draw));
  ASSIGN_OR_RETURN(const Cost both, cost_of(checks, check));
  return Cost{both.cpu_us - drawing.cpu_us, both.real_us - drawing.real_us};
}

void report_cost(Report& report, const std::string& name, const Cost& cost,
                 std::optional<Goal> goal = std::nullopt) {
  report.add(name + ", CPU", cost.cpu_us, "µs", goal);
  report.add(name + ", real", cost.real_us, "µs", goal);
}

// Whether the goal is met is a matter of the skewed offers; that all are equally popular is the
// hardest that can come, since then a cache is of no use.
base::Status report_checks(Report& report, KnownIdsSubject& ours, const Load& load, Offers& offers,
                           bool is_skewed) {
  const std::string name = is_skewed ? "" : "all equally popular, ";
  const sat::KnownIdsCounts before = ours.known().counts();
  offers.set_skewed(is_skewed);
  ASSIGN_OR_RETURN(const Cost cost, cost_of_checks(ours, load.checks, offers));
  const sat::KnownIdsCounts after = ours.known().counts();
  const auto per_check = [&](std::uint64_t later, std::uint64_t earlier) {
    return static_cast<double>(later - earlier) / static_cast<double>(load.checks);
  };
  report_cost(report, name + "a check", cost,
              is_skewed ? std::optional(Goal::at_most(1)) : std::nullopt);
  report.add(name + "answered by the cache", per_check(after.in_cache, before.in_cache), "share");
  report.add(name + "new by the filters", per_check(after.in_filter, before.in_filter), "share");
  report.add(name + "sieved", per_check(after.waited, before.waited), "share");
  report.add(name + "batches", static_cast<double>(after.sieves - before.sieves), "batches");
  report.add(name + "read for a check",
             per_check(after.traffic.read_bytes, before.traffic.read_bytes), "bytes");
  report.add(name + "written for a check",
             per_check(after.traffic.written_bytes, before.traffic.written_bytes), "bytes");
  return {};
}

base::Status measure_ours(const std::string& dir, const Load& load, Report& report) {
  sat::KnownIdsOptions options;
  options.cache_bytes = load.cache_bytes;
  const std::size_t resident = resident_now();
  ASSIGN_OR_RETURN(const auto ours, KnownIdsSubject::make(dir, options));
  ASSIGN_OR_RETURN(const Cost adding, cost_of(load.ids, [&] { return ours->load(load.ids); }));
  report_cost(report, "adding an id", adding);
  const auto written = static_cast<double>(ours->known().counts().traffic.written_bytes);
  report.add("written for an id", written / static_cast<double>(load.ids), "bytes");
  Offers offers(load.ids);
  RETURN_IF_ERROR(report_checks(report, *ours, load, offers, true));
  RETURN_IF_ERROR(report_checks(report, *ours, load, offers, false));
  report.add("memory besides the cache, at most", ours->bytes_per_id_max(), "bytes/id",
             Goal::at_most(2.5));
  report.add("cache", static_cast<double>(ours->known().memory().cache) / 1e6, "MB");
  report.add("resident", static_cast<double>(resident_now() - resident) / 1e6, "MB");
  ASSIGN_OR_RETURN(const Cost opening, cost_of(1, [&] { return ours->reopen(); }));
  report.add("opening", opening.real_us / 1e3, "ms");
  report.add("wrong answers", static_cast<double>(ours->wrong() + ours->lost()), "answers",
             Goal::at_most(0));
  return {};
}

// Paper 004's: what the filter holds for known is dropped.
base::Status measure_without_sieve(const std::string& dir, const Load& load, Report& report) {
  sat::KnownIdsOptions options;
  options.cache_bytes = load.cache_bytes;
  options.is_exact = false;
  options.filter_bits = 16;
  ASSIGN_OR_RETURN(const auto lossy, KnownIdsSubject::make(dir, options));
  RETURN_IF_ERROR(lossy->load(load.ids));
  Offers offers(load.ids);
  ASSIGN_OR_RETURN(const Cost cost, cost_of_checks(*lossy, load.checks, offers));
  report_cost(report, "cache and filter alone, a check", cost);
  const double bytes = static_cast<double>(lossy->known().memory().besides_cache());
  report.add("cache and filter alone, memory besides the cache",
             bytes / static_cast<double>(lossy->known().counts().ids), "bytes/id");
  report.add(
      "cache and filter alone, new ids lost",
      100 * static_cast<double>(lossy->lost()) / (static_cast<double>(load.checks) * kNewShare),
      "%");
  CHECK(lossy->wrong() == 0);
  return {};
}

base::Status measure_peer(const std::string& name, SeenSubject& peer, const Load& load,
                          Report& report) {
  const std::size_t resident = resident_now();
  RETURN_IF_ERROR(peer.load(load.ids));
  Offers offers(load.ids);
  for (const bool is_skewed : {true, false}) {
    offers.set_skewed(is_skewed);
    ASSIGN_OR_RETURN(const Cost cost, cost_of_checks(peer, load.checks, offers));
    report_cost(report, name + (is_skewed ? ", a check" : ", all equally popular, a check"), cost);
  }
  report.add(name + ", resident",
             static_cast<double>(resident_now() - resident) / static_cast<double>(load.ids),
             "bytes/id");
  CHECK(peer.wrong() + peer.lost() == 0);
  return {};
}

}  // namespace

base::Status run_seen(const Options& options, Report& report) {
  Load load{17'500'000, 35'000'000, sat::KnownIdsOptions().cache_bytes};
  if (options.quick) load = {1'000'000, 4'000'000, load.cache_bytes * 10 / 175};
  report.add("ids", static_cast<double>(load.ids), "ids");
  report.add("checks", static_cast<double>(load.checks), "checks");
  RETURN_IF_ERROR(measure_ours(options.dir + "/ours", load, report));
  RETURN_IF_ERROR(measure_without_sieve(options.dir + "/lossy", load, report));
  const Load few{load.ids, load.checks / 8, load.cache_bytes};
  const auto rocksdb = make_rocksdb_subject(options.dir + "/rocksdb", load.cache_bytes);
  RETURN_IF_ERROR(measure_peer("RocksDB behind the same cache", *rocksdb, few, report));
  const auto flat = make_flat_hash_map_subject();
  return measure_peer("absl::flat_hash_map", *flat, few, report);
}

}  // namespace meguri::bench
