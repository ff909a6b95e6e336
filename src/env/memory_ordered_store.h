// MemoryStoreDisk: the model of OrderedStore in memory, for tests and simulation. It holds what an
// OrderedStore keeps over crashes; the stores it opens lose what they did not flush.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "env/ordered_store.h"
#include "env/random.h"

namespace meguri::env {

// Thread-safe. Outlives the stores it opens, and they their cursors. One store may write at a time;
// any number may read only, each seeing what was flushed when it was opened.
class MemoryStoreDisk {
 public:
  MemoryStoreDisk();
  MemoryStoreDisk(const MemoryStoreDisk&) = delete;
  MemoryStoreDisk& operator=(const MemoryStoreDisk&) = delete;

  // kBusy if a store that may write is open. Only `read_only` of the options counts. What the last
  // store did not flush is lost, if no crash() has decided otherwise.
  base::Result<std::unique_ptr<OrderedStore>> open(const StoreOptions& options = {});

  // The process or the machine dies: stores of before fail with kStopped. Without `random` all
  // batches after the last flush are lost; with it, the first few of them may be there.
  void crash(Random* random = nullptr);

  std::uint64_t unflushed() const;  // batches written since the last flush

 private:
  friend class MemoryOrderedStore;
  friend class MemoryStoreCursor;
  friend class MemoryReadOnlyStore;
  using Map = std::map<std::string, std::string, std::less<>>;

  static void apply(const StoreBatch& batch, Map* map);
  base::Status check_alive(std::uint64_t life) const REQUIRES(mutex_);
  base::Status write(std::uint64_t life, const StoreBatch& batch);
  base::Status flush(std::uint64_t life);
  base::Result<std::optional<std::string>> get(std::uint64_t life, std::string_view key) const;
  std::unique_ptr<StoreCursor> cursor(std::uint64_t life) const;
  void close(std::uint64_t life);

  mutable base::Mutex mutex_;
  Map durable_ GUARDED_BY(mutex_);
  std::vector<StoreBatch> pending_ GUARDED_BY(mutex_);  // after the last flush, in order
  // What the open store sees: durable_ and then pending_. Cursors share it; a write makes a copy of
  // its own first if there are any.
  std::shared_ptr<Map> current_ GUARDED_BY(mutex_);
  std::uint64_t life_ GUARDED_BY(mutex_) = 0;  // grows with every crash and every open for writing
  bool is_open_ GUARDED_BY(mutex_) = false;
};

}  // namespace meguri::env
