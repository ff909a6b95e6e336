// Epochs over both engines and over crashes: what a durable epoch holds is there again, exactly.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/faulty_file_system.h"
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

// Makes two more of every item below `limit`, and passes it on: a cycle over a spilling edge.
class Doubler final : public Module {
 public:
  explicit Doubler(std::uint64_t limit) : limit_(limit) {}
  In<Item> input = in<&Doubler::on_item, &Doubler::key>("items");
  In<Item> again = in<&Doubler::on_item, &Doubler::key>("again");
  Out<Item> more = out<Item>("more");
  Out<Item> output = out<Item>("items");
  static std::uint64_t key(const Item& item) { return item.key(); }

 private:
  void on_item(Item&& item) {
    if (item.path == 0 && item.number < limit_) {
      more.emit({item.origin, item.number, 1});
      more.emit({item.origin, item.number, 2});
    }
    output.emit(std::move(item));
  }
  const std::uint64_t limit_;
};

struct World {
  std::uint64_t items = 300;
  Node<Source> source;
  Node<Sink> sink;

  // Sources, a cycle over a spilling edge, a second spilling edge, a keyed sink.
  Graph graph(bool emit = true) {
    Graph g;
    source = g.add<Source>("source", {Kind::kCpu, Split::kFree, 2}, emit ? items : 0);
    auto doubler = g.add<Doubler>("doubler", {Kind::kCpu, Split::kKey, 2}, items / 2);
    auto relay = g.add<Relay>("relay", {Kind::kCpu, Split::kFree, 2}, 7);
    sink = g.add<Sink>("sink", {Kind::kBlocking, Split::kKey, 2});
    g.connect(source, &Source::output, doubler, &Doubler::input, Edge::bounded(8));
    g.connect(doubler, &Doubler::more, doubler, &Doubler::again, Edge::spilling(4));
    g.connect(doubler, &Doubler::output, relay, &Relay::input, Edge::bounded(3).batched(2));
    g.connect(relay, &Relay::output, sink, &Sink::input, Edge::spilling(20));
    return g;
  }

  // All that must have arrived once the sources have emitted up to `next`.
  std::vector<Item> expected(std::uint64_t next0, std::uint64_t next1) const {
    std::vector<Item> all;
    for (const auto& [origin, next] : {std::pair{0, next0}, std::pair{1, next1}}) {
      for (std::uint64_t n = 0; n < next; ++n) {
        for (std::uint64_t path = 0; path < (n < items / 2 ? 3U : 1U); ++path) {
          all.push_back({static_cast<std::uint64_t>(origin), n, Relay::step(path, 7)});
        }
      }
    }
    std::ranges::sort(all);
    return all;
  }
};

class EpochThreads : public ::testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(On, EpochThreads,
                         ::testing::Values(EngineKind::kThreads, EngineKind::kSimulation),
                         [](const auto& kind) { return testing::name_of(kind.param); });

TEST_P(EpochThreads, PassThroughCyclesWhileItemsFlow) {
  World world;
  world.items = 20'000;
  env::MemoryFileSystem files;
  Graph graph = world.graph();
  AnyEngine engine(GetParam(), std::move(graph), {.files = &files, .state_dir = "state"});
  ASSERT_TRUE(engine->start());
  for (EpochId n = 1; n <= 5; ++n) {
    ASSERT_TRUE(engine->end_epoch());
    EXPECT_EQ(engine->durable_epoch(), n);
  }
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->drain());
  EXPECT_EQ(collected(*engine, world.sink, 2), world.expected(20'000, 20'000));
}

TEST_P(EpochThreads, StoppedAnywhereTheGraphGoesOnFromTheLastEpoch) {
  World world;
  world.items = 2000;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    env::MemoryFileSystem files;
    env::Random random(seed);
    for (int life = 0; life < 5; ++life) {
      AnyEngine engine(GetParam(), world.graph(),
                       {.files = &files, .state_dir = "state", .seed = random.next()});
      ASSERT_TRUE(engine->start());
      for (std::uint64_t i = random.below(4); i > 0; --i) ASSERT_TRUE(engine->end_epoch());
      if (GetParam() == EngineKind::kSimulation) {
        auto& simulation = static_cast<SimulationEngine&>(*engine);
        for (std::uint64_t i = random.below(2000); i > 0; --i) simulation.step();
      }
      ASSERT_TRUE(engine->stop());
      engine.engine.reset();
      files.restart();
    }
    AnyEngine engine(GetParam(), world.graph(), {.files = &files, .state_dir = "state"});
    ASSERT_TRUE(engine->start());
    ASSERT_TRUE(engine->run_until_quiet());
    ASSERT_TRUE(engine->stop());
    EXPECT_EQ(collected(*engine, world.sink, 2), world.expected(2000, 2000)) << seed;
  }
}

// Of a world that did nothing, in "state".
void leave_checkpoint(env::FileSystem& files) {
  World world;
  AnyEngine engine(EngineKind::kSimulation, world.graph(), {.files = &files, .state_dir = "state"});
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->drain());
}

