// Seeder and UrlFilter as the front of the crawl's graph, in both engines.
#include "crawl/url_filter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crawl/page_record.h"
#include "crawl/seeder.h"
#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "flow/testing.h"

namespace meguri::crawl {
namespace {

using flow::testing::AnyEngine;
using flow::testing::EngineKind;

// Keeps what it gets, in its state.
class Sink final : public flow::Module {
 public:
  flow::In<Candidate> input = in<&Sink::on_item>("candidates");
  std::vector<std::string> urls;

 private:
  void on_item(Candidate&& item) {
    EXPECT_EQ(item.offer, Offer::kSeed);
    EXPECT_EQ(item.depth, 0U);
    urls.push_back(std::move(item.url));
  }
  base::Result<std::string> commit(flow::EpochId) override {
    std::string state;
    for (const std::string& url : urls) flow::put_text(state, url);
    return state;
  }
  base::Status restore(flow::EpochId, std::string_view state) override {
    for (std::string_view url; flow::take_text(state, url);) urls.emplace_back(url);
    return {};
  }
};

CrawlOptions with_seeds(std::vector<std::string> seeds) {
  CrawlOptions options;
  options.seeds = std::move(seeds);
  return options;
}

struct Nodes {
  flow::Node<Seeder> seeder;
  flow::Node<UrlFilter> filter;
  flow::Node<Sink> sink;
};

flow::Graph build(const std::vector<std::string>& seeds, const ScopeOptions& scope, Nodes* nodes) {
  flow::Graph graph;
  nodes->seeder =
      graph.add<Seeder>("seeder", {flow::Kind::kCpu, flow::Split::kSingle}, with_seeds(seeds));
  nodes->filter = graph.add<UrlFilter>("filter", {flow::Kind::kCpu, flow::Split::kSingle}, scope,
                                       seeds, std::shared_ptr<ExclusionFile>());
  nodes->sink = graph.add<Sink>("sink", {flow::Kind::kCpu, flow::Split::kSingle});
  graph.connect(nodes->seeder, &Seeder::candidates, nodes->filter, &UrlFilter::candidates,
                flow::Edge::bounded(8));
  graph.connect(nodes->filter, &UrlFilter::accepted, nodes->sink, &Sink::input);
  return graph;
}

flow::EngineOptions engine_options(env::FileSystem& files, std::uint64_t seed = 1) {
  return {.files = &files, .state_dir = "state", .seed = seed};
}

std::vector<std::string> many_seeds(int count) {
  std::vector<std::string> seeds;
  for (int i = 0; i < count; ++i) seeds.push_back(fmt::format("http://example.org/{}", i));
  return seeds;
}

class SeederThreads : public ::testing::TestWithParam<EngineKind> {
 protected:
  // All that the sink holds after a run with these seeds.
  std::vector<std::string> run(const std::vector<std::string>& seeds, bool drains = true) {
    Nodes nodes;
    AnyEngine engine(GetParam(), build(seeds, {}, &nodes), engine_options(files_));
    const auto started = engine->start();
    EXPECT_TRUE(started);
    EXPECT_TRUE(engine->run_until_quiet());
    EXPECT_TRUE(drains ? engine->drain() : engine->stop());
    std::vector<std::string> urls = engine->module(nodes.sink).urls;
    std::ranges::sort(urls);
    return urls;
  }
  env::MemoryFileSystem files_;
};

INSTANTIATE_TEST_SUITE_P(On, SeederThreads,
                         ::testing::Values(EngineKind::kThreads, EngineKind::kSimulation),
                         [](const auto& kind) { return flow::testing::name_of(kind.param); });

TEST_P(SeederThreads, EachSeedIsEmittedOncePerCrawl) {
  using Urls = std::vector<std::string>;
  const Urls first = {"http://a.example.org/", "HTTP://a.example.org", "no url",
                      "http://b.example.org/#x"};
  const Urls both = {"http://a.example.org/", "http://b.example.org/"};
  EXPECT_EQ(run(first), both);
  EXPECT_EQ(run(first), both);
  const Urls second = {"http://b.example.org/", "http://c.example.org/"};
  const Urls three = {"http://a.example.org/", "http://b.example.org/", "http://c.example.org/"};
  // Without an epoch it did not happen, so it happens again.
  EXPECT_EQ(run(second, /*drains=*/false), three);
  EXPECT_EQ(run(second), three);
  EXPECT_EQ(run({}), three);
}

TEST_P(SeederThreads, ManySeedsPassNarrowQueues) {
  auto expected = many_seeds(5000);
  const auto urls = run(expected);
  std::ranges::sort(expected);
  EXPECT_EQ(urls, expected);
}

class UrlFilterThreads : public ::testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(On, UrlFilterThreads,
                         ::testing::Values(EngineKind::kThreads, EngineKind::kSimulation),
                         [](const auto& kind) { return flow::testing::name_of(kind.param); });

TEST_P(UrlFilterThreads, CountsWhatItRefusesByReason) {
  std::vector<std::string> seeds = many_seeds(100);
  seeds.insert(seeds.end(),
               {"ftp://example.org/", "mailto:a@example.org", "http://example.org:25/"});
  env::MemoryFileSystem files;
  Nodes nodes;
  AnyEngine engine(GetParam(), build(seeds, {.excludes = {"/[0-9]?0$"}}, &nodes),
                   engine_options(files));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->drain());
  const UrlFilterCounts& counts = engine->module(nodes.filter).counts();
  EXPECT_EQ(counts.accepted, 90U);
  EXPECT_EQ(engine->module(nodes.sink).urls.size(), 90U);
  const auto count_of = [&](UrlReason reason) {
    return counts.refused[static_cast<std::size_t>(reason)].load();
  };
  EXPECT_EQ(count_of(UrlReason::kExcluded), 10U);
  EXPECT_EQ(count_of(reason_of(web::UrlRefusal::kScheme)), 2U);
  EXPECT_EQ(count_of(reason_of(web::UrlRefusal::kBadPort)), 1U);
}

TEST(UrlFilter, APatternThatCannotBeUsedStopsTheStart) {
  env::MemoryFileSystem files;
  Nodes nodes;
  AnyEngine engine(EngineKind::kSimulation, build({}, {.includes = {"["}}, &nodes),
                   engine_options(files));
  const auto started = engine->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code(), base::ErrorCode::kInvalid);
}

