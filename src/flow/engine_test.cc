// What holds on every engine. The suite runs on threads and in the simulation.
#include "flow/engine.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "env/memory_file_system.h"
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

class EngineThreads : public ::testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(On, EngineThreads,
                         ::testing::Values(EngineKind::kThreads, EngineKind::kSimulation),
                         [](const auto& kind) { return testing::name_of(kind.param); });

std::vector<Item> items_of(std::uint64_t origins, std::uint64_t count, std::uint64_t path = 0) {
  std::vector<Item> items;
  for (std::uint64_t o = 0; o < origins; ++o) {
    for (std::uint64_t n = 0; n < count; ++n) items.push_back({o, n, path});
  }
  return items;
}

TEST_P(EngineThreads, PassesEveryItemThroughAChainOfEveryKindAndSplit) {
  Graph graph;
  auto source = graph.add<Source>("source", {Kind::kCpu, Split::kFree, 2}, 5000);
  auto free = graph.add<Relay>("free", {Kind::kCpu, Split::kFree, 3}, 1);
  auto keyed = graph.add<Relay>("keyed", {Kind::kBlocking, Split::kKey, 2}, 2);
  auto polled = graph.add<Relay>("polled", {Kind::kPoller, Split::kSingle, 1}, 3);
  auto sink = graph.add<Sink>("sink", {Kind::kCpu, Split::kKey, 4});
  graph.connect(source, &Source::output, free, &Relay::input, Edge::bounded(100).batched(7));
  graph.connect(free, &Relay::output, keyed, &Relay::input, Edge::bounded(1));
  graph.connect(keyed, &Relay::output, polled, &Relay::input);
  graph.connect(polled, &Relay::output, sink, &Sink::input, Edge::bounded(64));
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  const std::uint64_t path = Relay::step(Relay::step(Relay::step(0, 1), 2), 3);
  EXPECT_EQ(collected(*engine, sink, 4), items_of(2, 5000, path));
}

TEST_P(EngineThreads, EqualKeysReachTheSameInstanceInOrder) {
  Graph graph;
  auto source = graph.add<Source>("source", {Kind::kCpu, Split::kFree, 2}, 3000);
  auto first = graph.add<Relay>("first", {Kind::kCpu, Split::kKey, 3}, 1);
  auto second = graph.add<Relay>("second", {Kind::kCpu, Split::kKey, 4}, 2);
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(source, &Source::output, first, &Relay::input, Edge::bounded(10));
  graph.connect(first, &Relay::output, second, &Relay::input, Edge::bounded(10));
  graph.connect(second, &Relay::output, sink, &Sink::input);
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  std::set<std::uint64_t> keys;
  for (std::size_t i = 0; i < 4; ++i) {
    const Relay& relay = engine->module(second, i);
    EXPECT_TRUE(relay.in_order());
    std::set<std::uint64_t> own;
    for (const auto& [place, last] : relay.seen()) own.insert(place.second);
    for (const std::uint64_t key : own) EXPECT_TRUE(keys.insert(key).second);
  }
  EXPECT_EQ(keys.size(), 17U);
}

TEST_P(EngineThreads, SwitcherChoosesOneBranchAndCopiesReachAll) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1000);
  auto even = graph.add<Sink>("even", {});
  auto odd = graph.add<Sink>("odd", {});
  auto all = graph.add<Sink>("all", {});
  graph.switch_by(source, &Source::output, [](const Item& item) { return item.number % 2; })
      .to(even, &Sink::input)
      .to(odd, &Sink::input);
  graph.connect(source, &Source::output, all, &Sink::input);
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  EXPECT_EQ(collected(*engine, all), items_of(1, 1000));
  ASSERT_EQ(engine->module(even).items().size(), 500U);
  ASSERT_EQ(engine->module(odd).items().size(), 500U);
  for (const Item& item : engine->module(even).items()) EXPECT_EQ(item.number % 2, 0U);
  for (const Item& item : engine->module(odd).items()) EXPECT_EQ(item.number % 2, 1U);
}

// As in the picture of paper 004: A → B → A' → D, where A and A' are the same instances and what
// leaves A goes to B, what leaves A' to D.
TEST_P(EngineThreads, VirtualModuleRoutesByThePlaceOfTheInput) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 100);
  auto a = graph.add<Relay>("a", {Kind::kCpu, Split::kKey, 2}, 1);
  auto b = graph.add<Relay>("b", {}, 2);
  auto a_again = graph.again(a);
  auto d = graph.add<Sink>("d", {});
  graph.connect(source, &Source::output, a, &Relay::input);
  graph.connect(a, &Relay::output, b, &Relay::input);
  graph.connect(b, &Relay::output, a_again, &Relay::input, Edge::spilling());
  graph.connect(a_again, &Relay::output, d, &Sink::input);
  env::MemoryFileSystem files;
  AnyEngine engine(GetParam(), std::move(graph), {.files = &files, .state_dir = "state"});
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  const std::uint64_t path = Relay::step(Relay::step(Relay::step(0, 1), 2), 1);
  EXPECT_EQ(collected(*engine, d), items_of(1, 100, path));
}

