// Cycles that make far more items than any queue holds.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "env/posix_file_system.h"
#include "env/testing.h"
#include "flow/testing.h"

namespace meguri::flow {
namespace {

using testing::AnyEngine;
using testing::EngineKind;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

constexpr std::uint64_t kItems = kSanitized ? 300'000 : 10'000'000;
constexpr std::uint64_t kChildren = 50;

std::uint64_t memory_peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) / 1024;
}

// Numbers the items like a tree in which each has 50 children: i has 50 i + 1 .. 50 i + 50.
class Breeder final : public Module {
 public:
  explicit Breeder(std::uint64_t items) : items_(items) {}
  In<std::uint64_t> born = in<&Breeder::on_born, &Breeder::key>("born");
  Out<std::uint64_t> children = out<std::uint64_t>("children");
  static std::uint64_t key(const std::uint64_t& n) { return base::mix64(n); }
  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }

 private:
  bool produce() override {  // the root, once
    if (instance_index() != 0 || std::exchange(begun_, true)) return false;
    children.emit(0);
    return false;
  }
  void on_born(std::uint64_t&& n) {
    ++count_;
    sum_ += n;
    for (std::uint64_t c = n * kChildren + 1; c <= n * kChildren + kChildren; ++c) {
      if (c < items_) children.emit(c);
    }
  }
  const std::uint64_t items_;
  bool begun_ = false;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
};

class CycleThreads : public ::testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(On, CycleThreads,
                         ::testing::Values(EngineKind::kThreads, EngineKind::kSimulation),
                         [](const auto& kind) { return testing::name_of(kind.param); });

TEST_P(CycleThreads, EveryItemMakesFiftyMoreOverASpillingEdge) {
  env::PosixFileSystem files;
  const env::TempDir dir;
  Graph graph;
  auto breeder = graph.add<Breeder>("breeder", {Kind::kCpu, Split::kKey, 2}, kItems);
  graph.connect(breeder, &Breeder::children, breeder, &Breeder::born, Edge::spilling());
  AnyEngine engine(GetParam(), std::move(graph), {.files = &files, .state_dir = dir.path()});
  ASSERT_TRUE(engine->start());
  const std::uint64_t before_mb = memory_peak_mb();
  ASSERT_TRUE(engine->run_until_quiet());
  const std::uint64_t grown_mb = memory_peak_mb() - before_mb;
  ASSERT_TRUE(engine->stop());
  const Breeder& a = engine->module(breeder, 0);
  const Breeder& b = engine->module(breeder, 1);
  EXPECT_EQ(a.count() + b.count(), kItems);
  EXPECT_EQ(a.sum() + b.sum(), kItems * (kItems - 1) / 2);
  if (!kSanitized) {
    EXPECT_LT(grown_mb, 32U);  // ten million items are 80 MB before they are even queued
  }
}

// The same tree walked by a hub that holds what is left as ranges, under credits.
class Hub final : public Module {
 public:
  explicit Hub(std::uint64_t items) : items_(items) {}
  In<std::uint64_t> done = in<&Hub::on_done>("done");
  Out<std::uint64_t> work = out<std::uint64_t>("work");
  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }

 private:
  bool produce() override {
    while (work.credits() > 0 && next_ < known_) work.emit(next_++);
    return false;
  }
  // An item that is done makes fifty more known; numbered by age, they are one range.
  void on_done(std::uint64_t&& n) {
    ++count_;
    sum_ += n;
    known_ = std::min(items_, known_ + kChildren);
    work.give_back();
  }
  const std::uint64_t items_;
  std::uint64_t next_ = 0;
  std::uint64_t known_ = 1;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
};

class Worker final : public Module {
 public:
  In<std::uint64_t> input = in<&Worker::on_item>("in");
  Out<std::uint64_t> output = out<std::uint64_t>("out");

 private:
  void on_item(std::uint64_t&& n) { output.emit(n); }
};

TEST_P(CycleThreads, EveryItemMakesFiftyMoreUnderCredits) {
  Graph graph;
  auto hub = graph.add<Hub>("hub", {}, kItems);
  auto worker = graph.add<Worker>("worker", {Kind::kCpu, Split::kFree, 2});
  graph.connect(hub, &Hub::work, worker, &Worker::input, Edge::credit(4096));
  graph.connect(worker, &Worker::output, hub, &Hub::done, Edge::under_credit());
  AnyEngine engine(GetParam(), std::move(graph));
  ASSERT_TRUE(engine->start());
  const std::uint64_t before_mb = memory_peak_mb();
  ASSERT_TRUE(engine->run_until_quiet());
  const std::uint64_t grown_mb = memory_peak_mb() - before_mb;
  ASSERT_TRUE(engine->stop());
  EXPECT_EQ(engine->module(hub).count(), kItems);
  EXPECT_EQ(engine->module(hub).sum(), kItems * (kItems - 1) / 2);
  if (!kSanitized) {
    EXPECT_LT(grown_mb, 16U);
  }
}

}  // namespace
}  // namespace meguri::flow
