// Mutex and CondVar with Clang's thread-safety annotations, for the few places that share state:
// engines, taps, the console. Modules never need one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define MEGURI_ANNOTATE(x) __attribute__((x))
#else
#define MEGURI_ANNOTATE(x)
#endif

#define GUARDED_BY(mutex) MEGURI_ANNOTATE(guarded_by(mutex))
#define REQUIRES(...) MEGURI_ANNOTATE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) MEGURI_ANNOTATE(locks_excluded(__VA_ARGS__))

namespace meguri::base {

class MEGURI_ANNOTATE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() MEGURI_ANNOTATE(acquire_capability()) { mutex_.lock(); }
  void unlock() MEGURI_ANNOTATE(release_capability()) { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class MEGURI_ANNOTATE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) MEGURI_ANNOTATE(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() MEGURI_ANNOTATE(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits may end early: callers loop on their condition.
class CondVar {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void wait_for(Mutex& mutex, std::chrono::nanoseconds time) REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, time);
    lock.release();
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace meguri::base
