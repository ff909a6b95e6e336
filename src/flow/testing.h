// Modules and engines that the tests of flow share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "env/clock.h"
#include "flow/engine.h"
#include "flow/graph.h"
#include "flow/simulation_engine.h"
#include "flow/thread_engine.h"

namespace meguri::flow::testing {

// Which item of which source this is, and a hash of the modules it has passed.
struct Item {
  std::uint64_t origin = 0;
  std::uint64_t number = 0;
  std::uint64_t path = 0;

  std::uint64_t key() const { return base::mix64(number % 17); }
  friend auto operator<=>(const Item&, const Item&) = default;
};

}  // namespace meguri::flow::testing

namespace meguri::flow {

template <>
struct Codec<testing::Item> {
  static void encode(const testing::Item& item, std::string& out) {
    put_fixed(out, item.origin);
    put_fixed(out, item.number);
    put_fixed(out, item.path);
  }
  static bool decode(std::string_view bytes, testing::Item& item) {
    return take_fixed(bytes, item.origin) && take_fixed(bytes, item.number) &&
           take_fixed(bytes, item.path) && bytes.empty();
  }
};

}  // namespace meguri::flow

namespace meguri::flow::testing {

// Emits items 0 .. count-1, and goes on after a restart from where the last epoch left it.
class Source final : public Module {
 public:
  explicit Source(std::uint64_t count) : count_(count) {}
  Out<Item> output = out<Item>("items");
  std::uint64_t next() const { return next_; }

 private:
  bool produce() override {
    for (int i = 0; i < 16 && next_ < count_ && !output.full() && !draining(); ++i) {
      output.emit({instance_index(), next_++, 0});
    }
    return next_ < count_ && !draining();
  }
  base::Result<std::string> commit(EpochId) override {
    std::string state;
    put_fixed(state, next_);
    return state;
  }
  base::Status restore(EpochId, std::string_view state) override {
    if (!take_fixed(state, next_)) return base::fail(base::ErrorCode::kCorrupt, "bad state");
    return {};
  }

  const std::uint64_t count_;
  std::uint64_t next_ = 0;
};

// Passes items on with its number mixed into their path.
class Relay final : public Module {
 public:
  explicit Relay(std::uint64_t number) : number_(number) {}
  In<Item> input = in<&Relay::on_item, &Relay::key>("items");
  Out<Item> output = out<Item>("items");

  static std::uint64_t key(const Item& item) { return item.key(); }
  static std::uint64_t step(std::uint64_t path, std::uint64_t number) {
    return base::mix64(path ^ number);
  }
  // Keys in the order they were first seen, with the last number of each origin.
  using Seen = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;
  const Seen& seen() const { return seen_; }
  bool in_order() const { return in_order_; }

 private:
  void on_item(Item&& item) {
    const auto [last, first] = seen_.try_emplace({item.origin, item.key()}, item.number);
    if (!first && last->second >= item.number) in_order_ = false;
    last->second = item.number;
    item.path = step(item.path, number_);
    output.emit(std::move(item));
  }

  const std::uint64_t number_;
  Seen seen_;
  bool in_order_ = true;
};

// Keeps all it gets; its items are its state.
class Sink final : public Module {
 public:
  In<Item> input = in<&Sink::on_item, &Sink::key>("items");
  static std::uint64_t key(const Item& item) { return item.key(); }
  const std::vector<Item>& items() const { return items_; }

 private:
  void on_item(Item&& item) { items_.push_back(item); }
  base::Result<std::string> commit(EpochId) override {
    std::string state;
    for (const Item& item : items_) Codec<Item>::encode(item, state);
    return state;
  }
  base::Status restore(EpochId, std::string_view state) override {
    for (; !state.empty(); state.remove_prefix(24)) {
      items_.emplace_back();
      if (state.size() < 24 || !Codec<Item>::decode(state.substr(0, 24), items_.back())) {
        return base::fail(base::ErrorCode::kCorrupt, "bad state");
      }
    }
    return {};
  }
  std::vector<Item> items_;
};

// All items in all instances of a sink, sorted.
inline std::vector<Item> collected(Engine& engine, Node<Sink> sink, std::size_t instances = 1) {
  std::vector<Item> all;
  for (std::size_t i = 0; i < instances; ++i) {
    const auto& items = engine.module(sink, i).items();
    all.insert(all.end(), items.begin(), items.end());
  }
  std::ranges::sort(all);
  return all;
}

enum class EngineKind : std::uint8_t { kThreads, kSimulation };

// An engine of either kind with the clock it needs.
struct AnyEngine {
  AnyEngine(EngineKind kind, Graph graph, EngineOptions options = {}, std::size_t threads = 2) {
    if (kind == EngineKind::kThreads) {
      options.clock = &real;
      engine = std::make_unique<ThreadEngine>(std::move(graph), options, threads);
    } else {
      engine = std::make_unique<SimulationEngine>(std::move(graph), options, virtual_clock);
    }
  }
  Engine* operator->() const { return engine.get(); }
  Engine& operator*() const { return *engine; }

  env::VirtualClock virtual_clock;
  env::ScaledClock real{1000};  // timers of a minute are over in 60 ms
  std::unique_ptr<Engine> engine;
};

inline const char* name_of(EngineKind kind) {
  return kind == EngineKind::kThreads ? "Threads" : "Simulation";
}

}  // namespace meguri::flow::testing
