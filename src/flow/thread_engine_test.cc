#include "flow/thread_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "env/clock.h"
#include "env/memory_file_system.h"
#include "flow/testing.h"

namespace meguri::flow {
namespace {

using testing::Item;
using testing::Relay;
using testing::Sink;
using testing::Source;

TEST(ThreadEngineThreads, StopSoonEndsAWaitForAGraphThatNeverRests) {
  const env::RealClock clock;
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1'000'000'000'000);
  auto relay = graph.add<Relay>("relay", {}, 1);
  graph.connect(source, &Source::output, relay, &Relay::input);
  ThreadEngine engine(std::move(graph), {.clock = &clock}, 2);
  ASSERT_TRUE(engine.start());
  std::thread stopper([&engine] { engine.stop_soon(); });
  const auto status = engine.run_until_quiet();
  stopper.join();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), base::ErrorCode::kStopped);
  EXPECT_TRUE(engine.stop());
}

// Who is asked to stop ends what was begun; asked again, at once.
TEST(ThreadEngineThreads, IsStoppedByEachCallOnce) {
  const env::RealClock clock;
  env::MemoryFileSystem files;
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1'000'000'000'000);
  auto relay = graph.add<Relay>("relay", {}, 1);
  graph.connect(source, &Source::output, relay, &Relay::input);
  ThreadEngine engine(std::move(graph), {.clock = &clock, .files = &files, .state_dir = "state"},
                      2);
  ASSERT_TRUE(engine.start());
  engine.stop_soon();
  EXPECT_EQ(engine.run_until_quiet().error().code(), base::ErrorCode::kStopped);
  engine.stop_soon();
  EXPECT_EQ(engine.end_epoch().error().code(), base::ErrorCode::kStopped);
  const auto drained = engine.drain();
  EXPECT_TRUE(drained) << drained.error().message();
  EXPECT_TRUE(*files.exists("state/checkpoint"));
}

// Emits what another thread hands it, as a control socket does.
class Mailbox final : public Module {
 public:
  explicit Mailbox(std::function<void(Mailbox&)> ready) : ready_(std::move(ready)) {}
  Out<Item> output = out<Item>("out");

  void put(Item item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(item);
    }
    waker()();
  }

 private:
  base::Status start() override {
    ready_(*this);
    return {};
  }
  bool produce() override {
    const std::lock_guard lock(mutex_);
    for (const Item& item : items_) output.emit(item);
    items_.clear();
    return false;
  }
  std::function<void(Mailbox&)> ready_;
  std::mutex mutex_;
  std::vector<Item> items_;
};

TEST(ThreadEngineThreads, WakerBringsInWhatAnotherThreadHas) {
  const env::RealClock clock;
  Mailbox* mailbox = nullptr;
  Graph graph;
  auto box = graph.add<Mailbox>(
      "mailbox", {}, std::function<void(Mailbox&)>([&](Mailbox& self) { mailbox = &self; }));
  auto sink = graph.add<Sink>("sink", {});
  graph.connect(box, &Mailbox::output, sink, &Sink::input);
  ThreadEngine engine(std::move(graph), {.clock = &clock}, 1);
  ASSERT_TRUE(engine.start());
  std::vector<std::thread> writers;
  for (std::uint64_t t = 0; t < 3; ++t) {
    writers.emplace_back([&, t] {
      for (std::uint64_t n = 0; n < 500; ++n) mailbox->put({t, n, 0});
    });
  }
  for (std::thread& writer : writers) writer.join();
  ASSERT_TRUE(engine.run_until_quiet());
  ASSERT_TRUE(engine.stop());
  EXPECT_EQ(engine.module(sink).items().size(), 1500U);
}

TEST(ThreadEngineThreads, EpochsEndByTheClockAndOnRequest) {
  const env::ScaledClock clock(1000);
  env::MemoryFileSystem files;
  Graph graph;
  auto source = graph.add<Source>("source", {}, 1'000'000'000'000);
  auto relay = graph.add<Relay>("relay", {Kind::kBlocking, Split::kSingle, 1}, 1);
  graph.connect(source, &Source::output, relay, &Relay::input);
  ThreadEngine engine(std::move(graph),
                      {.clock = &clock,
                       .files = &files,
                       .state_dir = "s",
                       .epoch_every = base::Duration::seconds(1)},
                      1);
  ASSERT_TRUE(engine.start());
  while (engine.durable_epoch() < 3) ASSERT_TRUE(engine.run_for(base::Duration::seconds(1)));
  engine.request_epoch();
  const EpochId before = engine.durable_epoch();
  ASSERT_TRUE(engine.end_epoch());
  EXPECT_GT(engine.durable_epoch(), before);
  ASSERT_TRUE(engine.stop());
  const auto checkpoint = Checkpoint::load(files, "s");
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->epoch, engine.durable_epoch());
}

class BadStart final : public Module {
 private:
  base::Status start() override { throw std::runtime_error("no such thing"); }
};

TEST(ThreadEngine, ModuleThatThrowsAtStartIsNamed) {
  const env::RealClock clock;
  Graph graph;
  graph.add<BadStart>("bad", {});
  ThreadEngine engine(std::move(graph), {.clock = &clock}, 1);
  const auto status = engine.start();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "module 'bad' failed: no such thing");
}

// One slow item must not keep back what was emitted before it: a run ends when its time is over.
class Slow final : public Module {
 public:
  explicit Slow(const std::atomic<std::uint64_t>* seen) : seen_(seen) {}
  In<Item> input = in<&Slow::on_item>("in");
  Out<Item> output = out<Item>("out");

 private:
  void on_item(Item&& item) {
    // Emitted items must be on their way although fewer than a batch have come together.
    if (item.number == 200) {
      while (seen_->load() < 100) std::this_thread::yield();
    }
    const std::int64_t start = clock().nanoseconds();
    while (clock().nanoseconds() - start < 100'000) {
    }
    output.emit(std::move(item));
  }
  const std::atomic<std::uint64_t>* seen_;
};

class Watcher final : public Module {
 public:
  explicit Watcher(std::atomic<std::uint64_t>* seen) : seen_(seen) {}
  In<Item> input = in<&Watcher::on_item>("in");

 private:
  void on_item(Item&&) { seen_->fetch_add(1); }
  std::atomic<std::uint64_t>* seen_;
};

TEST(ThreadEngineThreads, SlowModuleHandsOnWhatItHasBeforeItsBatchIsFull) {
  const env::RealClock clock;
  std::atomic<std::uint64_t> seen{0};
  Graph graph;
  auto source = graph.add<Source>("source", {}, 300);
  auto slow = graph.add<Slow>("slow", {}, &seen);
  auto watcher = graph.add<Watcher>("watcher", {}, &seen);
  graph.connect(source, &Source::output, slow, &Slow::input);
  graph.connect(slow, &Slow::output, watcher, &Watcher::input, Edge::bounded().batched(256));
  ThreadEngine engine(std::move(graph), {.clock = &clock}, 2);
  ASSERT_TRUE(engine.start());
  ASSERT_TRUE(engine.run_until_quiet());
  ASSERT_TRUE(engine.stop());
  EXPECT_EQ(seen.load(), 300U);
}

}  // namespace
}  // namespace meguri::flow
