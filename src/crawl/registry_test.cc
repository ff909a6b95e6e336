// The Registry between a source of candidates, a web that answers or refuses, and a writer that
// reports at each epoch, as the crawl's graph has it.
#include "crawl/registry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crawl/registry_testing.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "flow/testing.h"

namespace meguri::crawl {
namespace {

using flow::Edge;
using flow::testing::AnyEngine;
using flow::testing::EngineKind;
using testing::engine_options;
using testing::run_script;
using testing::Script;
using testing::small;

// A web of numbered pages: page n leads to 3 n + 1, 3 n + 2 and 3 n + 3.
struct Web {
  std::uint64_t pages = 300;

  static std::string host_of(std::uint64_t n) {
    return fmt::format("h{}.example.com", base::mix64(n) % 7);
  }
  static std::string url_of(std::uint64_t n) { return fmt::format("http://{}/p{}", host_of(n), n); }
  static std::uint64_t number_of(std::string_view url) {
    const std::string_view digits = url.substr(url.rfind('p') + 1);
    std::uint64_t n = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), n);
    return n;
  }
  static bool is_refused(std::uint64_t n) { return n % 11 == 3; }
  static VisitOutcome outcome_of(std::uint64_t n) {
    return n % 13 == 5 ? VisitOutcome::kGone : VisitOutcome::kChanged;
  }
  std::vector<Candidate> links_of(const Candidate& page) const {
    std::vector<Candidate> links;
    const std::uint64_t n = number_of(page.url);
    if (outcome_of(n) != VisitOutcome::kChanged) return links;
    for (std::uint64_t child = 3 * n + 1; child <= 3 * n + 3; ++child) {
      const bool is_embed = child % 4 == 0;
      if (child >= pages) continue;
      links.push_back({url_of(child), page.url, page.depth + (is_embed ? 0 : 1), 0,
                       is_embed ? Offer::kEmbed : Offer::kLink});
    }
    return links;
  }
  // All that can be reached from page 0.
  std::set<std::uint64_t> reachable() const {
    std::set<std::uint64_t> found;
    std::vector<Candidate> next = {{url_of(0), "", 0, 0, Offer::kSeed}};
    while (!next.empty()) {
      const Candidate page = next.back();
      next.pop_back();
      const std::uint64_t n = number_of(page.url);
      found.insert(n);
      if (is_refused(n)) continue;
      for (Candidate& link : links_of(page)) next.push_back(std::move(link));
    }
    return found;
  }
};

// What a visit brought.
struct Page {
  Report report;
  std::vector<Candidate> links;
};

// Emits page 0 once.
class Seeds final : public flow::Module {
 public:
  flow::Out<Candidate> candidates = out<Candidate>("candidates");

 private:
  bool produce() override {
    if (!std::exchange(is_done_, true)) {
      candidates.emit({Web::url_of(0), "", 0, 0, Offer::kSeed});
    }
    return false;
  }
  base::Result<std::string> commit(flow::EpochId) override { return is_done_ ? "done" : ""; }
  base::Status restore(flow::EpochId, std::string_view) override {
    is_done_ = true;
    return {};
  }
  bool is_done_ = false;
};

// All from HostDirectory to Extractor: answers after a while, refuses some pages for good and some
// for now. Notes what is wrong with what it is handed.
class World final : public flow::Module {
 public:
  explicit World(Web web) : web_(web) {}
  flow::In<DuePage> due = in<&World::on_due, &World::key>("due");
  flow::Out<Page> pages = out<Page>("pages");
  flow::Out<Refused> refused = out<Refused>("refused");
  static std::uint64_t key(const DuePage& page) { return page.id.high; }

  const std::set<std::uint64_t>& finished() const { return finished_; }
  std::uint64_t handed_twice() const { return handed_twice_; }
  std::size_t host_max() const { return host_max_; }
  const std::vector<std::uint64_t>& order() const { return order_; }

