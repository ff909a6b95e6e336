#include "flow/simulation_engine.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace meguri::flow {

using base::Status;

namespace {

EngineOptions with_clock(EngineOptions options, const env::Clock& clock) {
  options.clock = &clock;
  return options;
}

}  // namespace

SimulationEngine::SimulationEngine(Graph graph, EngineOptions options, env::VirtualClock& clock)
    : Engine(std::move(graph), with_clock(options, clock)), clock_(clock), random_(options.seed) {}

SimulationEngine::~SimulationEngine() = default;

void SimulationEngine::launch() {
  for_each_instance([this](Instance& instance) {
    if (instance.identity().kind == Kind::kPoller) pollers_.push_back(&instance);
    instance.notify();
  });
}

void SimulationEngine::halt() { halted_ = true; }

void SimulationEngine::mix_into_trace(std::uint64_t value) { trace_ = base::mix64(trace_ ^ value); }

void SimulationEngine::run_one() {
  const std::size_t chosen = random_.below(ready_.size());
  Instance& instance = *std::exchange(ready_[chosen], ready_.back());
  ready_.pop_back();
  const std::size_t budget = random_.chance(0.5) ? 1 + random_.below(8) : kBudgetMax;
  bool more = instance.run(budget, &random_);
  if (instance.identity().kind == Kind::kPoller && !instance.output_full()) {
    instance.poll(base::Duration());
    more = more || instance.next_poll() <= clock_.ticks();
  }
  mix_into_trace((std::uint64_t{instance.identity().node} << 48U) ^
                 (std::uint64_t{instance.identity().index} << 32U) ^ instance.last_run_items());
  mix_into_trace(static_cast<std::uint64_t>(clock_.ticks().ms()));
  if (more || instance.rest()) ready_.push_back(&instance);
}

bool SimulationEngine::step() {
  if (has_failed() || halted_) return false;
  ++steps_;
  if (epoch_wanted()) {
    begin_epoch();
  } else if (all_committed()) {
    conclude_epoch();
  } else if (!ready_.empty()) {
    run_one();
  } else {
    --steps_;
    return jump(base::Ticks::never());
  }
  return true;
}

base::Ticks SimulationEngine::next_event() const {
  base::Ticks next = epoch_begun() ? base::Ticks::never() : epoch_due();
  if (!timers_.empty()) next = std::min(next, timers_.top().first);
  for (const Instance* poller : pollers_) next = std::min(next, poller->next_poll());
  return next;
}

// Lets time pass until the next event; false if there is none up to `limit`.
bool SimulationEngine::jump(base::Ticks limit) {
  const base::Ticks next = next_event();
  if (next == base::Ticks::never() || next > limit) return false;
  clock_.advance_to(next);
  ++steps_;
  while (!timers_.empty() && timers_.top().first <= next) {
    timers_.top().second->notify();
    timers_.pop();
  }
  for (Instance* poller : pollers_) {
    if (poller->next_poll() <= next) poller->notify();
  }
  return true;
}

Status SimulationEngine::run_while(const std::function<bool()>& unfinished) {
  while (unfinished()) {
    if (step()) continue;
    RETURN_IF_ERROR(status());
    if (halted_) return base::fail(base::ErrorCode::kStopped, "the engine was stopped");
    return std::unexpected(stuck());
  }
  return status();
}

Status SimulationEngine::run_until_quiet() {
  return run_while(
      [this] { return !ready_.empty() || epoch_begun() || !nothing_queued() || !modules_idle(); });
}

Status SimulationEngine::run_for(base::Duration time) {
  const base::Ticks end = clock_.ticks() + time;
  while (!has_failed() && !halted_) {
    const bool can_act = !ready_.empty() || epoch_wanted() || all_committed();
    if (can_act ? !step() : !jump(end)) break;
  }
  RETURN_IF_ERROR(status());
  clock_.advance_to(end);
  return {};
}

Status SimulationEngine::end_epoch() {
  const EpochId wanted = next_epoch();
  request_epoch();  // if one is under way, the next begins after it
  return run_while([this, wanted] { return durable_epoch() < wanted; });
}

}  // namespace meguri::flow