TEST(Epoch, CheckpointOfAnotherGraphIsRefused) {
  env::MemoryFileSystem files;
  leave_checkpoint(files);
  Graph graph;
  graph.add<Source>("other", {}, 1);
  AnyEngine engine(EngineKind::kSimulation, std::move(graph),
                   {.files = &files, .state_dir = "state"});
  const auto status = engine->start();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message().find("does not have"), std::string::npos);
}

TEST(Epoch, DamagedCheckpointIsSaid) {
  env::MemoryFileSystem files;
  leave_checkpoint(files);
  const std::uint64_t bits = 8 * *files.size("state/checkpoint");
  for (std::uint64_t bit = 0; bit < bits; bit += 97) {
    ASSERT_TRUE(files.flip_bit("state/checkpoint", bit));
    EXPECT_FALSE(Checkpoint::load(files, "state")) << bit;
    ASSERT_TRUE(files.flip_bit("state/checkpoint", bit));
  }
  EXPECT_TRUE(Checkpoint::load(files, "state"));
}

// Runs the world with an epoch now and then until it is done or the power goes; returns the last
// epoch that was declared durable.
EpochId live(World& world, env::FileSystem& files, std::uint64_t seed) {
  env::VirtualClock clock;
  SimulationEngine engine(world.graph(), {.files = &files, .state_dir = "state", .seed = seed},
                          clock);
  if (!engine.start()) return kNoEpoch;
  for (std::uint64_t i = 1; engine.step(); ++i) {
    if (i % 30 == 0) engine.request_epoch();
  }
  return engine.durable_epoch();
}

// After a crash, without anything new: the sinks must get exactly what the sources had emitted.
void expect_exactly_the_epoch(World& world, env::FileSystem& files, EpochId declared) {
  env::VirtualClock clock;
  SimulationEngine engine(world.graph(/*emit=*/false), {.files = &files, .state_dir = "state"},
                          clock);
  const auto started = engine.start();
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_GE(engine.durable_epoch(), declared);
  ASSERT_TRUE(engine.run_until_quiet());
  const auto next0 = engine.module(world.source, 0).next();
  const auto next1 = engine.module(world.source, 1).next();
  EXPECT_EQ(collected(engine, world.sink, 2), world.expected(next0, next1));
}

TEST(Epoch, DurableEpochSurvivesACutAtEveryWriteWithExactlyItsItems) {
  World world;
  world.items = 200;
  std::uint64_t cuts = 0;
  EpochId epochs = 0;
  for (std::uint64_t n = 0;; ++n) {
    env::Random random(n);
    env::FaultyFileSystem files(n);
    files.cut_power_after(n);
    const EpochId declared = live(world, files, /*seed=*/1);
    epochs = std::max(epochs, declared);
    const bool was_cut = files.power_is_off();
    files.crash(n % 3 == 0 ? nullptr : &random);
    expect_exactly_the_epoch(world, files, declared);
    if (HasFatalFailure()) FAIL() << "cut after " << n;
    files.restart();
    // A second life finishes the work, whatever the first left.
    live(world, files, n);
    files.restart();
    expect_exactly_the_epoch(world, files, declared);
    if (HasFatalFailure()) FAIL() << "cut after " << n;
    if (!was_cut) break;
    ++cuts;
  }
  EXPECT_GT(cuts, 100U);
  EXPECT_GT(epochs, 5U);
}

// The same with other orders and other places of the cut.
TEST(Epoch, DurableEpochSurvivesACutInAnyOrderOfRuns) {
  World world;
  world.items = 150;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    env::Random random(seed);
    env::FaultyFileSystem files(seed);
    files.cut_power_after(random.below(200));
    const EpochId declared = live(world, files, seed);
    files.crash(&random);
    expect_exactly_the_epoch(world, files, declared);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Epoch, FailedSyncStopsEverything) {
  World world;
  for (std::uint64_t n = 0; n < 12; ++n) {
    env::FaultyFileSystem files(n);
    files.fail_sync_after(n);
    env::VirtualClock clock;
    SimulationEngine engine(world.graph(), {.files = &files, .state_dir = "state"}, clock);
    ASSERT_TRUE(engine.start());
    base::Status status;
    for (int i = 0; i < 20 && status; ++i) status = engine.end_epoch();
    ASSERT_FALSE(status) << n;
    EXPECT_EQ(status.error().code(), base::ErrorCode::kIo);
  }
}

TEST(Epoch, FullDiskStopsEverythingWithOneSentence) {
  World world;
  world.items = 10'000;
  env::MemoryFileSystem files;
  files.set_capacity(3000);
  env::VirtualClock clock;
  SimulationEngine engine(world.graph(), {.files = &files, .state_dir = "state"}, clock);
  ASSERT_TRUE(engine.start());
  base::Status status;
  for (int i = 0; i < 20 && status; ++i) status = engine.end_epoch();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kNoSpace) << status.error().message();
}

}  // namespace
}  // namespace meguri::flow