 private:
  void on_due(DuePage&& page) {
    const std::uint64_t n = Web::number_of(page.candidate.url);
    EXPECT_EQ(page.id, page_id_of(page.candidate.url));
    order_.push_back(n);
    if (finished_.contains(n) || !held_.emplace(n, std::move(page)).second) ++handed_twice_;
    host_max_ = std::max(host_max_, ++hosts_[Web::host_of(n)]);
    set_timer_after(base::Duration::from_ms(static_cast<std::int64_t>(random().below(500))), n);
  }
  void on_timer(std::uint64_t n) override {
    auto found = held_.extract(n);
    if (found.empty()) return;
    --hosts_[Web::host_of(n)];
    const DuePage& page = found.mapped();
    if (n % 5 == 0 && random().below(2) == 0) {
      refused.emit({page.id, Refusal::kFull});
    } else if (Web::is_refused(n)) {
      finished_.insert(n);
      refused.emit({page.id, Refusal::kRobots});
    } else {
      finished_.insert(n);
      Report report;
      report.id = page.id;
      report.outcome = Web::outcome_of(n);
      report.date = clock().utc();
      pages.emit({report, web_.links_of(page.candidate)});
    }
  }
  bool produce() override {
    if (!draining()) return false;
    for (const auto& [n, page] : held_) refused.emit({page.id, Refusal::kInterrupted});
    held_.clear();
    return false;
  }
  bool idle() const override { return held_.empty(); }

  const Web web_;
  std::map<std::uint64_t, DuePage> held_;
  std::map<std::string, std::size_t> hosts_;
  std::size_t host_max_ = 0;
  std::set<std::uint64_t> finished_;
  std::vector<std::uint64_t> order_;
  std::uint64_t handed_twice_ = 0;
};

// ArchiveWriter: reports, and tells of links, when the epoch ends.
class Writer final : public flow::Module {
 public:
  flow::In<Page> pages = in<&Writer::on_page>("pages");
  flow::Out<Report> reports = out<Report>("reports");
  flow::Out<Candidate> candidates = out<Candidate>("candidates");
  const std::vector<base::Id>& written() const { return written_; }

 private:
  void on_page(Page&& page) { waiting_.push_back(std::move(page)); }
  bool idle() const override { return waiting_.empty(); }
  base::Result<std::string> commit(flow::EpochId) override {
    for (Page& page : waiting_) {
      written_.push_back(page.report.id);
      reports.emit(page.report);
      for (Candidate& link : page.links) candidates.emit(std::move(link));
    }
    waiting_.clear();
    std::string state;
    for (const base::Id& id : written_) state += page_key_of(id);
    return state;
  }
  base::Status restore(flow::EpochId, std::string_view state) override {
    for (; !state.empty(); state.remove_prefix(16)) {
      written_.push_back(id_of_page_key(state.substr(0, 16)).value());
    }
    return {};
  }
  std::vector<Page> waiting_;
  std::vector<base::Id> written_;
};

struct Nodes {
  flow::Node<Registry> registry;
  flow::Node<World> world;
  flow::Node<Writer> writer;
};

struct Plan {
  Web web = {};
  CrawlOptions options = {};
  std::size_t credits = 40;
  std::size_t registries = 1;
};

flow::Graph build(const Plan& plan, Nodes* nodes) {
  flow::Graph graph;
  const auto seeds = graph.add<Seeds>("seeds", {});
  const auto registry = graph.add<Registry>(
      "registry", {flow::Kind::kBlocking, flow::Split::kKey, plan.registries}, small(plan.options));
  const auto world = graph.add<World>("world", {flow::Kind::kCpu, flow::Split::kSingle}, plan.web);
  const auto writer = graph.add<Writer>("writer", {flow::Kind::kBlocking, flow::Split::kSingle});
  graph.connect(seeds, &Seeds::candidates, registry, &Registry::candidates);
  graph.connect(registry, &Registry::due, world, &World::due, Edge::credit(plan.credits));
  graph.connect(world, &World::pages, writer, &Writer::pages, Edge::under_credit());
  graph.connect(world, &World::refused, registry, &Registry::refused, Edge::under_credit());
  graph.connect(writer, &Writer::reports, registry, &Registry::reports);
  graph.connect(writer, &Writer::candidates, registry, &Registry::candidates, Edge::spilling());
  *nodes = {registry, world, writer};
  return graph;
}

