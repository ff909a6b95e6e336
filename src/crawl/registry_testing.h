// A Registry whose world is a script, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "crawl/registry.h"
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

 private:
  base::Status start() override {
    began_ = clock().ticks();
    return {};
  }
  bool produce() override {
    for (Candidate& item : std::exchange(items_, {})) candidates.emit(std::move(item));
    return false;
  }
  void on_due(DuePage&& page) {
    handed.push_back(page);
    answer(*this, std::move(page));
  }
  std::vector<Candidate> items_;
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

}  // namespace meguri::crawl::testing
