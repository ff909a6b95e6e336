// SimulationEngine: the same graph on one thread in virtual time, in an order chosen by a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/clock.h"
#include "env/random.h"
#include "flow/engine.h"

namespace meguri::flow {

// Equal graphs and equal seeds make equal runs, as trace() shows. Time stands still while anything
// can run, and then jumps to the next timer. Everything happens inside the calls of one thread.
class SimulationEngine final : public Engine {
 public:
  // `clock` replaces options.clock and must outlive the engine.
  SimulationEngine(Graph graph, EngineOptions options, env::VirtualClock& clock);
  ~SimulationEngine() override;

  base::Status run_until_quiet() override;
  base::Status run_for(base::Duration time) override;
  base::Status end_epoch() override;

  // One instance runs once, an epoch begins or ends, or time jumps; false: nothing can happen.
  bool step();

  // A hash of all that happened: who ran, when, and how many items it handled.
  std::uint64_t trace() const { return trace_; }
  std::uint64_t steps() const { return steps_; }

 private:
  // A run handles at most this many items: often few, so that many orders come about.
  static constexpr std::size_t kBudgetMax = 512;

  base::Status run_while(const std::function<bool()>& unfinished);
  void run_one();
  bool jump(base::Ticks limit);
  base::Ticks next_event() const;
  void mix_into_trace(std::uint64_t value);

  void launch() override;
  void halt() override;
  void on_change() override {}
  void make_ready(Instance& instance) override { ready_.push_back(&instance); }
  void wake_poller(Instance&) override {}
  void timer_set(Instance& instance, base::Ticks at) override { timers_.emplace(at, &instance); }

  env::VirtualClock& clock_;
  env::Random random_;
  std::vector<Instance*> ready_;
  std::vector<Instance*> pollers_;
  using Timer = std::pair<base::Ticks, Instance*>;
  struct Later {
    bool operator()(const Timer& a, const Timer& b) const { return a.first > b.first; }
  };
  std::priority_queue<Timer, std::vector<Timer>, Later> timers_;
  std::uint64_t trace_ = 0;
  std::uint64_t steps_ = 0;
  bool halted_ = false;
};

}  // namespace meguri::flow