std::uint64_t sum(const auto& counts) {
  std::uint64_t all = 0;
  for (const auto& count : counts) all += count;
  return all;
}

class RegistryThreads : public ::testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(On, RegistryThreads,
                         ::testing::Values(EngineKind::kThreads, EngineKind::kSimulation),
                         [](const auto& kind) { return flow::testing::name_of(kind.param); });

TEST_P(RegistryThreads, EveryPageIsVisitedOnceAndEveryCreditComesBack) {
  for (const std::size_t registries : {1U, 3U}) {
    SCOPED_TRACE(registries);
    Plan plan{.registries = registries};
    plan.options.per_host_max = 6;
    env::MemoryFileSystem files;
    Nodes nodes;
    AnyEngine engine(GetParam(), build(plan, &nodes), engine_options(files));
    const auto started = engine->start();
    ASSERT_TRUE(started) << started.error().message();
    const auto quiet = engine->run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    ASSERT_TRUE(engine->stop());
    const World& world = engine->module(nodes.world);
    EXPECT_EQ(world.finished(), plan.web.reachable());
    EXPECT_EQ(world.handed_twice(), 0U);
    EXPECT_LE(world.host_max(), 6U);
    std::uint64_t known = 0;
    for (std::size_t i = 0; i < registries; ++i) {
      Registry& registry = engine->module(nodes.registry, i);
      const RegistryCounts& counts = registry.counts();
      EXPECT_EQ(registry.due.credits(), plan.credits);
      EXPECT_EQ(counts.in_flight, 0U);
      EXPECT_EQ(counts.waiting, 0U);
      EXPECT_EQ(counts.done, counts.known);
      EXPECT_EQ(sum(counts.visited) + sum(counts.refused), counts.done);
      EXPECT_EQ(counts.reports_ignored, 0U);
      EXPECT_EQ(counts.handed_out, counts.done + counts.came_again);
      known += counts.known;
    }
    EXPECT_EQ(known, plan.web.reachable().size());
  }
}

TEST_P(RegistryThreads, BudgetsHold) {
  Plan plan{.web = {.pages = 2000}};
  plan.options.pages_per_host_max = 20;
  plan.options.pages_max = 90;
  env::MemoryFileSystem files;
  Nodes nodes;
  AnyEngine engine(GetParam(), build(plan, &nodes), engine_options(files));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  const RegistryCounts& counts = engine->module(nodes.registry).counts();
  std::map<std::string, int> by_host;
  for (const std::uint64_t n : engine->module(nodes.world).finished()) ++by_host[Web::host_of(n)];
  for (const auto& [host, pages] : by_host) EXPECT_LE(pages, 20) << host;
  EXPECT_LE(counts.known, 90U);
  EXPECT_EQ(counts.done, counts.known);
  EXPECT_EQ(engine->module(nodes.world).finished().size(), counts.known);
  EXPECT_GT(counts.over_host_max + counts.over_pages_max, 0U);
}