TEST_P(EngineThreads, TapReadsAnEdgeAndMissesWhatItHasNoRoomFor) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1000);
  auto sink = graph.add<Sink>("sink", {});
  const auto edge = graph.connect(source, &Source::output, sink, &Sink::input);
  AnyEngine engine(GetParam(), std::move(graph));
  std::shared_ptr<Tap<Item>> wide;
  std::shared_ptr<Tap<Item>> narrow;
  ASSERT_TRUE(engine->start());  // on threads, items flow already
  wide = engine->tap(edge, 5000);
  narrow = engine->tap(edge, 10);
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  EXPECT_EQ(engine->module(sink).items().size(), 1000U);
  std::uint64_t seen = 0;
  std::uint64_t last = 0;
  for (auto item = wide->next(); item; item = wide->next()) {
    if (seen++ > 0) {
      EXPECT_EQ(item->number, last + 1);
    }
    last = item->number;
  }
  EXPECT_EQ(wide->missed(), 0U);
  if (GetParam() == EngineKind::kSimulation) {
    EXPECT_EQ(seen, 1000U);
    EXPECT_EQ(narrow->missed(), 990U);
  }
}

// Hands out numbers under credits and gets each back.
class Hub final : public Module {
 public:
  explicit Hub(std::uint64_t count) : count_(count) {}
  In<Item> answers = in<&Hub::on_answer>("answers");
  Out<Item> work = out<Item>("work");
  std::uint64_t answered() const { return answered_; }
  std::size_t most() const { return most_; }
  std::size_t in_flight() const { return work.in_flight(); }

 private:
  bool produce() override {
    while (work.credits() > 0 && next_ < count_) work.emit({0, next_++, 0});
    most_ = std::max(most_, work.in_flight());
    return false;
  }
  void on_answer(Item&&) {
    ++answered_;
    work.give_back();
  }
  std::uint64_t count_;
  std::uint64_t next_ = 0;
  std::uint64_t answered_ = 0;
  std::size_t most_ = 0;
};

TEST_P(EngineThreads, CreditEdgeBoundsWhatIsInFlight) {
  Graph graph;
  auto hub = graph.add<Hub>("hub", {}, 10'000);
  auto work = graph.add<Relay>("work", {Kind::kCpu, Split::kFree, 3}, 1);
  graph.connect(hub, &Hub::work, work, &Relay::input, Edge::credit(50));
  graph.connect(work, &Relay::output, hub, &Hub::answers, Edge::under_credit());
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  EXPECT_EQ(engine->module(hub).answered(), 10'000U);
  EXPECT_EQ(engine->module(hub).most(), 50U);
  EXPECT_EQ(engine->module(hub).in_flight(), 0U);
}

// Returns each item after a delay, like a fetcher; waits in poll().
class Delay final : public Module {
 public:
  In<Item> input = in<&Delay::on_item>("in");
  Out<Item> output = out<Item>("out");

 private:
  void on_item(Item&& item) {
    held_.emplace_back(clock().ticks() + base::Duration::seconds(10), item);
  }
  bool idle() const override { return held_.empty(); }
  base::Ticks next_poll() const override {
    return held_.empty() ? base::Ticks::never() : held_.front().first;
  }
  void poll(base::Duration wait) override {
    if (!held_.empty()) {
      const base::Duration left = held_.front().first - clock().ticks();
      wait = std::max(base::Duration(), std::min(wait, left));
    }
    if (wait > base::Duration()) {
      std::unique_lock lock(mutex_);
      woken_cv_.wait_for(lock, clock().real_time(wait), [this] { return woken_; });
      woken_ = false;
    }
    while (!held_.empty() && held_.front().first <= clock().ticks()) {
      output.emit(held_.front().second);
      held_.pop_front();
    }
  }
  void wake() override {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    woken_cv_.notify_one();
  }

  std::deque<std::pair<base::Ticks, Item>> held_;
  std::mutex mutex_;
  std::condition_variable woken_cv_;
  bool woken_ = false;
};

TEST_P(EngineThreads, PollerHoldsWorkThatNoQueueShowsAndIsWaitedFor) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 500);
  auto delay = graph.add<Delay>("delay", {Kind::kPoller, Split::kFree, 2});
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(source, &Source::output, delay, &Delay::input);
  graph.connect(delay, &Delay::output, sink, &Sink::input, Edge::bounded(5));
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  EXPECT_EQ(collected(*engine, sink), items_of(1, 500));
}

// Emits its own timer's tag, and notes the order.
class Ticker final : public Module {
 public:
  Out<Item> output = out<Item>("out");
  std::vector<std::uint64_t> fired;
  base::Ticks started;
  base::Ticks ended;

 private:
  base::Status start() override {
    started = clock().ticks();
    for (const int seconds : {30, 10, 20, 10}) {
      set_timer_after(base::Duration::seconds(seconds),
                      static_cast<std::uint64_t>(seconds) * 10 + tag_++);
    }
    return {};
  }
  bool idle() const override { return fired.size() == 4; }
  void on_timer(std::uint64_t tag) override {
    fired.push_back(tag);
    ended = clock().ticks();
    output.emit({0, tag, 0});
  }
  std::uint64_t tag_ = 0;
};

