// ExternalSort: any number of small values of one size, sorted in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// First all values are added, by any threads; then one thread takes them in order, equal ones as
// often as they came. What memory does not hold lies in a temporary file, in sorted runs that are
// merged at the end: `bytes_max` is what both steps hold, and one page for each run beyond that.
// T is bytes and has an order; its padding is written too, to this machine's file alone.
template <typename T>
class ExternalSort {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20U;
  static constexpr std::size_t kReadBytesMin = 4096;  // of a run at a time

  // `dir` is a folder on a disk with room for all values. The file system outlives this.
  ExternalSort(env::FileSystem& fs, std::string dir, std::size_t bytes_max = kBytesMax)
      : fs_(fs),
        dir_(std::move(dir)),
        values_max_(std::max<std::size_t>(bytes_max / sizeof(T), 1)) {}

  // Thread-safe. Costs a lock, so that many should come at once. After an error nothing is of use.
  base::Status add(std::span<const T> values) EXCLUDES(mutex_);

  // Ends the adding.
  base::Status finish() EXCLUDES(mutex_);

  // After finish(): the smallest that was not taken yet; nullopt: there is none any more.
  base::Result<std::optional<T>> next() EXCLUDES(mutex_);

  std::uint64_t size() const EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    return size_;
  }

 private:
  struct Run {
    std::uint64_t offset = 0;  // in the file, of what was not read yet
    std::uint64_t end = 0;
    std::string bytes;
    std::size_t used = 0;  // of them
  };
  // The first value of a run, and which.
  using Head = std::pair<T, std::size_t>;

  base::Status spill() REQUIRES(mutex_);
  base::Status pull(std::size_t number) REQUIRES(mutex_);

  env::FileSystem& fs_;
  const std::string dir_;
  const std::size_t values_max_;
  mutable base::Mutex mutex_;
  std::vector<T> values_ GUARDED_BY(mutex_);  // in memory
  std::size_t taken_ GUARDED_BY(mutex_) = 0;  // of them, after finish()
  std::unique_ptr<env::TemporaryFile> file_ GUARDED_BY(mutex_);
  std::vector<Run> runs_ GUARDED_BY(mutex_);
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_ GUARDED_BY(mutex_);
  std::size_t read_bytes_ GUARDED_BY(mutex_) = kReadBytesMin;
  std::uint64_t size_ GUARDED_BY(mutex_) = 0;
  bool is_finished_ GUARDED_BY(mutex_) = false;
};

template <typename T>
base::Status ExternalSort<T>::add(std::span<const T> values) {
  const base::MutexLock lock(mutex_);
  CHECK(!is_finished_, "values added to a sort that is over");
  size_ += values.size();
  while (!values.empty()) {
    const std::size_t some = std::min(values.size(), values_max_ - values_.size());
    values_.insert(values_.end(), values.begin(),
                   values.begin() + static_cast<std::ptrdiff_t>(some));
    values = values.subspan(some);
    if (values_.size() == values_max_) RETURN_IF_ERROR(spill());
  }
  return {};
}

template <typename T>
base::Status ExternalSort<T>::spill() {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, fs_.open_temporary(dir_));
  }
  std::ranges::sort(values_);
  const std::string_view bytes(reinterpret_cast<const char*>(values_.data()),
                               values_.size() * sizeof(T));
  RETURN_IF_ERROR(file_->append(bytes));
  const std::uint64_t begin = runs_.empty() ? 0 : runs_.back().end;
  runs_.push_back({.offset = begin, .end = begin + bytes.size(), .bytes = {}, .used = 0});
  values_.clear();
  return {};
}

template <typename T>
base::Status ExternalSort<T>::finish() {
  const base::MutexLock lock(mutex_);
  is_finished_ = true;
  if (runs_.empty()) {
    std::ranges::sort(values_);
    return {};
  }
  if (!values_.empty()) RETURN_IF_ERROR(spill());
  values_ = {};
  const std::size_t share = values_max_ * sizeof(T) / runs_.size();
  read_bytes_ = std::max(share, std::max(kReadBytesMin, sizeof(T))) / sizeof(T) * sizeof(T);
  for (std::size_t run = 0; run < runs_.size(); ++run) RETURN_IF_ERROR(pull(run));
  return {};
}

// Puts the next value of a run among the heads, if it has one.
template <typename T>
base::Status ExternalSort<T>::pull(std::size_t number) {
  Run& run = runs_[number];
  if (run.used == run.bytes.size()) {
    const std::uint64_t left = run.end - run.offset;
    if (left == 0) {
      run.bytes = {};
      run.used = 0;
      return {};
    }
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(left, read_bytes_));
    RETURN_IF_ERROR(file_->read_at(run.offset, length, &run.bytes));
    if (run.bytes.size() != length) {
      return base::fail(base::ErrorCode::kCorrupt, "a temporary file in {} ends too early", dir_);
    }
    run.offset += length;
    run.used = 0;
  }
  Head head;
  std::memcpy(&head.first, run.bytes.data() + run.used, sizeof(T));
  head.second = number;
  run.used += sizeof(T);
  heads_.push(head);
  return {};
}

template <typename T>
base::Result<std::optional<T>> ExternalSort<T>::next() {
  const base::MutexLock lock(mutex_);
  CHECK(is_finished_, "values taken from a sort that goes on");
  if (runs_.empty()) {
    if (taken_ == values_.size()) return std::nullopt;
    return values_[taken_++];
  }
  if (heads_.empty()) return std::nullopt;
  const Head head = heads_.top();
  heads_.pop();
  RETURN_IF_ERROR(pull(head.second));
  return head.first;
}

}  // namespace meguri::archive
