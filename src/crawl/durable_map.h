// DurableMap: a map from bytes to bytes that lives in memory and is durable by epochs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "base/result.h"
#include "crawl/durable_log.h"
#include "env/file_system.h"
#include "flow/lane.h"

namespace meguri::crawl {

using DurableMapLimits = DurableLogLimits;

// The entries of a DurableLog, for owners that do not keep them in a form of their own.
//
// Invariant: what commit() returned opens with exactly the entries of that moment, until
// on_durable() is told of a later epoch. Thread-compatible. Failures of the disk are kept and
// returned by commit(); after one the map must be thrown away.
class DurableMap {
 public:
  // Opens the map in folder `dir`, as DurableLog::open() does.
  static base::Result<std::unique_ptr<DurableMap>> open(env::FileSystem& files, std::string dir,
                                                        std::string_view state,
                                                        DurableMapLimits limits = {});

  void put(std::string_view key, std::string_view value);
  bool erase(std::string_view key);  // false: there was none
  // The view lives until that key is changed.
  std::optional<std::string_view> find(std::string_view key) const;

  // Calls `use(key, value)` for each entry, in no order; `use` changes nothing.
  template <typename Use>
  void for_each(Use use) const {
    for (const auto& [key, value] : entries_) use(std::string_view(key), std::string_view(value));
  }

  std::size_t size() const { return entries_.size(); }
  std::size_t memory_bytes() const;  // nearly
  std::uint64_t log_bytes() const { return log_->bytes(); }
  std::uint64_t live_bytes() const { return live_bytes_; }  // of the entries, as a log has them

  // Makes all changes up to now durable and returns what open() needs to find them: 16 bytes.
  base::Result<std::string> commit(flow::EpochId epoch);
  // The state that commit(epoch) returned is in a checkpoint: files that only older ones needed go.
  base::Status on_durable(flow::EpochId epoch) { return log_->on_durable(epoch); }

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): as the standard has it
    std::size_t operator()(std::string_view key) const { return base::hash64(key); }
  };

  DurableMap() = default;
  base::Status apply(std::string_view key, std::optional<std::string_view> value);
  void set(std::string_view key, std::string_view value);
  bool drop(std::string_view key);

  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> entries_;
  std::uint64_t live_bytes_ = 0;
  std::unique_ptr<DurableLog> log_;
};

}  // namespace meguri::crawl