TEST_P(RegistryThreads, DrainingHandsOutNothingAndBringsEverythingHome) {
  const Plan plan{.web = {.pages = 100'000}};
  env::MemoryFileSystem files;
  std::set<std::uint64_t> finished;
  for (int start = 0; start < 3; ++start) {
    Nodes nodes;
    AnyEngine engine(GetParam(), build(plan, &nodes), engine_options(files));
    ASSERT_TRUE(engine->start());
    ASSERT_TRUE(engine->run_for(base::Duration::seconds(20)));
    ASSERT_TRUE(engine->drain());
    Registry& registry = engine->module(nodes.registry);
    EXPECT_EQ(registry.due.credits(), plan.credits);
    EXPECT_EQ(registry.counts().in_flight, 0U);
    EXPECT_EQ(registry.counts().waiting + registry.counts().done, registry.counts().known);
    for (const std::uint64_t n : engine->module(nodes.world).finished()) {
      EXPECT_TRUE(finished.insert(n).second) << n;  // not before the restart, and again after it
    }
    EXPECT_EQ(registry.counts().done, finished.size());
  }
}

TEST(RegistryCountsThreads, CanBeReadWhileTheRegistryRuns) {
  const Plan plan;
  env::MemoryFileSystem files;
  Nodes nodes;
  AnyEngine engine(EngineKind::kThreads, build(plan, &nodes), engine_options(files));
  ASSERT_TRUE(engine->start());
  const RegistryCounts& counts = engine->module(nodes.registry).counts();
  std::uint64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t known = counts.known;
    EXPECT_GE(known, last);
    last = known;
    ASSERT_TRUE(engine->run_for(base::Duration::from_ms(200)));
  }
  ASSERT_TRUE(engine->run_until_quiet());
  EXPECT_EQ(counts.done, plan.web.reachable().size());
  ASSERT_TRUE(engine->stop());
}

// --- Crashes.

struct Done {
  std::set<std::uint64_t> pages;
  std::size_t known = 0;
};

// The pages that a freshly started registry holds as done.
Done done_of(Registry& registry, const Web& web) {
  Done done;
  for (std::uint64_t n = 0; n < web.pages; ++n) {
    const auto record = registry.find(page_id_of(Web::url_of(n))).value();
    if (!record) continue;
    ++done.known;
    if (record->is_done()) done.pages.insert(n);
  }
  return done;
}

// After each restart the registry and the writer agree, and from there on exactly what was not done
// is handed out.
void crash_again_and_again(std::uint64_t seed) {
  Plan plan{.web = {.pages = 400}, .credits = 25};
  plan.options.per_host_max = 8;
  if (seed % 2 == 1) plan.options.queued_max = 20;  // so that pages wait in the store
  env::FaultyFileSystem files(seed);
  env::Random random(seed);
  const std::set<std::uint64_t> expected = plan.web.reachable();
  EXPECT_GT(expected.size(), 150U);
  for (int start = 0; start < 200; ++start) {
    SCOPED_TRACE(start);
    Nodes nodes;
    env::VirtualClock clock;
    clock.advance(base::Duration::hours(start));
    auto options = engine_options(files, seed * 1000 + static_cast<std::uint64_t>(start));
    flow::SimulationEngine engine(build(plan, &nodes), options, clock);
    const auto started = engine.start();
    ASSERT_TRUE(started) << started.error().message();
    Registry& registry = engine.module(nodes.registry);
    const Done before = done_of(registry, plan.web);
    EXPECT_EQ(registry.counts().known, before.known);
    EXPECT_EQ(registry.counts().done, before.pages.size());
    EXPECT_EQ(registry.counts().waiting, before.known - before.pages.size());
    EXPECT_EQ(sum(registry.counts().visited), engine.module(nodes.writer).written().size());

    const bool is_last = before.pages.size() == expected.size();
    if (is_last) {
      ASSERT_TRUE(engine.run_until_quiet());
    } else {
      // Every third time the power goes during a write.
      if (random.below(3) == 0) files.cut_power_after(random.below(60));
      const flow::EpochId until = engine.durable_epoch() + 1;
      while (engine.durable_epoch() < until && engine.step()) continue;
      for (std::uint64_t steps = random.below(60); steps > 0 && engine.step(); --steps) continue;
    }
    const World& world = engine.module(nodes.world);
    EXPECT_EQ(world.handed_twice(), 0U);
    for (const std::uint64_t n : world.order()) EXPECT_FALSE(before.pages.contains(n)) << n;
    if (is_last) {
      std::set<std::uint64_t> all = before.pages;
      all.insert(world.finished().begin(), world.finished().end());
      EXPECT_EQ(all, expected);
      EXPECT_EQ(registry.due.credits(), plan.credits);
      return;
    }
    EXPECT_TRUE(engine.stop() || files.power_is_off());
    files.crash(&random);
  }
  FAIL() << "200 starts did not end the crawl";
}

TEST(Registry, AfterACrashAtEveryEpochExactlyWhatWasNotDoneIsHandedOutAgain) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    crash_again_and_again(seed);
  }
}

