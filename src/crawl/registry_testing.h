// A Registry whose world is a script, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "crawl/registry.h"
#include "env/clock.h"
#include "env/memory_file_system.h"
#include "flow/testing.h"

namespace meguri::crawl::testing {

inline flow::EngineOptions engine_options(env::FileSystem& files, std::uint64_t seed = 1) {
  return {.files = &files,
          .state_dir = "state",
          .epoch_every = base::Duration::seconds(1),
          .seed = seed};
}

// With stores of which little is kept in memory, so that they are quickly made.
inline CrawlOptions small(CrawlOptions options) {
  options.store_pool_bytes = std::size_t{2} << 20U;
  options.known_cache_bytes = std::size_t{64} << 10U;
  return options;
}

// Emits what it is told to, item by item, before the world has a say.
class Script final : public flow::Module {
 public:
  explicit Script(std::vector<Candidate> items) : items_(std::move(items)) {}
  flow::Out<Candidate> candidates = out<Candidate>("candidates");
  flow::Out<Report> reports = out<Report>("reports");
  flow::Out<Refused> refused = out<Refused>("refused");
  flow::In<DuePage> due = in<&Script::on_due>("due");
  std::function<void(Script&, DuePage&&)> answer;
  std::vector<DuePage> handed;
  // Since the first call; long before a host that rests wakes, all candidates are there.
  bool is_early() const { return clock().ticks() < began_ + Registry::kRest; }
  base::Instant now() const { return clock().utc(); }
  void answer_later(base::Duration wait, Report&& report) {
    later_.push_back(std::move(report));
    set_timer_after(wait, later_.size() - 1);
  }

 private:
  base::Status start() override {
    began_ = clock().ticks();
    return {};
  }
  bool produce() override {
    for (Candidate& item : std::exchange(items_, {})) candidates.emit(std::move(item));
    return false;
  }
  void on_timer(std::uint64_t tag) override {
    later_[tag].date = clock().utc();
    reports.emit(std::move(later_[tag]));
  }
  void on_due(DuePage&& page) {
    handed.push_back(page);
    answer(*this, std::move(page));
  }
  std::vector<Candidate> items_;
  std::vector<Report> later_;
  base::Ticks began_;
};

// Runs a registry against `answer`, then shows both.
inline void run_script(std::vector<Candidate> items, const CrawlOptions& options,
                       const std::function<void(Script&, DuePage&&)>& answer,
                       const std::function<void(Registry&, Script&)>& check) {
  env::MemoryFileSystem files;
  flow::Graph graph;
  const auto script = graph.add<Script>("script", {}, std::move(items));
  const auto registry = graph.add<Registry>("registry", {}, small(options));
  graph.connect(script, &Script::candidates, registry, &Registry::candidates);
  graph.connect(registry, &Registry::due, script, &Script::due, flow::Edge::credit(3));
  graph.connect(script, &Script::reports, registry, &Registry::reports, flow::Edge::under_credit());
  graph.connect(script, &Script::refused, registry, &Registry::refused, flow::Edge::under_credit());
  flow::testing::AnyEngine engine(flow::testing::EngineKind::kSimulation, std::move(graph),
                                  engine_options(files));
  const auto started = engine->start();
  ASSERT_TRUE(started) << started.error().message();
  engine->module(script).answer = answer;
  const auto quiet = engine->run_until_quiet();
  ASSERT_TRUE(quiet) << quiet.error().message();
  check(engine->module(registry), engine->module(script));
}

// Pages of one name that answer at once, each in its own way, over many days.
class RevisitWorld {
 public:
  explicit RevisitWorld(CrawlOptions options = {}) : options_(small(std::move(options))) {
    options_.revisit.is_on = true;
  }

  std::vector<Candidate> candidates;
  std::function<void(Script&, DuePage&&)> answer;
  std::map<std::string, std::vector<base::Instant>> visits;  // by URL

  // One life of the Registry, which begins where the last one ended.
  void run_for(base::Duration time, const std::function<void(Registry&)>& check) {
    flow::Graph graph;
    const auto script = graph.add<Script>("script", {}, std::exchange(candidates, {}));
    const auto registry = graph.add<Registry>("registry", {}, options_);
    graph.connect(script, &Script::candidates, registry, &Registry::candidates);
    graph.connect(registry, &Registry::due, script, &Script::due, flow::Edge::credit(8));
    const flow::Edge carried = flow::Edge::under_credit();
    graph.connect(script, &Script::reports, registry, &Registry::reports, carried);
    graph.connect(script, &Script::refused, registry, &Registry::refused, carried);
    flow::EngineOptions engine_options = crawl::testing::engine_options(files_);
    engine_options.epoch_every = base::Duration::minutes(10);
    flow::SimulationEngine engine(std::move(graph), engine_options, clock_);
    const auto started = engine.start();
    ASSERT_TRUE(started) << started.error().message();
    engine.module(script).answer = [this](Script& self, DuePage&& page) {
      visits[page.candidate.url].push_back(self.now());
      answer(self, std::move(page));
    };
    const auto ran = engine.run_for(time);
    ASSERT_TRUE(ran) << ran.error().message();
    ASSERT_TRUE(engine.end_epoch());
    check(engine.module(registry));
  }

  base::Instant now() const { return clock_.utc(); }

  base::Duration longest_between(const std::string& url) const {
    base::Duration longest;
    const auto& times = visits.at(url);
    for (std::size_t i = 1; i < times.size(); ++i) {
      longest = std::max(longest, times[i] - times[i - 1]);
    }
    return longest;
  }

 private:
  CrawlOptions options_;
  env::MemoryFileSystem files_;
  env::VirtualClock clock_;
};

inline Candidate seed_of(std::string url) { return {.url = std::move(url), .via = ""}; }

inline void expect_sums(const RegistryCounts& counts) {
  EXPECT_EQ(counts.known, counts.waiting + counts.in_flight - counts.in_flight_again + counts.done);
  std::uint64_t by_end = 0;
  for (const auto& count : counts.visited) by_end += count;
  for (const auto& count : counts.refused) by_end += count;
  EXPECT_EQ(counts.done, by_end);
}

}  // namespace meguri::crawl::testing
