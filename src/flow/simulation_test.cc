#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "env/memory_file_system.h"
#include "flow/simulation_engine.h"
#include "flow/testing.h"

namespace meguri::flow {
namespace {

using testing::Item;
using testing::Relay;
using testing::Sink;
using testing::Source;

// Passes each item on after a random time.
class Waiter final : public Module {
 public:
  In<Item> input = in<&Waiter::on_item>("in");
  Out<Item> output = out<Item>("out");

 private:
  void on_item(Item&& item) {
    waiting_.push_back(item);
    set_timer_after(base::Duration::from_ms(static_cast<std::int64_t>(random().below(10'000))),
                    waiting_.size() - 1);
    ++held_;
  }
  bool idle() const override { return held_ == 0; }
  void on_timer(std::uint64_t tag) override {
    --held_;
    output.emit(waiting_[tag]);
  }
  std::vector<Item> waiting_;
  std::size_t held_ = 0;
};

struct Outcome {
  std::uint64_t trace;
  std::uint64_t steps;
  std::int64_t ended_ms;
  std::vector<Item> order;
};

Outcome run(std::uint64_t seed) {
  Graph graph;
  auto source = graph.add<Source>("source", {Kind::kCpu, Split::kFree, 2}, 200);
  auto waiter = graph.add<Waiter>("waiter", {Kind::kCpu, Split::kFree, 2});
  auto relay = graph.add<Relay>("relay", {Kind::kCpu, Split::kKey, 3}, 1);
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(source, &Source::output, waiter, &Waiter::input, Edge::bounded(20));
  graph.connect(waiter, &Waiter::output, relay, &Relay::input, Edge::spilling(10));
  graph.connect(relay, &Relay::output, sink, &Sink::input, Edge::bounded(10));
  env::VirtualClock clock;
  env::MemoryFileSystem files;
  SimulationEngine engine(
      std::move(graph),
      {.files = &files, .state_dir = "s", .epoch_every = base::Duration::seconds(1), .seed = seed},
      clock);
  EXPECT_TRUE(engine.start());
  EXPECT_TRUE(engine.run_until_quiet());
  EXPECT_GT(engine.durable_epoch(), 5U);
  return {engine.trace(), engine.steps(), clock.ticks().ms(), engine.module(sink).items()};
}

TEST(Simulation, EqualSeedsGiveEqualTracesAndOthersOthers) {
  std::set<std::uint64_t> traces;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Outcome first = run(seed);
    const Outcome second = run(seed);
    ASSERT_EQ(first.trace, second.trace) << seed;
    ASSERT_EQ(first.steps, second.steps) << seed;
    ASSERT_EQ(first.ended_ms, second.ended_ms) << seed;
    ASSERT_EQ(first.order, second.order) << seed;
    ASSERT_EQ(first.order.size(), 400U);
    traces.insert(first.trace);
  }
  EXPECT_EQ(traces.size(), 1000U);
}

// A module with a race: it believes that the answer to a question always comes before the same
// question's echo, because the way is shorter.
class Racer final : public Module {
 public:
  In<Item> echoes = in<&Racer::on_echo>("echoes");
  In<Item> answers = in<&Racer::on_answer>("answers");

 private:
  void on_echo(Item&& item) {
    if (answered_ <= item.number) {
      fail({base::ErrorCode::kFailed, "the echo came before the answer"});
    }
  }
  void on_answer(Item&&) { ++answered_; }
  std::uint64_t answered_ = 0;
};

bool race_is_seen(std::uint64_t seed) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 3);
  auto relay1 = graph.add<Relay>("relay1", {}, 1);
  auto relay2 = graph.add<Relay>("relay2", {}, 2);
  auto racer = graph.add<Racer>("racer", {});
  graph.connect(source, &Source::output, racer, &Racer::answers);
  graph.connect(source, &Source::output, relay1, &Relay::input);
  graph.connect(relay1, &Relay::output, relay2, &Relay::input);
  graph.connect(relay2, &Relay::output, racer, &Racer::echoes);
  env::VirtualClock clock;
  EngineOptions options;
  options.seed = seed;
  SimulationEngine engine(std::move(graph), options, clock);
  EXPECT_TRUE(engine.start());
  return !engine.run_until_quiet();
}

TEST(Simulation, FindsAPlantedRaceWithSomeSeedAndShowsItAgain) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    if (race_is_seen(seed)) found.push_back(seed);
  }
  EXPECT_GT(found.size(), 0U);
  EXPECT_LT(found.size(), 1000U);
  for (const std::uint64_t seed : found) EXPECT_TRUE(race_is_seen(seed));
}

// Never hands on its item: the run must say so instead of going on for ever.
class Hoarder final : public Module {
 public:
  In<Item> input = in<&Hoarder::on_item>("in");

 private:
  void on_item(Item&&) { holds_ = true; }
  bool idle() const override { return !holds_; }
  bool holds_ = false;
};

TEST(Simulation, SaysWhoHoldsUpAGraphThatCannotGoOn) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1);
  auto hoarder = graph.add<Hoarder>("hoarder", {});
  graph.connect(source, &Source::output, hoarder, &Hoarder::input);
  env::VirtualClock clock;
  SimulationEngine engine(std::move(graph), {}, clock);
  ASSERT_TRUE(engine.start());
  const auto status = engine.run_until_quiet();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message().find("hoarder is not idle"), std::string::npos)
      << status.error().message();
}

TEST(Simulation, RunForLetsVirtualTimePass) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 100);
  auto waiter = graph.add<Waiter>("waiter", {});
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(source, &Source::output, waiter, &Waiter::input);
  graph.connect(waiter, &Waiter::output, sink, &Sink::input);
  env::VirtualClock clock;
  SimulationEngine engine(std::move(graph), {}, clock);
  ASSERT_TRUE(engine.start());
  ASSERT_TRUE(engine.run_for(base::Duration::seconds(5)));
  EXPECT_EQ(clock.ticks().ms(), 5000);
  const std::size_t half = engine.module(sink).items().size();
  EXPECT_GT(half, 10U);
  EXPECT_LT(half, 90U);
  ASSERT_TRUE(engine.run_for(base::Duration::days(400)));
  EXPECT_EQ(engine.module(sink).items().size(), 100U);
}

}  // namespace
}  // namespace meguri::flow
