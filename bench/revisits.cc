// What a visit costs the Registry and its store in a crawl that goes on for ever, from ten thousand
// known pages to a million.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/time.h"
#include "bench/benches.h"
#include "bench/timing.h"
#include "crawl/registry.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "flow/graph.h"
#include "flow/simulation_engine.h"

namespace meguri::bench {
namespace {

using base::Duration;

constexpr std::uint64_t kPagesOfAHost = 100;
constexpr std::uint64_t kVisitsOfAnEpoch = 5'000;
constexpr double kPageMicroseconds = 400;  // the goal for all that a page costs

// Names all pages, and answers each visit at once: every page has changed.
class Web final : public flow::Module {
 public:
  explicit Web(std::uint64_t pages) : pages_(pages) {}

  flow::Out<crawl::Candidate> candidates = out<crawl::Candidate>("candidates");
  flow::Out<crawl::Report> reports = out<crawl::Report>("reports");
  flow::In<crawl::DuePage> due = in<&Web::on_due>("due");

  std::uint64_t visits() const { return visits_; }

 private:
  static constexpr std::uint64_t kNamedAtOnce = 256;

  bool produce() override {
    const std::uint64_t end = std::min(pages_, named_ + kNamedAtOnce);
    for (; named_ < end; ++named_) {
      crawl::Candidate page;
      page.url = fmt::format("http://host{}.example/a/path/to/page-{}.html", named_ / kPagesOfAHost,
                             named_);
      candidates.emit(std::move(page));
    }
    return named_ < pages_;
  }

  void on_due(crawl::DuePage&& page) {
    ++visits_;
    crawl::Report report;
    report.id = page.id;
    report.date = clock().utc();
    report.status = 200;
    report.outcome = crawl::VisitOutcome::kChanged;
    report.version = crawl::PriorVersion{.etag = "\"0123456789abcdef\"",
                                         .last_modified = "Thu, 01 Jan 2026 00:00:00 GMT",
                                         .digest = {},
                                         .record = {},
                                         .date = report.date};
    reports.emit(std::move(report));
  }

  const std::uint64_t pages_;
  std::uint64_t named_ = 0;
  std::uint64_t visits_ = 0;
};

struct Costs {
  double first_us = 0;  // of the first visit, becoming known included
  double again_us = 0;
};

// Each page is visited once a day, so that a day is a round.
base::Result<Costs> measure(const std::string& dir, std::uint64_t pages, std::uint64_t visits) {
  env::PosixFileSystem files;
  env::VirtualClock clock(base::Instant::from_ms(1'767'225'600'000));
  crawl::CrawlOptions options;
  options.revisit.is_on = true;
  options.revisit.pace.interval_min = Duration::days(1);
  options.revisit.pace.first_min = Duration::hours(12);
  options.revisit.pace.first_max = Duration::hours(36);
  flow::Graph graph;
  const auto web = graph.add<Web>("web", {}, pages);
  const auto registry = graph.add<crawl::Registry>("registry", {}, options);
  graph.connect(web, &Web::candidates, registry, &crawl::Registry::candidates);
  graph.connect(registry, &crawl::Registry::due, web, &Web::due,
                flow::Edge::credit(options.in_flight_max));
  graph.connect(web, &Web::reports, registry, &crawl::Registry::reports,
                flow::Edge::under_credit());
  RETURN_IF_ERROR(files.make_dirs(dir));
  const auto day_ms = static_cast<std::uint64_t>(Duration::days(1).ms());
  const auto epoch_ms = static_cast<std::int64_t>(day_ms * kVisitsOfAnEpoch / pages);
  flow::SimulationEngine engine(
      std::move(graph),
      {.files = &files, .state_dir = dir, .epoch_every = Duration::from_ms(epoch_ms), .seed = 1},
      clock);
  RETURN_IF_ERROR(engine.start());
  base::Status status;
  // The first two days: all become known and are visited, and the first intervals go by.
  const double first_seconds = cpu_seconds_of([&] { status = engine.run_for(Duration::hours(1)); });
  RETURN_IF_ERROR(status);
  CHECK(engine.module(web).visits() >= pages, "not all pages were visited");
  RETURN_IF_ERROR(engine.run_for(Duration::days(2)));
  const std::uint64_t before = engine.module(web).visits();
  const std::uint64_t rounds = std::max<std::uint64_t>(1, visits / pages);
  const double seconds = cpu_seconds_of(
      [&] { status = engine.run_for(Duration::days(static_cast<std::int64_t>(rounds))); });
  RETURN_IF_ERROR(status);
  const std::uint64_t done = engine.module(web).visits() - before;
  CHECK(done >= pages * rounds / 2, "pages were not visited again");
  return Costs{first_seconds * 1e6 / static_cast<double>(pages),
               seconds * 1e6 / static_cast<double>(done)};
}

}  // namespace

base::Status run_revisits(const Options& options, Report& report) {
  const std::uint64_t most = options.quick ? 100'000 : 1'000'000;
  const std::uint64_t visits = options.quick ? 100'000 : 1'000'000;
  double least_us = 0;
  double again_us = 0;
  for (std::uint64_t pages = 10'000; pages <= most; pages *= 10) {
    const std::string dir = fmt::format("{}/{}", options.dir, pages);
    ASSIGN_OR_RETURN(const Costs costs, measure(dir, pages, visits));
    const std::string name = fmt::format("{} pages, ", pages);
    report.add(name + "a first visit", costs.first_us, "µs");
    again_us = report.add(name + "a further visit", costs.again_us, "µs");
    if (least_us == 0) least_us = again_us;
  }
  report.add("a further visit, most / fewest pages", again_us / least_us, "ratio");
  report.add("all that a page costs, most / fewest pages",
             (kPageMicroseconds + again_us - least_us) / kPageMicroseconds, "ratio",
             Goal::at_most(1.1));
  return {};
}

}  // namespace meguri::bench
