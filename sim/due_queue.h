// DueQueue: results that come due by the clock, for simulated clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "env/clock.h"

namespace meguri::sim {

// Gives results back in the order they come due; of equal times, in the order they were added.
// All calls but wake() come from one thread.
template <typename T>
class DueQueue {
 public:
  explicit DueQueue(const env::Clock& clock) : clock_(clock) {}  // borrowed

  void add(base::Ticks due, T item) {
    waiting_.emplace(std::pair(due, next_number_), std::move(item));
    ++next_number_;
  }
  std::size_t size() const { return waiting_.size(); }
  base::Ticks next_event() const {
    return waiting_.empty() ? base::Ticks::never() : waiting_.begin()->first.first;
  }

  // Waits up to `wait` for the next one to come due. With a virtual clock it does not wait at all.
  void wait(base::Duration wait) {
    const base::Ticks now = clock_.ticks();
    if (next_event() <= now) return;
    if (!waiting_.empty()) wait = std::min(wait, next_event() - now);
    const auto real = clock_.real_time(wait);
    const base::MutexLock lock(mutex_);
    if (!is_woken_ && real.count() > 0) condition_.wait_for(mutex_, real);
    is_woken_ = false;
  }
  void wake() {
    const base::MutexLock lock(mutex_);
    is_woken_ = true;
    condition_.notify_one();
  }

  // What has come due, or everything.
  std::vector<T> take_due() { return take_until(clock_.ticks()); }
  std::vector<T> take_all() { return take_until(base::Ticks::never()); }

 private:
  std::vector<T> take_until(base::Ticks end) {
    std::vector<T> taken;
    while (!waiting_.empty() && waiting_.begin()->first.first <= end) {
      taken.push_back(std::move(waiting_.begin()->second));
      waiting_.erase(waiting_.begin());
    }
    return taken;
  }

  const env::Clock& clock_;
  std::map<std::pair<base::Ticks, std::uint64_t>, T> waiting_;
  std::uint64_t next_number_ = 0;
  base::Mutex mutex_;
  base::CondVar condition_;
  bool is_woken_ GUARDED_BY(mutex_) = false;
};

}  // namespace meguri::sim
