// Random graphs: nothing is lost or duplicated between modules, whatever the shape, the splits, the
// numbers of instances, the sizes of the queues, and the moments of stopping.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/memory_file_system.h"
#include "env/random.h"
#include "flow/testing.h"

namespace meguri::flow {
namespace {

using testing::AnyEngine;
using testing::collected;
using testing::EngineKind;
using testing::Item;
using testing::Relay;
using testing::Sink;
using testing::Source;

// The shape of a graph, from a seed: layers of relays; each relay sends to one, two (copies) or
// one of two (a switcher) relays of the next layer; the last layer sends to the sink.
class Plan {
 public:
  explicit Plan(std::uint64_t seed) : random_(seed) {
    const std::size_t layers = 1 + random_.below(4);
    for (std::size_t i = 0; i < layers; ++i) widths_.push_back(1 + random_.below(3));
    for (std::size_t i = 0; i + 1 < layers; ++i) {
      for (std::size_t j = 0; j < widths_[i]; ++j) {
        links_.push_back({random_.below(widths_[i + 1]), random_.below(widths_[i + 1]),
                          static_cast<int>(random_.below(3))});
      }
    }
    sources_ = 1 + random_.below(3);
    items_ = 50 + random_.below(400);
    sinks_ = 1 + random_.below(3);
    graph_seed_ = random_.next();
  }

  Graph graph() {
    random_ = env::Random(graph_seed_);
    Graph g;
    auto source = g.add<Source>("source", {kind(), Split::kFree, sources_}, items_);
    std::vector<std::vector<Node<Relay>>> layers;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      layers.emplace_back();
      for (std::size_t j = 0; j < widths_[i]; ++j) {
        layers[i].push_back(g.add<Relay>("relay-" + std::to_string(i) + "-" + std::to_string(j),
                                         options(), number(i, j)));
      }
    }
    sink = g.add<Sink>("sink", {kind(), random_.chance(0.5) ? Split::kFree : Split::kKey, sinks_});
    g.connect(source, &Source::output, layers[0][0], &Relay::input, edge());
    for (std::size_t i = 0, link = 0; i + 1 < layers.size(); ++i) {
      for (const auto& relay : layers[i]) connect(g, relay, layers[i + 1], links_[link++]);
    }
    for (const auto& relay : layers.back()) {
      g.connect(relay, &Relay::output, sink, &Sink::input, edge());
    }
    return g;
  }

  // What must arrive, worked out without the runtime.
  std::vector<Item> expected() const {
    std::vector<Item> all;
    for (std::uint64_t origin = 0; origin < sources_; ++origin) {
      for (std::uint64_t n = 0; n < items_; ++n) walk({origin, n, 0}, 0, 0, all);
    }
    std::ranges::sort(all);
    return all;
  }

  Node<Sink> sink;
  std::size_t sinks() const { return sinks_; }

 private:
  struct Link {
    std::size_t first, second;
    int kind;  // 0: only to the first; 1: copies to both; 2: a switcher between them
  };

  static std::uint64_t number(std::size_t layer, std::size_t index) {
    return layer * 10 + index + 1;
  }

  static void connect(Graph& g, Node<Relay> from, const std::vector<Node<Relay>>& next,
                      const Link& link, const std::pair<Edge, Edge>& edges) {
    if (link.kind == 2) {
      g.switch_by(from, &Relay::output, [](const Item& item) { return item.number % 2; })
          .to(next[link.first], &Relay::input, edges.first)
          .to(next[link.second], &Relay::input, edges.second);
      return;
    }
    g.connect(from, &Relay::output, next[link.first], &Relay::input, edges.first);
    if (link.kind == 1) {
      g.connect(from, &Relay::output, next[link.second], &Relay::input, edges.second);
    }
  }
  void connect(Graph& g, Node<Relay> from, const std::vector<Node<Relay>>& next, const Link& link) {
    const Edge first = edge();
    connect(g, from, next, link, {first, edge()});
  }

