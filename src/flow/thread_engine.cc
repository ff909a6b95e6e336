#include "flow/thread_engine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace meguri::flow {

using base::MutexLock;
using base::Status;

ThreadEngine::ThreadEngine(Graph graph, EngineOptions options, std::size_t cpu_threads)
    : Engine(std::move(graph), std::move(options)),
      cpu_threads_(cpu_threads > 0 ? cpu_threads
                                   : std::max(1U, std::thread::hardware_concurrency())) {}

ThreadEngine::~ThreadEngine() { halt(); }

void ThreadEngine::launch() {
  crews_.push_back(std::make_unique<Crew>());
  for_each_instance([this](Instance& instance) {
    const auto& id = instance.identity();
    if (id.index == 0) {
      crew_of_.emplace_back(id.count, nullptr);
      poller_of_.emplace_back(id.count, nullptr);
    }
    if (id.kind == Kind::kPoller) {
      pollers_.push_back(std::make_unique<Poller>());
      poller_of_[id.node][id.index] = pollers_.back().get();
      poller_instances_.push_back(&instance);
    } else if (id.kind == Kind::kBlocking) {
      crews_.push_back(std::make_unique<Crew>());
      crew_of_[id.node][id.index] = crews_.back().get();
    } else {
      crew_of_[id.node][id.index] = crews_.front().get();
    }
  });
  for_each_instance([](Instance& instance) { instance.notify(); });
  for (const auto& crew : crews_) {
    const std::size_t n = crew == crews_.front() ? cpu_threads_ : 1;
    for (std::size_t i = 0; i < n; ++i) {
      crew->threads.emplace_back([this, &c = *crew] { serve(c); });
    }
  }
  for (std::size_t i = 0; i < pollers_.size(); ++i) {
    pollers_[i]->thread =
        std::thread([this, i] { serve_poller(*poller_instances_[i], *pollers_[i]); });
  }
  timer_thread_ = std::thread([this] { serve_timers(); });
  epoch_thread_ = std::thread([this] { serve_epochs(); });
}

void ThreadEngine::halt() {
  if (halted_ || !timer_thread_.joinable()) return;
  halted_ = true;
  stopping_ = true;
  on_change();
  for (const auto& crew : crews_) {
    {
      const MutexLock lock(crew->mutex);
      crew->stopping = true;
    }
    crew->work.notify_all();
    for (std::thread& thread : crew->threads) thread.join();
  }
  for (std::size_t i = 0; i < pollers_.size(); ++i) {
    wake_poller(*poller_instances_[i]);
    pollers_[i]->thread.join();
  }
  {
    // Between the timer thread's look at stopping() and its wait the mutex is held.
    const MutexLock lock(timer_mutex_);
  }
  timer_work_.notify_all();
  timer_thread_.join();
  epoch_thread_.join();
}

// --- Instances.

void ThreadEngine::become_active() {
  activity_.fetch_add(1, std::memory_order_acq_rel);
  active_.fetch_add(1, std::memory_order_acq_rel);
}

void ThreadEngine::become_idle() {
  if (active_.fetch_sub(1, std::memory_order_acq_rel) == 1) on_change();
}

void ThreadEngine::make_ready(Instance& instance) {
  become_active();
  const auto& id = instance.identity();
  if (id.kind == Kind::kPoller) {
    wake_poller(instance);
  } else {
    enqueue(*crew_of_[id.node][id.index], instance);
  }
}

void ThreadEngine::enqueue(Crew& crew, Instance& instance) {
  bool wake = false;
  {
    const MutexLock lock(crew.mutex);
    crew.ready.push_back(&instance);
    wake = crew.sleeping > 0;
  }
  if (wake) crew.work.notify_one();
}

Instance* ThreadEngine::next_ready(Crew& crew) {
  const MutexLock lock(crew.mutex);
  while (crew.ready.empty() && !crew.stopping) {
    ++crew.sleeping;
    crew.work.wait(crew.mutex);
    --crew.sleeping;
  }
  if (crew.stopping) return nullptr;
  Instance* instance = crew.ready.front();
  crew.ready.pop_front();
  return instance;
}

void ThreadEngine::serve(Crew& crew) {
  while (Instance* instance = next_ready(crew)) {
    if (has_failed()) continue;  // everything stands still until it is stopped
    if (instance->run(kBudget, nullptr) || instance->rest()) {
      enqueue(crew, *instance);
    } else {
      become_idle();
    }
  }
}

void ThreadEngine::serve_poller(Instance& instance, Poller& poller) {
  constexpr base::Duration kLongest = base::Duration::hours(1);
  bool resting = false;
  while (!stopping() && !has_failed()) {
    if (resting && instance.noticed()) resting = false;  // make_ready() counted it as active
    if (!resting) {
      const bool more = instance.run(kBudget, nullptr);
      if (!more && instance.module_idle() && !instance.rest()) {
        resting = true;
        become_idle();
      } else if (more) {
        instance.poll(base::Duration());
        continue;
      }
    }
    if (instance.output_full()) {
      const MutexLock lock(poller.mutex);
      while (!poller.woken && !stopping()) poller.work.wait(poller.mutex);
      poller.woken = false;
      continue;
    }
    {
      const MutexLock lock(poller.mutex);
      poller.woken = false;
    }
    if (instance.noticed() || stopping()) continue;
    const base::Ticks now = clock().ticks();
    const base::Ticks timer = instance.next_timer();
    const base::Duration wait = timer <= now ? base::Duration() : std::min(timer - now, kLongest);
    instance.poll(wait);
    if (resting && (!instance.module_idle() || instance.next_timer() <= clock().ticks())) {
      instance.notify();
    }
  }
  if (!resting) become_idle();
}