// --- Single messages, by hand.

TEST(Registry, TakesOneReportOfAPageThatIsOut) {
  const Candidate page = {"http://example.com/", "", 0, 0, Offer::kSeed};
  run_script(
      {page}, {},
      [](Script& script, DuePage&& due) {
        Report report;
        report.id = due.id;
        report.outcome = VisitOutcome::kChanged;
        report.date = base::Instant::from_ms(1000);
        report.version.emplace().etag = "one";
        script.reports.emit(report);
        report.outcome = VisitOutcome::kGone;
        script.reports.emit(report);  // the same again
        report.date = base::Instant::from_ms(1001);
        script.reports.emit(report);  // newer, but it is not out
        report.id = base::Id{1, 2};
        script.reports.emit(report);  // of no page
      },
      [&](Registry& registry, Script& script) {
        EXPECT_EQ(script.handed.size(), 1U);
        EXPECT_EQ(registry.counts().reports_ignored, 3U);
        EXPECT_EQ(registry.counts().done, 1U);
        EXPECT_EQ(registry.counts().visited[0], 1U);  // changed
        EXPECT_EQ(registry.due.credits(), 3U);
        const auto record = registry.find(page_id_of(page.url)).value();
        ASSERT_TRUE(record);
        EXPECT_EQ(record->visits, 1U);
        EXPECT_EQ(record->visited.ms(), 1000);
        EXPECT_EQ(record->prior->etag, "one");
      });
}

TEST(Registry, AHostThatWasFullRestsAndOthersGoOn) {
  std::vector<Candidate> items;
  for (int i = 0; i < 20; ++i) {
    items.push_back({fmt::format("http://a.example.com/{}", i), "", 0, 0, Offer::kSeed});
    items.push_back({fmt::format("http://b.example.com/{}", i), "", 0, 0, Offer::kSeed});
  }
  int refusals = 5;
  run_script(
      items, {},
      [&](Script& script, DuePage&& due) {
        if (due.candidate.url.starts_with("http://a.") && refusals-- > 0) {
          script.refused.emit({due.id, Refusal::kFull});
        } else {
          script.refused.emit({due.id, Refusal::kParked});
        }
      },
      [&](Registry& registry, Script& script) {
        EXPECT_EQ(registry.counts().refused[static_cast<std::size_t>(Refusal::kParked)], 40U);
        EXPECT_EQ(registry.counts().came_again, 5U);
        EXPECT_EQ(script.handed.size(), 45U);
        EXPECT_EQ(registry.counts().hosts, 2U);
      });
}

std::vector<Candidate> pages_of_two_hosts() {
  std::vector<Candidate> items;
  for (int i = 0; i < 20; ++i) {
    items.push_back({fmt::format("http://a.example.com/{}", i), "", 0, 0, Offer::kSeed});
    items.push_back({fmt::format("http://b.example.com/{}", i), "", 0, 0, Offer::kSeed});
  }
  return items;
}