// Emits what it is given, in order, and after a restart what no epoch holds.
class Offers final : public flow::Module {
 public:
  explicit Offers(std::vector<Candidate> all) : all_(std::move(all)) {}
  flow::Out<Candidate> candidates = out<Candidate>("candidates");

 private:
  bool produce() override {
    if (next_ == all_.size() || candidates.full()) return false;
    candidates.emit(all_[next_++]);
    return true;
  }
  bool idle() const override { return next_ == all_.size(); }
  base::Result<std::string> commit(flow::EpochId) override {
    std::string state;
    flow::put_fixed(state, std::uint64_t{next_});
    return state;
  }
  base::Status restore(flow::EpochId, std::string_view state) override {
    std::uint64_t next = 0;
    EXPECT_TRUE(flow::take_fixed(state, next));
    next_ = next;
    return {};
  }
  const std::vector<Candidate> all_;
  std::size_t next_ = 0;
};

class AnySink final : public flow::Module {
 public:
  flow::In<Candidate> input = in<&AnySink::on_item>("candidates");
  std::vector<std::string> urls;

 private:
  void on_item(Candidate&& item) { urls.push_back(std::move(item.url)); }
  base::Result<std::string> commit(flow::EpochId) override {
    std::string state;
    for (const std::string& url : urls) flow::put_text(state, url);
    return state;
  }
  base::Status restore(flow::EpochId, std::string_view state) override {
    for (std::string_view url; flow::take_text(state, url);) urls.emplace_back(url);
    return {};
  }
};

std::vector<Candidate> offers_that_widen() {
  const auto link = [](std::string url) {
    return Candidate{.url = std::move(url),
                     .via = "http://example.org/",
                     .depth = 1,
                     .hops = 0,
                     .offer = Offer::kLink};
  };
  Candidate redirect = link("http://www.example.org/");
  redirect.offer = Offer::kRedirect;
  redirect.chain = Offer::kSeed;
  Candidate embeds = link("http://cdn.example.org/");
  embeds.offer = Offer::kRedirect;
  embeds.chain = Offer::kEmbed;
  Candidate added;
  added.url = "http://added.example.net/";
  return {link("http://www.example.org/too-early"),
          redirect,
          link("http://www.example.org/a"),
          embeds,
          link("http://cdn.example.org/a"),
          link("http://added.example.net/too-early"),
          added,
          link("http://added.example.net/a"),
          link("http://other.example.net/")};
}

