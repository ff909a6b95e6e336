#include "env/memory_ordered_store.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace meguri::env {

using base::ErrorCode;
using base::fail;
using base::MutexLock;

// Reads a map nobody changes any more. Gives it back under the mutex it was taken with, because
// the writer looks how many share it.
class MemoryStoreCursor final : public StoreCursor {
 public:
  MemoryStoreCursor(std::shared_ptr<const MemoryStoreDisk::Map> map, base::Mutex& mutex,
                    base::Status status)
      : mutex_(mutex), map_(std::move(map)), at_(map_->end()), status_(std::move(status)) {}
  MemoryStoreCursor(const MemoryStoreCursor&) = delete;
  MemoryStoreCursor& operator=(const MemoryStoreCursor&) = delete;
  ~MemoryStoreCursor() override {
    const MutexLock lock(mutex_);
    map_.reset();
  }

  void seek(std::string_view key) override { at_ = map_->lower_bound(key); }
  void seek_last() override { at_ = map_->empty() ? map_->end() : std::prev(map_->end()); }
  void seek_for_prev(std::string_view key) override {
    at_ = map_->upper_bound(key);
    step_back();
  }
  void next() override {
    CHECK(valid());
    ++at_;
  }
  void prev() override {
    CHECK(valid());
    step_back();
  }
  bool valid() const override { return at_ != map_->end(); }
  std::string_view key() const override {
    CHECK(valid());
    return at_->first;
  }
  std::string_view value() const override {
    CHECK(valid());
    return at_->second;
  }
  base::Status status() const override { return status_; }

 private:
  void step_back() { at_ = at_ == map_->begin() ? map_->end() : std::prev(at_); }

  base::Mutex& mutex_;
  std::shared_ptr<const MemoryStoreDisk::Map> map_;
  MemoryStoreDisk::Map::const_iterator at_;
  const base::Status status_;
};

namespace {

std::uint64_t bytes_between(StoreCursor& cursor, std::string_view begin, std::string_view end) {
  std::uint64_t bytes = 0;
  for (cursor.seek(begin); cursor.valid() && cursor.key() < end; cursor.next()) {
    bytes += cursor.key().size() + cursor.value().size();
  }
  return bytes;
}

}  // namespace

// The store of one life of a process.
class MemoryOrderedStore final : public OrderedStore {
 public:
  MemoryOrderedStore(MemoryStoreDisk& disk, std::uint64_t life) : disk_(disk), life_(life) {}
  MemoryOrderedStore(const MemoryOrderedStore&) = delete;
  MemoryOrderedStore& operator=(const MemoryOrderedStore&) = delete;
  ~MemoryOrderedStore() override { disk_.close(life_); }

  base::Status write(const StoreBatch& batch) override { return disk_.write(life_, batch); }
  base::Result<std::optional<std::string>> get(std::string_view key) const override {
    return disk_.get(life_, key);
  }
  std::unique_ptr<StoreCursor> cursor() const override { return disk_.cursor(life_); }
  base::Status flush() override { return disk_.flush(life_); }
  std::uint64_t approximate_bytes(std::string_view begin, std::string_view end) const override {
    return bytes_between(*cursor(), begin, end);
  }

 private:
  MemoryStoreDisk& disk_;
  const std::uint64_t life_;
};

// Sees what was flushed when it was opened.
class MemoryReadOnlyStore final : public OrderedStore {
 public:
  explicit MemoryReadOnlyStore(MemoryStoreDisk::Map map)
      : map_(std::make_shared<MemoryStoreDisk::Map>(std::move(map))) {}

  base::Status write(const StoreBatch& /*batch*/) override {
    return fail(ErrorCode::kDenied, "the store is open for reading only");
  }
  base::Result<std::optional<std::string>> get(std::string_view key) const override {
    const auto entry = map_->find(key);
    if (entry == map_->end()) return std::nullopt;
    return entry->second;
  }
  std::unique_ptr<StoreCursor> cursor() const override {
    return std::make_unique<MemoryStoreCursor>(map_, mutex_, base::Status());
  }
  base::Status flush() override {
    return fail(ErrorCode::kDenied, "the store is open for reading only");
  }
  std::uint64_t approximate_bytes(std::string_view begin, std::string_view end) const override {
    return bytes_between(*cursor(), begin, end);
  }

 private:
  mutable base::Mutex mutex_;
  const std::shared_ptr<const MemoryStoreDisk::Map> map_;
};

MemoryStoreDisk::MemoryStoreDisk() : current_(std::make_shared<Map>()) {}

base::Result<std::unique_ptr<OrderedStore>> MemoryStoreDisk::open(const StoreOptions& options) {
  const MutexLock lock(mutex_);
  if (options.read_only) return std::make_unique<MemoryReadOnlyStore>(durable_);
  if (is_open_) return fail(ErrorCode::kBusy, "the store is open already");
  is_open_ = true;
  pending_.clear();
  current_ = std::make_shared<Map>(durable_);
  return std::make_unique<MemoryOrderedStore>(*this, ++life_);
}

void MemoryStoreDisk::crash(Random* random) {
  const MutexLock lock(mutex_);
  const std::uint64_t kept = random == nullptr ? 0 : random->between(0, pending_.size());
  for (std::uint64_t i = 0; i < kept; ++i) apply(pending_[i], &durable_);
  pending_.clear();
  is_open_ = false;
  ++life_;
}

std::uint64_t MemoryStoreDisk::unflushed() const {
  const MutexLock lock(mutex_);
  return pending_.size();
}

void MemoryStoreDisk::apply(const StoreBatch& batch, Map* map) {
  for (const StoreBatch::Change& change : batch.changes()) {
    if (change.value) {
      (*map)[change.key] = *change.value;
    } else {
      map->erase(change.key);
    }
  }
}

base::Status MemoryStoreDisk::check_alive(std::uint64_t life) const {
  if (life == life_) return {};
  return fail(ErrorCode::kStopped, "the store was opened before the crash");
}

base::Status MemoryStoreDisk::write(std::uint64_t life, const StoreBatch& batch) {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(check_alive(life));
  if (current_.use_count() > 1) current_ = std::make_shared<Map>(*current_);
  apply(batch, current_.get());
  pending_.push_back(batch);
  return {};
}

base::Status MemoryStoreDisk::flush(std::uint64_t life) {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(check_alive(life));
  for (const StoreBatch& batch : pending_) apply(batch, &durable_);
  pending_.clear();
  return {};
}

base::Result<std::optional<std::string>> MemoryStoreDisk::get(std::uint64_t life,
                                                              std::string_view key) const {
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(check_alive(life));
  const auto entry = current_->find(key);
  if (entry == current_->end()) return std::nullopt;
  return entry->second;
}

std::unique_ptr<StoreCursor> MemoryStoreDisk::cursor(std::uint64_t life) const {
  const MutexLock lock(mutex_);
  base::Status status = check_alive(life);
  auto map = status ? current_ : std::make_shared<Map>();
  return std::make_unique<MemoryStoreCursor>(std::move(map), mutex_, std::move(status));
}

void MemoryStoreDisk::close(std::uint64_t life) {
  const MutexLock lock(mutex_);
  if (life == life_) is_open_ = false;
}

}  // namespace meguri::env
