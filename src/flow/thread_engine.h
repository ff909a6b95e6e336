// ThreadEngine: the graph on the threads of one machine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "flow/engine.h"

namespace meguri::flow {

// | threads                          | run                                         |
// | `cpu_threads` (the pool)         | all instances of cpu modules                |
// | one for each blocking instance   | that instance                               |
// | one for each poller instance     | that instance and its poll()                |
// | one for timers, one for epochs   | nothing of a module; the checkpoint's sync  |
class ThreadEngine final : public Engine {
 public:
  // cpu_threads 0: one for each core.
  ThreadEngine(Graph graph, EngineOptions options, std::size_t cpu_threads = 0);
  ~ThreadEngine() override;

  base::Status run_until_quiet() override;
  base::Status run_for(base::Duration time) override;
  base::Status end_epoch() override;
  // Makes one waiting call return kStopped, or the next one. Any thread, for example on a signal.
  void stop_soon();

 private:
  // Instances waiting for a thread, and the threads that serve them.
  struct Crew {
    base::Mutex mutex;
    base::CondVar work;
    std::deque<Instance*> ready GUARDED_BY(mutex);
    std::size_t sleeping GUARDED_BY(mutex) = 0;
    bool stopping GUARDED_BY(mutex) = false;
    std::vector<std::thread> threads;
  };
  // A poller's thread waits here while its outputs are full.
  struct Poller {
    base::Mutex mutex;
    base::CondVar work;
    bool woken GUARDED_BY(mutex) = false;
    std::thread thread;
  };

  static constexpr std::size_t kBudget = 4096;  // items in one run

  void launch() override;
  void halt() override;
  void on_change() override;
  void make_ready(Instance& instance) override;
  void wake_poller(Instance& instance) override;
  void timer_set(Instance& instance, base::Ticks at) override;

  void serve(Crew& crew);
  Instance* next_ready(Crew& crew);
  void enqueue(Crew& crew, Instance& instance);
  void serve_poller(Instance& instance, Poller& poller);
  void serve_timers();
  void serve_epochs();

  void become_active();
  void become_idle();
  enum class Rest : std::uint8_t { kMoving, kQuiet, kStuck };
  Rest look() const;
  bool anything_moves() const;
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }

  const std::size_t cpu_threads_;
  std::vector<std::unique_ptr<Crew>> crews_;  // the first is the pool
  std::vector<std::unique_ptr<Poller>> pollers_;
  std::vector<std::vector<Crew*>> crew_of_;  // by node and index; null for pollers
  std::vector<std::vector<Poller*>> poller_of_;
  std::vector<Instance*> poller_instances_;
  std::thread timer_thread_;
  std::thread epoch_thread_;

  // Instances that are ready or running. Each start of activity is counted too, so that looking
  // twice shows whether anything happened in between.
  std::atomic<std::size_t> active_{0};
  std::atomic<std::uint64_t> activity_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> stop_asked_{false};
  bool halted_ = false;

  base::Mutex change_mutex_;
  base::CondVar change_;  // something a waiting call may want to know
  std::uint64_t changes_ GUARDED_BY(change_mutex_) = 0;

  using Timer = std::pair<base::Ticks, Instance*>;
  mutable base::Mutex timer_mutex_;
  base::CondVar timer_work_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_ GUARDED_BY(timer_mutex_);
};

}  // namespace meguri::flow
