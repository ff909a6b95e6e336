// Taps: readers of an edge, added and dropped while the graph runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace meguri::flow {

// What a reader holds. It never slows the flow: when its queue is full the newest items are missed
// and counted. Dropping the Tap ends the reading. Thread-safe.
template <typename T>
class Tap {
 public:
  explicit Tap(std::size_t capacity) : capacity_(capacity) {}

  std::optional<T> next() {
    const base::MutexLock lock(mutex_);
    if (queue_.empty()) return std::nullopt;
    std::optional<T> item(std::move(queue_.front()));
    queue_.pop_front();
    return item;
  }

  std::uint64_t missed() const {
    const base::MutexLock lock(mutex_);
    return missed_;
  }

 private:
  template <typename>
  friend class TapPoint;

  void offer(const std::vector<T>& batch) {
    const base::MutexLock lock(mutex_);
    for (const T& item : batch) {
      if (queue_.size() < capacity_) {
        queue_.push_back(item);
      } else {
        ++missed_;
      }
    }
  }

  const std::size_t capacity_;
  mutable base::Mutex mutex_;
  std::deque<T> queue_ GUARDED_BY(mutex_);
  std::uint64_t missed_ GUARDED_BY(mutex_) = 0;
};

class TapPointBase {
 public:
  virtual ~TapPointBase() = default;
};

// Where taps hang on an edge. Costs one relaxed load per batch while there is none. Thread-safe.
template <typename T>
class TapPoint final : public TapPointBase {
 public:
  // Shared because reader and edge end in either order; the edge holds it weakly.
  std::shared_ptr<Tap<T>> add(std::size_t capacity)
    requires std::is_copy_constructible_v<T>
  {
    auto tap = std::make_shared<Tap<T>>(capacity);
    const base::MutexLock lock(mutex_);
    taps_.push_back(tap);
    any_.store(true, std::memory_order_relaxed);
    return tap;
  }

  void offer(const std::vector<T>& batch) {
    if (any_.load(std::memory_order_relaxed)) offer_to_all(batch);
  }

 private:
  void offer_to_all(const std::vector<T>& batch);

  std::atomic<bool> any_{false};
  base::Mutex mutex_;
  std::vector<std::weak_ptr<Tap<T>>> taps_ GUARDED_BY(mutex_);
};

template <typename T>
void TapPoint<T>::offer_to_all(const std::vector<T>& batch) {
  if constexpr (std::is_copy_constructible_v<T>) {
    const base::MutexLock lock(mutex_);
    std::erase_if(taps_, [](const std::weak_ptr<Tap<T>>& tap) { return tap.expired(); });
    for (const auto& weak : taps_) {
      if (const auto tap = weak.lock()) tap->offer(batch);
    }
    any_.store(!taps_.empty(), std::memory_order_relaxed);
  }
}

}  // namespace meguri::flow
