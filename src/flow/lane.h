// Lane: the queue from one producing instance to one consuming instance over one edge.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "flow/tap.h"

namespace meguri::flow {

class Instance;

// Epochs are numbered from 1. A marker in a lane says: all before me belongs to epoch n or earlier.
using EpochId = std::uint64_t;
inline constexpr EpochId kNoEpoch = 0;

// The part of a lane that does not depend on what it carries.
//
// Thread rule: push side by the producer's thread, pop side by the consumer's, counters by anyone.
class LaneBase {
 public:
  LaneBase(Instance& producer, Instance& consumer, std::size_t edge, std::size_t capacity,
           bool carries_epochs)
      : producer_(producer),
        consumer_(consumer),
        edge_(edge),
        capacity_(capacity),
        carries_epochs_(carries_epochs) {}
  virtual ~LaneBase() = default;
  LaneBase(const LaneBase&) = delete;
  LaneBase& operator=(const LaneBase&) = delete;

  Instance& producer() const { return producer_; }
  Instance& consumer() const { return consumer_; }
  std::size_t edge() const { return edge_; }
  bool carries_epochs() const { return carries_epochs_; }

  // Items pushed and not yet handed to the consumer's handler.
  std::size_t depth() const { return depth_.load(std::memory_order_relaxed); }
  std::uint64_t pushed() const { return pushed_.load(std::memory_order_relaxed); }
  std::uint64_t waits() const { return waits_.load(std::memory_order_relaxed); }

  // --- consumer's side ---------------------------------------------------------------------------
  // Hands up to `budget` items to the consumer's handler; stops early when the consumer's outputs
  // are full or a marker is reached. Returns how many it handed over.
  virtual std::size_t deliver(std::size_t budget) = 0;
  // True while something can be delivered or a marker waits to be seen. Cheap.
  bool has_more() const { return holding_ || queued_slots_.load(std::memory_order_acquire) > 0; }
  // The marker that deliver() has reached, or kNoEpoch. The lane stands still until it is passed.
  EpochId marker() const { return marker_; }
  void pass_marker() {
    marker_ = kNoEpoch;
    holding_ = false;
  }

  // --- producer's side ---------------------------------------------------------------------------
  virtual void push_marker(EpochId epoch) = 0;  // never refused

 protected:
  void wake_consumer();
  void wake_producer();

  Instance& producer_;
  Instance& consumer_;
  const std::size_t edge_;
  const std::size_t capacity_;
  const bool carries_epochs_;

  std::atomic<std::size_t> depth_{0};
  std::atomic<std::size_t> queued_slots_{0};
  std::atomic<std::uint64_t> pushed_{0};
  std::atomic<std::uint64_t> waits_{0};

  // Owned by the consumer.
  bool holding_ = false;  // a batch is partly delivered, or a marker is waiting
  EpochId marker_ = kNoEpoch;
};

// Invariant: items leave in the order they came; a refused batch stays with the producer.
template <typename T>
class Lane final : public LaneBase {
 public:
  // Handles items [0, n) until the consumer's outputs are full; returns how many were handled.
  using Handle = std::size_t (*)(void* module, T* items, std::size_t n);

  Lane(Instance& producer, Instance& consumer, std::size_t edge, std::size_t capacity,
       bool carries_epochs, TapPoint<T>* taps)
      : LaneBase(producer, consumer, edge, capacity, carries_epochs), taps_(taps) {}
  ~Lane() override;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void set_handler(Handle handle, void* module, std::size_t place, std::size_t* current_place) {
    handle_ = handle;
    module_ = module;
    place_ = place;
    current_place_ = current_place;
  }

  bool full() const { return depth() >= capacity_; }

  // Moves `batch` into the lane and leaves an empty vector in its place. When the lane is full it
  // is refused, unless forced, and the producer will be woken when half of it has drained.
  bool push(std::vector<T>& batch, bool force = false);
  void push_marker(EpochId epoch) override;
  std::size_t deliver(std::size_t budget) override;

 private:
  struct Slot {
    std::vector<T> items;
    EpochId marker;
  };

  static constexpr std::size_t kSpareVectors = 4;

  // Takes the next slot into current_ or marker_; false if there is none.
  bool pop();
  void drained(std::size_t n);

  base::Mutex mutex_;
  std::deque<Slot> queue_ GUARDED_BY(mutex_);
  std::vector<std::vector<T>> spare_ GUARDED_BY(mutex_);  // emptied vectors on their way back
  bool producer_waits_ GUARDED_BY(mutex_) = false;

  TapPoint<T>* taps_;

  // Owned by the consumer.
  std::vector<T> current_;
  std::size_t next_ = 0;
  Handle handle_ = nullptr;
  void* module_ = nullptr;
  std::size_t place_ = 0;
  std::size_t* current_place_ = nullptr;
};

template <typename T>
Lane<T>::~Lane() = default;

template <typename T>
bool Lane<T>::push(std::vector<T>& batch, bool force) {
  if (batch.empty()) return true;
  if (!force && full()) {
    const base::MutexLock lock(mutex_);
    if (full()) {
      producer_waits_ = true;
      waits_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
  }
  taps_->offer(batch);
  const std::size_t n = batch.size();
  {
    const base::MutexLock lock(mutex_);
    queue_.push_back({std::move(batch), kNoEpoch});
    if (spare_.empty()) {
      batch = {};
    } else {
      batch = std::move(spare_.back());
      spare_.pop_back();
    }
    depth_.fetch_add(n, std::memory_order_relaxed);
    queued_slots_.fetch_add(1, std::memory_order_release);
  }
  pushed_.fetch_add(n, std::memory_order_relaxed);
  wake_consumer();
  return true;
}

template <typename T>
void Lane<T>::push_marker(EpochId epoch) {
  {
    const base::MutexLock lock(mutex_);
    queue_.push_back({{}, epoch});
    queued_slots_.fetch_add(1, std::memory_order_release);
  }
  wake_consumer();
}

template <typename T>
std::size_t Lane<T>::deliver(std::size_t budget) {
  std::size_t delivered = 0;
  *current_place_ = place_;
  while (delivered < budget && marker_ == kNoEpoch) {
    if (next_ == current_.size() && !pop()) break;
    if (next_ == current_.size()) continue;  // popped a marker
    const std::size_t want = std::min(current_.size() - next_, budget - delivered);
    const std::size_t handled = handle_(module_, current_.data() + next_, want);
    next_ += handled;
    delivered += handled;
    holding_ = next_ < current_.size();
    drained(handled);
    if (handled < want) break;
  }
  *current_place_ = 0;
  return delivered;
}

template <typename T>
bool Lane<T>::pop() {
  const base::MutexLock lock(mutex_);
  if (queue_.empty()) return false;
  current_.clear();
  next_ = 0;
  if (current_.capacity() > 0 && spare_.size() < kSpareVectors) {
    spare_.push_back(std::move(current_));
  }
  current_ = std::move(queue_.front().items);
  marker_ = queue_.front().marker;
  queue_.pop_front();
  queued_slots_.fetch_sub(1, std::memory_order_relaxed);
  holding_ = true;
  return true;
}

// Waking at half depth lets both sides work in long stretches instead of taking turns.
template <typename T>
void Lane<T>::drained(std::size_t n) {
  if (n == 0) return;
  const std::size_t left = depth_.fetch_sub(n, std::memory_order_relaxed) - n;
  if (left > capacity_ / 2) return;
  bool wake = false;
  {
    const base::MutexLock lock(mutex_);
    std::swap(wake, producer_waits_);
  }
  if (wake) wake_producer();
}

}  // namespace meguri::flow
