#include "flow/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <utility>

#include "base/check.h"
#include "env/cpu_time.h"

namespace meguri::flow {

namespace {

void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

}  // namespace

Instance::Instance(Identity identity, std::unique_ptr<Module> module, const Services& services,
                   std::uint64_t seed, Host& host)
    : identity_(std::move(identity)),
      label_(identity_.count == 1 ? identity_.name
                                  : fmt::format("{}#{}", identity_.name, identity_.index)),
      services_(services),
      host_(host),
      random_(seed),
      module_(std::move(module)),
      spills_(module_->spills()) {
  module_->instance_ = this;
}

Instance::~Instance() = default;

void Instance::add_input(LaneBase& lane) {
  inputs_.push_back(&lane);
  if (lane.carries_epochs()) ++marked_inputs_;
}

void Instance::add_output(EdgeEndBase& end, bool carries_epochs) {
  outputs_.push_back(&end);
  if (carries_epochs) marked_outputs_.push_back(&end);
}

template <typename Work>
base::Status Instance::guarded(const Work& work) const {
  try {
    return work();
  } catch (const std::exception& e) {
    return base::fail(base::ErrorCode::kFailed, "module '{}' failed: {}", label_, e.what());
  } catch (...) {
    return base::fail(base::ErrorCode::kFailed, "module '{}' failed", label_);
  }
}

base::Status Instance::restore(EpochId epoch, std::string_view state) {
  return guarded([&]() -> base::Status {
    if (auto status = module_->restore(epoch, state); !status) {
      return std::unexpected(status.error().with_context(
          fmt::format("module '{}' cannot go on from its checkpoint", label_)));
    }
    return {};
  });
}

base::Status Instance::start() {
  return guarded([&]() -> base::Status {
    if (auto status = module_->start(); !status) {
      return std::unexpected(
          status.error().with_context(fmt::format("module '{}' cannot start", label_)));
    }
    module_idle_.store(module_->idle(), std::memory_order_release);
    return {};
  });
}

// Every notice is a read-modify-write, so that either the run it falls into sees the work, or
// rest() sees the notice.
void Instance::notify() {
  const unsigned before = state_.fetch_or(kScheduled | kNoticed, std::memory_order_acq_rel);
  if ((before & kScheduled) == 0) {
    host_.make_ready(*this);
  } else if (identity_.kind == Kind::kPoller && (before & kNoticed) == 0) {
    host_.wake_poller(*this);
  }
}

bool Instance::rest() {
  unsigned expected = kScheduled;
  return !state_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel);
}

void Instance::end_epoch(EpochId epoch) {
  if (marked_inputs_ > 0 && !spills_) return;  // markers reach it through its inputs
  asked_.store(epoch, std::memory_order_release);
  notify();
}

void Instance::say_durable(EpochId epoch) {
  durable_.store(epoch, std::memory_order_release);
  notify();
}

bool Instance::run(std::size_t budget, env::Random* order) {
  state_.fetch_and(~kNoticed, std::memory_order_acq_rel);
  run_began_ns_ = services_.clock->nanoseconds();
  const std::int64_t cpu_began = cpu_now();
  bool more = false;
  last_run_items_ = 0;
  const auto status = guarded([&]() -> base::Status {
    more = step(budget, order);
    module_idle_.store(module_->idle(), std::memory_order_release);
    return {};
  });
  if (!status) host_.failed(status.error());
  add(counters_.runs, 1);
  add(counters_.items_in, last_run_items_);
  if (output().full()) add(counters_.runs_full, 1);
  counters_.backlog.store(module_->backlog(), std::memory_order_relaxed);
  counters_.items_out.store(output().emitted, std::memory_order_relaxed);
  counters_.busy_ns.store(counters_.busy_ns.load(std::memory_order_relaxed) +
                              services_.clock->nanoseconds() - run_began_ns_,
                          std::memory_order_relaxed);
  count_cpu(cpu_began);
  return more;
}

std::int64_t Instance::cpu_now() const {
  return services_.counts_cpu ? env::thread_cpu_nanoseconds() : 0;
}

void Instance::count_cpu(std::int64_t began) {
  if (!services_.counts_cpu) return;
  counters_.cpu_ns.store(counters_.cpu_ns.load(std::memory_order_relaxed) + cpu_now() - began,
                         std::memory_order_relaxed);
}

bool Instance::step(std::size_t budget, env::Random* order) {
  flush();
  fire_timers();
  advance_epoch();
  deliver(budget, order);
  advance_epoch();
  const bool more_own = produce(budget);
  flush();
  return (more_input() && can_take()) || (more_own && !output().full());
}

bool Instance::out_of_time() const {
  return services_.clock->nanoseconds() - run_began_ns_ > kRunNs;
}

void Instance::poll(base::Duration wait) {
  const std::int64_t cpu_began = cpu_now();
  const auto status = guarded([&]() -> base::Status {
    if (!output().full()) module_->poll(wait);
    flush();
    module_idle_.store(module_->idle(), std::memory_order_release);
    return {};
  });
  if (!status) host_.failed(status.error());
  count_cpu(cpu_began);
}

void Instance::flush() {
  for (EdgeEndBase* end : outputs_) end->flush();
}

void Instance::fire_timers() {
  while (!timers_.empty() && !output().full() && timers_.front().at <= services_.clock->ticks()) {
    std::ranges::pop_heap(timers_, std::greater<>());
    const Timer timer = timers_.back();
    timers_.pop_back();
    module_->place_ = timer.place;
    module_->on_timer(timer.tag);
    module_->place_ = 0;
  }
  if (next_wake_ <= services_.clock->ticks()) next_wake_ = base::Ticks::never();
  ask_to_wake();
}

