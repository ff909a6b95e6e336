// OrderedStore: sorted keys to values, written in batches. RocksDB stands behind it; the model in
// memory is its twin for tests and simulation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace meguri::env {

// Changes applied together: after a crash all of a batch is there or nothing of it.
class StoreBatch {
 public:
  void put(std::string key, std::string value) {
    changes_.push_back({std::move(key), std::move(value)});
  }
  void remove(std::string_view key) { changes_.push_back({std::string(key), std::nullopt}); }
  void clear() { changes_.clear(); }
  bool empty() const { return changes_.empty(); }

  struct Change {
    std::string key;
    std::optional<std::string> value;  // nullopt: removed
  };
  const std::vector<Change>& changes() const { return changes_; }

 private:
  std::vector<Change> changes_;
};

// A position in a frozen view of the store, taken when the cursor was made. Views returned by
// key() and value() die at the next move. Thread-compatible.
class StoreCursor {
 public:
  virtual ~StoreCursor() = default;
  virtual void seek(std::string_view key) = 0;  // to the first key >= `key`
  virtual void seek_last() = 0;
  virtual void seek_for_prev(std::string_view key) = 0;  // to the last key <= `key`
  virtual void next() = 0;
  virtual void prev() = 0;
  virtual bool valid() const = 0;  // false: past either end, or an error
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual base::Status status() const = 0;  // ask when valid() turns false
};

// One writer, any number of readers. Outlives its cursors. There is no log: a write is durable only
// after flush(), and a crash leaves the batches up to some point at or after the last flush, in
// order, each whole. So a writer puts the position it has applied into the same batch and goes on
// from there. Closing flushes nothing.
class OrderedStore {
 public:
  virtual ~OrderedStore() = default;
  virtual base::Status write(const StoreBatch& batch) = 0;
  virtual base::Result<std::optional<std::string>> get(std::string_view key) const = 0;
  virtual std::unique_ptr<StoreCursor> cursor() const = 0;
  virtual base::Status flush() = 0;
  // What the keys from `begin` up to `end` and their values take on disk, nearly; for dividing
  // work.
  virtual std::uint64_t approximate_bytes(std::string_view begin, std::string_view end) const = 0;
  // Reads the files behind it from end to end. kCorrupt: one is not as it was written. What was not
  // flushed is not looked at. Any thread.
  virtual base::Status check() const { return {}; }
};

// Opens or creates the RocksDB store in folder `path`.
struct StoreOptions {
  std::size_t write_buffer_bytes = 64U << 20U;
  std::size_t block_cache_bytes = 64U << 20U;
  bool read_only = false;  // sees what was flushed when it was opened
};
base::Result<std::unique_ptr<OrderedStore>> open_rocksdb_store(const std::string& path,
                                                               const StoreOptions& options);
// Removes it with its folder, whole or damaged; nobody has it open.
base::Status remove_rocksdb_store(const std::string& path);

}  // namespace meguri::env