void ThreadEngine::wake_poller(Instance& instance) {
  const auto& id = instance.identity();
  Poller& poller = *poller_of_[id.node][id.index];
  {
    const MutexLock lock(poller.mutex);
    poller.woken = true;
  }
  poller.work.notify_one();
  instance.wake_poll();
}

// --- Timers.

void ThreadEngine::timer_set(Instance& instance, base::Ticks at) {
  if (instance.identity().kind == Kind::kPoller) return;  // its own thread looks
  {
    const MutexLock lock(timer_mutex_);
    timers_.emplace(at, &instance);
  }
  timer_work_.notify_one();
}

void ThreadEngine::serve_timers() {
  for (;;) {
    Instance* due = nullptr;
    {
      const MutexLock lock(timer_mutex_);
      if (stopping()) return;
      if (timers_.empty()) {
        timer_work_.wait(timer_mutex_);
      } else if (const auto [at, instance] = timers_.top(); at <= clock().ticks()) {
        due = instance;
        timers_.pop();
      } else {
        timer_work_.wait_for(timer_mutex_, clock().real_time(at - clock().ticks()));
      }
    }
    if (due != nullptr) due->notify();
  }
}

// --- Epochs and waiting.

void ThreadEngine::on_change() {
  {
    const MutexLock lock(change_mutex_);
    ++changes_;
  }
  change_.notify_all();
}

void ThreadEngine::serve_epochs() {
  while (!stopping() && !has_failed()) {
    if (epoch_wanted()) {
      begin_epoch();
    } else if (all_committed()) {
      conclude_epoch();
    }
    const MutexLock lock(change_mutex_);
    if (stopping() || has_failed() || epoch_wanted() || all_committed()) continue;
    const base::Ticks due = epoch_begun() ? base::Ticks::never() : epoch_due();
    if (due == base::Ticks::never()) {
      change_.wait(change_mutex_);
    } else {
      change_.wait_for(change_mutex_, clock().real_time(due - clock().ticks()));
    }
  }
}

bool ThreadEngine::anything_moves() const {
  if (active_.load(std::memory_order_acquire) > 0 || epoch_begun() || epoch_wanted()) return true;
  return std::ranges::any_of(poller_instances_, &Instance::noticed);
}

ThreadEngine::Rest ThreadEngine::look() const {
  const std::uint64_t before = activity_.load(std::memory_order_acquire);
  if (anything_moves() || !modules_idle()) return Rest::kMoving;
  const bool empty = nothing_queued();
  bool timers = false;
  {
    const MutexLock lock(timer_mutex_);
    timers = !timers_.empty();
  }
  if (anything_moves() || activity_.load(std::memory_order_acquire) != before) {
    return Rest::kMoving;
  }
  if (empty) return Rest::kQuiet;
  return timers ? Rest::kMoving : Rest::kStuck;
}

Status ThreadEngine::run_until_quiet() {
  for (;;) {
    std::uint64_t seen = 0;
    {
      const MutexLock lock(change_mutex_);
      seen = changes_;
    }
    RETURN_IF_ERROR(status());
    if (stop_asked_.exchange(false)) {
      return base::fail(base::ErrorCode::kStopped, "stopped on request");
    }
    const Rest rest = look();
    if (rest == Rest::kQuiet) return status();
    if (rest == Rest::kStuck) return std::unexpected(stuck());
    const MutexLock lock(change_mutex_);
    while (changes_ == seen) change_.wait(change_mutex_);
  }
}

Status ThreadEngine::run_for(base::Duration time) {
  const base::Ticks end = clock().ticks() + time;
  while (clock().ticks() < end) {
    RETURN_IF_ERROR(status());
    if (stop_asked_.exchange(false)) {
      return base::fail(base::ErrorCode::kStopped, "stopped on request");
    }
    const MutexLock lock(change_mutex_);
    if (has_failed() || stop_asked_) continue;
    change_.wait_for(change_mutex_, clock().real_time(end - clock().ticks()));
  }
  return status();
}

Status ThreadEngine::end_epoch() {
  const EpochId wanted = next_epoch();
  request_epoch();  // if one is under way, the next begins after it
  while (durable_epoch() < wanted) {
    RETURN_IF_ERROR(status());
    if (stop_asked_.exchange(false)) {
      return base::fail(base::ErrorCode::kStopped, "stopped on request");
    }
    const MutexLock lock(change_mutex_);
    if (durable_epoch() >= wanted || has_failed() || stop_asked_) continue;
    change_.wait(change_mutex_);
  }
  return status();
}

void ThreadEngine::stop_soon() {
  stop_asked_ = true;
  on_change();
}

}  // namespace meguri::flow