  void walk(Item item, std::size_t layer, std::size_t index, std::vector<Item>& all) const {
    item.path = Relay::step(item.path, number(layer, index));
    if (layer + 1 == widths_.size()) {
      all.push_back(item);
      return;
    }
    std::size_t link = index;
    for (std::size_t i = 0; i < layer; ++i) link += widths_[i];
    const Link& to = links_[link];
    if (to.kind == 2) {
      walk(item, layer + 1, item.number % 2 == 0 ? to.first : to.second, all);
      return;
    }
    walk(item, layer + 1, to.first, all);
    if (to.kind == 1) walk(item, layer + 1, to.second, all);
  }

  Kind kind() {
    const std::uint64_t n = random_.below(8);
    return n == 0 ? Kind::kBlocking : n == 1 ? Kind::kPoller : Kind::kCpu;
  }
  ModuleOptions options() {
    const auto split = static_cast<Split>(random_.below(3));
    return {kind(), split, split == Split::kSingle ? 1 : 1 + random_.below(4)};
  }
  Edge edge() {
    if (random_.chance(0.25)) return Edge::spilling(1 + random_.below(30));
    return Edge::bounded(1 + random_.below(40)).batched(1 + random_.below(20));
  }

  env::Random random_;
  std::vector<std::size_t> widths_;
  std::vector<Link> links_;
  std::size_t sources_ = 0;
  std::uint64_t items_ = 0;
  std::size_t sinks_ = 0;
  std::uint64_t graph_seed_ = 0;
};

class RandomGraphThreads : public ::testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(On, RandomGraphThreads,
                         ::testing::Values(EngineKind::kThreads, EngineKind::kSimulation),
                         [](const auto& kind) { return testing::name_of(kind.param); });

TEST_P(RandomGraphThreads, LosesAndDuplicatesNothing) {
  const std::uint64_t seeds = GetParam() == EngineKind::kSimulation ? 300 : 60;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Plan plan(seed);
    env::MemoryFileSystem files;
    AnyEngine engine(GetParam(), plan.graph(), {.files = &files, .state_dir = "s", .seed = seed},
                     1 + seed % 3);
    ASSERT_TRUE(engine->start());
    const auto status = engine->run_until_quiet();
    ASSERT_TRUE(status) << "seed " << seed << ": " << status.error().message();
    ASSERT_TRUE(engine->stop());
    ASSERT_EQ(collected(*engine, plan.sink, plan.sinks()), plan.expected()) << "seed " << seed;
  }
}

// Several lives, each with a few epochs and ended at a random moment; what was not committed is
// emitted again, and in the end everything has arrived once.
TEST_P(RandomGraphThreads, LosesAndDuplicatesNothingOverStopsAndRestarts) {
  const std::uint64_t seeds = GetParam() == EngineKind::kSimulation ? 300 : 60;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Plan plan(seed);
    env::MemoryFileSystem files;
    env::Random random(seed);
    for (int life = 0; life < 4; ++life) {
      const bool last = life == 3;
      AnyEngine engine(GetParam(), plan.graph(),
                       {.files = &files, .state_dir = "s", .seed = random.next()});
      const auto started = engine->start();
      ASSERT_TRUE(started) << "seed " << seed << ": " << started.error().message();
      for (std::uint64_t i = random.below(3); i > 0; --i) ASSERT_TRUE(engine->end_epoch());
      if (last) {
        ASSERT_TRUE(engine->run_until_quiet());
      }
      if (!last && GetParam() == EngineKind::kSimulation) {
        auto& simulation = static_cast<SimulationEngine&>(*engine);
        for (std::uint64_t i = random.below(500); i > 0; --i) simulation.step();
      }
      ASSERT_TRUE(engine->stop());
      if (last) {
        ASSERT_EQ(collected(*engine, plan.sink, plan.sinks()), plan.expected()) << "seed " << seed;
      }
      engine.engine.reset();
      files.restart();
    }
  }
}

}  // namespace
}  // namespace meguri::flow