TEST_P(EngineThreads, TimersFireInOrderAndNotEarly) {
  Graph graph;
  auto ticker = graph.add<Ticker>("ticker", {});
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(ticker, &Ticker::output, sink, &Sink::input);
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  const Ticker& module = engine->module(ticker);
  EXPECT_EQ(module.fired, (std::vector<std::uint64_t>{101, 103, 202, 300}));
  EXPECT_GE(module.ended - module.started, base::Duration::seconds(30));
  EXPECT_EQ(engine->module(sink).items().size(), 4U);
}

class Thrower final : public Module {
 public:
  In<Item> input = in<&Thrower::on_item>("in");

 private:
  void on_item(Item&& item) {
    if (item.number == 321) throw std::runtime_error("cannot count beyond 320");
  }
};

TEST_P(EngineThreads, ModuleThatThrowsStopsEverythingAndNamesItself) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1'000'000'000);
  auto thrower = graph.add<Thrower>("thrower", {Kind::kCpu, Split::kFree, 2});
  graph.connect(source, &Source::output, thrower, &Thrower::input);
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  const auto status = engine->run_until_quiet();
  ASSERT_FALSE(status);
  EXPECT_TRUE(status.error().message().starts_with("module 'thrower#")) << status.error().message();
  EXPECT_NE(status.error().message().find("cannot count beyond 320"), std::string::npos);
  EXPECT_EQ(engine->stop(), status);
}

TEST_P(EngineThreads, DrainEndsAnEndlessGraphWithNothingLost) {
  Graph graph;
  auto source = graph.add<Source>("source", {Kind::kCpu, Split::kFree, 2}, 1'000'000'000);
  auto relay = graph.add<Relay>("relay", {Kind::kCpu, Split::kFree, 2}, 1);
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(source, &Source::output, relay, &Relay::input);
  graph.connect(relay, &Relay::output, sink, &Sink::input);
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  if (GetParam() == EngineKind::kSimulation) {
    auto& simulation = static_cast<SimulationEngine&>(*engine);
    for (int i = 0; i < 500; ++i) simulation.step();
  }
  ASSERT_TRUE(engine->end_epoch());
  ASSERT_TRUE(engine->drain());
  const std::uint64_t emitted = engine->module(source, 0).next() + engine->module(source, 1).next();
  EXPECT_GT(emitted, 0U);
  EXPECT_EQ(engine->module(sink).items().size(), emitted);
  EXPECT_EQ(engine->durable_epoch(), 2U);
}

TEST_P(EngineThreads, StopReturnsWhileItemsAreQueued) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1'000'000'000);
  auto relay = graph.add<Relay>("relay", {Kind::kBlocking, Split::kFree, 2}, 1);
  graph.connect(source, &Source::output, relay, &Relay::input);
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  EXPECT_TRUE(engine->stop());
  EXPECT_TRUE(engine->stop());
}

TEST_P(EngineThreads, MetricsCountItemsOfModulesAndEdges) {
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1000);
  auto relay = graph.add<Relay>("relay", {Kind::kCpu, Split::kKey, 2}, 1);
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(source, &Source::output, relay, &Relay::input, Edge::bounded(16));
  graph.connect(relay, &Relay::output, sink, &Sink::input);
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  ASSERT_TRUE(engine->run_until_quiet());
  ASSERT_TRUE(engine->stop());
  const Metrics metrics = engine->metrics();
  ASSERT_EQ(metrics.instances.size(), 4U);
  EXPECT_EQ(metrics.instances[0].items_out, 1000U);
  EXPECT_EQ(metrics.instances[1].name, "relay#0");
  EXPECT_EQ(metrics.instances[1].items_in + metrics.instances[2].items_in, 1000U);
  EXPECT_EQ(metrics.instances[3].items_in, 1000U);
  ASSERT_EQ(metrics.edges.size(), 2U);
  EXPECT_EQ(metrics.edges[0].items, 1000U);
  EXPECT_EQ(metrics.edges[0].depth, 0U);
  EXPECT_GT(metrics.edges[0].waits, 0U);
  EXPECT_EQ(metrics.edges[1].ports, "items → items");
}

TEST_P(EngineThreads, RefusesAKeyedModuleWithoutKeyAndASpillWithoutFolder) {
  {
    Graph graph;
    auto source = graph.add<Source>("source", {}, 1);
    auto sink = graph.add<Thrower>("sink", {Kind::kCpu, Split::kKey, 2});
    graph.connect(source, &Source::output, sink, &Thrower::input);
    EXPECT_FALSE(AnyEngine(GetParam(), std::move(graph))->start());
  }
  {
    Graph graph;
    auto source = graph.add<Source>("source", {}, 1);
    auto sink = graph.add<Sink>("sink", {});
    graph.connect(source, &Source::output, sink, &Sink::input, Edge::spilling());
    EXPECT_FALSE(AnyEngine(GetParam(), std::move(graph))->start());
  }
}

}  // namespace
}  // namespace meguri::flow