// The engine is told of the earliest timer only.
void Instance::ask_to_wake() {
  if (next_timer() >= next_wake_) return;
  next_wake_ = next_timer();
  host_.timer_set(*this, next_wake_);
}

base::Ticks Instance::next_timer() const {
  return timers_.empty() ? base::Ticks::never() : timers_.front().at;
}

void Instance::hear_durable() {
  const EpochId durable = durable_.load(std::memory_order_acquire);
  if (durable <= told_durable_) return;
  told_durable_ = durable;
  module_->on_durable(durable);
}

// Starts or ends an epoch if it is this instance's turn.
void Instance::advance_epoch() {
  const EpochId asked = asked_.load(std::memory_order_acquire);
  hear_durable();  // epoch n is durable before n + 1 is asked for, and heard of in that order
  if (spills_ && asked > begun_) begin_epoch(asked);
  if (!can_take()) return;  // commit() may emit
  const bool all_here = marked_inputs_ > 0 && aligned_ == marked_inputs_;
  const bool begins_here = marked_inputs_ == 0 && asked > committed_;
  if (all_here) {
    finish_epoch(committed_ + 1);
  } else if (begins_here) {
    finish_epoch(asked);
  }
}

void Instance::deliver(std::size_t& budget, env::Random* order) {
  if (inputs_.empty()) return;
  for (std::size_t slice = 1; budget > 0; slice = std::min(slice * 2, kSliceMax)) {
    const std::size_t first =
        order != nullptr ? order->below(inputs_.size()) : first_input_++ % inputs_.size();
    const std::size_t handled = deliver_slice(slice, budget, first);
    budget -= handled;
    last_run_items_ += handled;
    if (handled == 0 || out_of_time()) return;
  }
}

// Up to `slice` items of each input, beginning with number `first`; returns how many it handled.
std::size_t Instance::deliver_slice(std::size_t slice, std::size_t budget, std::size_t first) {
  std::size_t handled = 0;
  for (std::size_t i = 0; i < inputs_.size() && handled < budget && can_take(); ++i) {
    LaneBase& lane = *inputs_[(first + i) % inputs_.size()];
    if (lane.marker() != kNoEpoch) continue;
    handled += lane.deliver(std::min(slice, budget - handled));
    if (lane.marker() == kNoEpoch) continue;
    CHECK(lane.marker() == committed_ + 1, "{} has marker {} after epoch {}", label_, lane.marker(),
          committed_);
    ++aligned_;
  }
  return handled;
}

bool Instance::more_input() const {
  if (marked_inputs_ > 0 && aligned_ == marked_inputs_) return true;  // a commit is due
  return std::ranges::any_of(
      inputs_, [](const LaneBase* lane) { return lane->marker() == kNoEpoch && lane->has_more(); });
}

bool Instance::produce(std::size_t budget) {
  budget = std::max<std::size_t>(1, budget);  // inputs cannot starve it
  while (!output().full()) {
    const std::uint64_t before = output().emitted;
    if (!module_->produce()) return false;
    budget -= std::min<std::size_t>(budget, std::max<std::size_t>(1, output().emitted - before));
    if (budget == 0 || out_of_time()) return true;
  }
  return false;  // a drained output wakes this instance
}

void Instance::begin_epoch(EpochId epoch) {
  begun_ = epoch;
  module_->begin_epoch(epoch);
  send_markers(epoch);
}

void Instance::finish_epoch(EpochId epoch) {
  if (spills_ && begun_ < epoch) begin_epoch(epoch);
  auto state = module_->commit(epoch);
  if (!state) {
    host_.failed(state.error().with_context(
        fmt::format("module '{}' cannot commit epoch {}", label_, epoch)));
    return;
  }
  if (!spills_) send_markers(epoch);
  committed_ = epoch;
  aligned_ = 0;
  for (LaneBase* lane : inputs_) {
    if (lane->marker() != kNoEpoch) lane->pass_marker();
  }
  host_.committed(*this, epoch, std::move(*state));
}

void Instance::send_markers(EpochId epoch) {
  for (EdgeEndBase* end : marked_outputs_) end->send_marker(epoch);
}

// --- What a module and a lane ask of their instance.

void LaneBase::wake_consumer() { consumer_.notify(); }
void LaneBase::wake_producer() { producer_.notify(); }

void Waker::operator()() const { instance_->notify(); }

Module::Module() = default;
Module::~Module() = default;

const env::Clock& Module::clock() const { return *instance_->services_.clock; }
env::Random& Module::random() { return instance_->random_; }
env::FileSystem& Module::files() const {
  CHECK(instance_->services_.files != nullptr, "{} needs a file system", name());
  return *instance_->services_.files;
}
const std::string& Module::state_dir() const { return instance_->services_.state_dir; }
const std::string& Module::name() const { return instance_->label_; }
std::size_t Module::instance_index() const { return instance_->identity_.index; }
std::size_t Module::instance_count() const { return instance_->identity_.count; }
bool Module::draining() const { return instance_->host_.draining(); }
void Module::request_epoch() { instance_->host_.request_epoch(); }
Waker Module::waker() const { return Waker(*instance_); }

void Module::fail(base::Error error) {
  instance_->host_.failed(error.with_context(fmt::format("module '{}'", name())));
}

void Module::set_timer(base::Ticks at, std::uint64_t tag) {
  auto& timers = instance_->timers_;
  timers.push_back({at, instance_->timers_set_++, tag, place_});
  std::ranges::push_heap(timers, std::greater<>());
  instance_->ask_to_wake();
}

}  // namespace meguri::flow