TEST(Registry, AHostMayHaveABudgetOfItsOwn) {
  CrawlOptions options;
  options.pages_per_host_max = 3;
  options.hosts.resize(1);
  options.hosts[0].matches = {"b.example.com"};
  options.hosts[0].pages_max = 7;
  run_script(
      pages_of_two_hosts(), options,
      [&](Script& script, DuePage&& due) { script.refused.emit({due.id, Refusal::kParked}); },
      [&](Registry& registry, Script& script) {
        EXPECT_EQ(script.handed.size(), 10U);
        EXPECT_EQ(registry.counts().over_host_max, 30U);
      });
}

TEST(Registry, PausedHostsWaitAndTheCrawlEndsWithoutThem) {
  CrawlOptions options;
  options.hosts.resize(1);
  options.hosts[0].matches = {"b.example.com"};
  options.hosts[0].is_paused = true;
  run_script(
      pages_of_two_hosts(), options,
      [&](Script& script, DuePage&& due) { script.refused.emit({due.id, Refusal::kParked}); },
      [&](Registry& registry, Script& script) {
        EXPECT_EQ(script.handed.size(), 20U);
        EXPECT_EQ(registry.counts().waiting, 20U);
        EXPECT_EQ(registry.counts().done, 20U);
      });
}

TEST(Registry, PagesOfSkippedHostsAreNotRegistered) {
  CrawlOptions options;
  options.hosts.resize(1);
  options.hosts[0].matches = {"b.example.com"};
  options.hosts[0].is_skipped = true;
  run_script(
      pages_of_two_hosts(), options,
      [&](Script& script, DuePage&& due) { script.refused.emit({due.id, Refusal::kParked}); },
      [&](Registry& registry, Script&) { EXPECT_EQ(registry.counts().known, 20U); });
}

TEST(Registry, HandsOutEmbedsThenSeedsThenWhatIsNearThem) {
  const std::string host = "http://example.com/";
  const std::vector<Candidate> items = {{host + "foreign", "", 1, 0, Offer::kLink, {}, true},
                                        {host + "deep", "", 9, 0, Offer::kLink},
                                        {host + "near", "", 3, 0, Offer::kLink},
                                        {host + "link", "", 1, 0, Offer::kLink},
                                        {host + "seed", "", 0, 0, Offer::kSeed},
                                        {host + "embed", "", 5, 0, Offer::kEmbed}};
  std::vector<std::string> order;
  run_script(
      items, {},
      [&](Script& script, DuePage&& due) {
        if (script.is_early()) {
          script.refused.emit({due.id, Refusal::kFull});
          return;
        }
        order.push_back(due.candidate.url.substr(host.size()));
        script.refused.emit({due.id, Refusal::kRobots});
      },
      [&](Registry&, Script&) {
        EXPECT_EQ(order,
                  (std::vector<std::string>{"embed", "seed", "link", "near", "deep", "foreign"}));
      });
}

TEST(Registry, APageIsVisitedAsNearToTheSeedsAsItIsKnownToBe) {
  const std::string url = "http://example.com/";
  run_script(
      {{url, "", 7, 2, Offer::kLink},
       {url, "x", 3, 0, Offer::kLink},
       {url, "", 5, 0, Offer::kLink}},
      {},
      [](Script& script, DuePage&& due) {
        const bool is_first = script.handed.size() == 1;
        script.refused.emit({due.id, is_first ? Refusal::kFull : Refusal::kRobots});
      },
      [&](Registry& registry, Script& script) {
        EXPECT_EQ(registry.counts().offered_again, 2U);
        EXPECT_EQ(registry.counts().known, 1U);
        ASSERT_EQ(script.handed.size(), 2U);
        EXPECT_EQ(script.handed[1].candidate, (Candidate{url, "x", 3, 0, Offer::kLink}));
        const auto record = registry.find(page_id_of(url)).value();
        ASSERT_TRUE(record);
        EXPECT_EQ(record->state, PageState::kRefused);
        EXPECT_EQ(record->refusal, Refusal::kRobots);
      });
}

}  // namespace
}  // namespace meguri::crawl