// A seed that redirects, and one that comes late, widen the scope for what comes behind them: once
// and for all, whenever the power goes.
TEST(UrlFilter, ItsScopeIsWidenedBySeedsThroughCrashes) {
  const std::vector<std::string> expected = {"http://www.example.org/", "http://www.example.org/a",
                                             "http://cdn.example.org/", "http://added.example.net/",
                                             "http://added.example.net/a"};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    env::FaultyFileSystem files(seed);
    env::Random random(seed);
    for (int start = 0; start < 8; ++start) {
      flow::Graph graph;
      const auto offers =
          graph.add<Offers>("offers", {.split = flow::Split::kSingle}, offers_that_widen());
      const auto filter = graph.add<UrlFilter>(
          "filter", {.split = flow::Split::kSingle}, ScopeOptions{.scope = Scope::kHost},
          std::vector<std::string>{"http://example.org/"}, std::shared_ptr<ExclusionFile>());
      const auto sink = graph.add<AnySink>("sink", {.split = flow::Split::kSingle});
      graph.connect(offers, &Offers::candidates, filter, &UrlFilter::candidates,
                    flow::Edge::bounded(1));
      graph.connect(filter, &UrlFilter::accepted, sink, &AnySink::input, flow::Edge::bounded(1));
      env::VirtualClock clock;
      flow::SimulationEngine engine(std::move(graph), engine_options(files, random.next()), clock);
      ASSERT_TRUE(engine.start());
      if (start < 7) {
        if (random.below(2) == 0) files.cut_power_after(random.below(12));
        for (std::uint64_t steps = random.below(30); steps > 0; --steps) {
          if (random.below(5) == 0) engine.request_epoch();
          if (!engine.step()) break;
        }
        EXPECT_TRUE(engine.stop() || files.power_is_off());
        files.crash(&random);
        continue;
      }
      ASSERT_TRUE(engine.run_until_quiet());
      EXPECT_EQ(engine.module(sink).urls, expected);
    }
  }
}

TEST(UrlFilter, RefusesWhatIsOnTheExclusionList) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(env::write_file_atomically(files, "exclude", "http://example.org/3\n"));
  flow::Graph graph;
  const auto seeder =
      graph.add<Seeder>("seeder", {.split = flow::Split::kSingle}, with_seeds(many_seeds(40)));
  const auto filter =
      graph.add<UrlFilter>("filter", {.split = flow::Split::kSingle}, ScopeOptions(), many_seeds(1),
                           std::make_shared<ExclusionFile>("exclude"));
  const auto sink = graph.add<AnySink>("sink", {});
  graph.connect(seeder, &Seeder::candidates, filter, &UrlFilter::candidates);
  graph.connect(filter, &UrlFilter::accepted, sink, &AnySink::input);
  AnyEngine engine(EngineKind::kSimulation, std::move(graph), engine_options(files));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  EXPECT_EQ(engine->module(sink).urls.size(), 29U);
  const auto& refused = engine->module(filter).counts().refused;
  EXPECT_EQ(refused[static_cast<std::size_t>(UrlReason::kListed)], 11U);  // 3 and 30 to 39
}

// The power goes again and again; no seed is lost and none is there twice.
TEST(Seeder, EmitsEachSeedOnceThroughCrashes) {
  const auto seeds = many_seeds(700);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    env::FaultyFileSystem files(seed);
    env::Random random(seed);
    for (int start = 0; start < 12; ++start) {
      Nodes nodes;
      env::VirtualClock clock;
      flow::SimulationEngine engine(build(seeds, {}, &nodes), engine_options(files, random.next()),
                                    clock);
      ASSERT_TRUE(engine.start());
      if (start < 11) {
        if (random.below(2) == 0) files.cut_power_after(random.below(12));
        for (std::uint64_t steps = random.below(120); steps > 0; --steps) {
          if (random.below(20) == 0) engine.request_epoch();
          if (!engine.step()) break;
        }
        EXPECT_TRUE(engine.stop() || files.power_is_off());
        files.crash(&random);
        continue;
      }
      ASSERT_TRUE(engine.run_until_quiet());
      const auto& urls = engine.module(nodes.sink).urls;
      EXPECT_EQ(urls.size(), seeds.size());
      EXPECT_EQ(std::set<std::string>(urls.begin(), urls.end()),
                std::set<std::string>(seeds.begin(), seeds.end()));
    }
  }
}

}  // namespace
}  // namespace meguri::crawl
