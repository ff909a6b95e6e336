// What the Registry does with pages whose visits fail, and hosts that cannot be asked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "crawl/registry.h"
#include "crawl/registry_testing.h"
#include "env/clock.h"
#include "env/memory_file_system.h"
#include "flow/simulation_engine.h"

namespace meguri::crawl {
namespace {

using flow::Edge;
using testing::engine_options;
using testing::run_script;
using testing::Script;
using testing::small;

Report failure_of(const DuePage& due, base::Instant date) {
  Report report;
  report.id = due.id;
  report.outcome = VisitOutcome::kError;
  report.fetch = fetch::FetchOutcome::kReset;
  report.date = date;
  report.may_pass = true;
  return report;
}

TEST(Registry, TriesAgainWhatMayPassLaterEachTime) {
  std::vector<base::Instant> times;
  run_script(
      {{"http://example.com/", "", 0, 0, Offer::kSeed}}, {},
      [&](Script& script, DuePage&& due) {
        times.push_back(script.now());
        Report report = failure_of(due, script.now());
        if (times.size() == 2) report.hold = base::Duration::minutes(20);
        script.reports.emit(report);
      },
      [&](Registry& registry, Script&) {
        ASSERT_EQ(times.size(), CrawlOptions().tries_max);
        EXPECT_EQ(times[1] - times[0], base::Duration::minutes(1));
        EXPECT_EQ(times[2] - times[1], base::Duration::minutes(20));
        EXPECT_EQ(times[3] - times[2], base::Duration::minutes(15));
        EXPECT_EQ(registry.counts().tries_failed, 3U);
        EXPECT_EQ(registry.counts().done, 1U);
        EXPECT_EQ(registry.counts().waiting, 0U);
        const auto record = registry.find(page_id_of("http://example.com/")).value();
        EXPECT_EQ(record->visits, 4U);
        EXPECT_EQ(record->outcome, VisitOutcome::kError);
      });
}

TEST(Registry, WaitsForTheNextTryOverARestart) {
  env::MemoryFileSystem files;
  env::VirtualClock clock;
  std::vector<base::Instant> times;
  for (int run = 0; run < 2; ++run) {
    std::vector<Candidate> items;
    if (run == 0) items.push_back({"http://example.com/", "", 0, 0, Offer::kSeed});
    flow::Graph graph;
    const auto script = graph.add<Script>("script", {}, std::move(items));
    const auto registry = graph.add<Registry>("registry", {}, small({}));
    graph.connect(script, &Script::candidates, registry, &Registry::candidates);
    graph.connect(registry, &Registry::due, script, &Script::due, Edge::credit(3));
    graph.connect(script, &Script::reports, registry, &Registry::reports, Edge::under_credit());
    flow::SimulationEngine engine(std::move(graph), engine_options(files), clock);
    ASSERT_TRUE(engine.start());
    engine.module(script).answer = [&](Script& module, DuePage&& due) {
      times.push_back(module.now());
      module.reports.emit(failure_of(due, module.now()));
    };
    ASSERT_TRUE(engine.run_for(base::Duration::seconds(20)));
    EXPECT_EQ(times.size(), 1U);
    EXPECT_EQ(engine.module(registry).counts().waiting, 1U);
    ASSERT_TRUE(engine.run_for(base::Duration::seconds(run == 0 ? 1 : 120)));
    EXPECT_EQ(times.size(), run == 0 ? 1U : 2U);
  }
  EXPECT_EQ(times[1] - times[0], base::Duration::minutes(1));
}

TEST(Registry, NeverTriesAgainAfterSuccessNorAfterTooLongAHold) {
  int visits = 0;
  run_script(
      {{"http://a.example.com/", "", 0, 0, Offer::kSeed},
       {"http://b.example.com/", "", 0, 0, Offer::kSeed}},
      {},
      [&](Script& script, DuePage&& due) {
        ++visits;
        Report report = failure_of(due, script.now());
        if (due.candidate.url == "http://b.example.com/") {
          report.hold = base::Duration::hours(5);
        } else if (due.prior) {
          report.may_pass = false;
          report.outcome = VisitOutcome::kUnchanged;
        } else {
          report.version.emplace();  // a body that was cut
        }
        script.reports.emit(report);
      },
      [&](Registry& registry, Script&) {
        EXPECT_EQ(visits, 3);
        EXPECT_EQ(registry.counts().done, 2U);
        EXPECT_EQ(registry.counts().tries_failed, 1U);
      });
}

TEST(Registry, AHostThatIsToBeAskedLaterRestsForSoLong) {
  std::vector<Candidate> items;
  for (int i = 0; i < 20; ++i) {
    items.push_back({fmt::format("http://example.com/{}", i), "", 0, 0, Offer::kSeed});
  }
  std::optional<base::Instant> first;
  run_script(
      items, {},
      [&](Script& script, DuePage&& due) {
        if (!first) first = script.now();
        const base::Duration wait = *first + base::Duration::minutes(5) - script.now();
        if (wait > base::Duration()) {
          script.refused.emit({due.id, Refusal::kLater, wait});
        } else {
          script.refused.emit({due.id, Refusal::kParked});
        }
      },
      [&](Registry& registry, Script& script) {
        EXPECT_EQ(registry.counts().done, 20U);
        EXPECT_LE(script.handed.size(), 40U) << "not asked for again and again";
        EXPECT_GE(script.now() - *first, base::Duration::minutes(5));
      });
}

}  // namespace
}  // namespace meguri::crawl
