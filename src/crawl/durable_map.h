// DurableMap: a map from bytes to bytes that lives in memory and is durable by epochs.
// The format of its files is described in docs/formats/durable-map.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "env/file_system.h"
#include "flow/lane.h"

namespace meguri::crawl {

struct DurableMapLimits {
  std::size_t block_bytes = 64U << 10U;   // changes gathered before they are appended
  std::uint64_t slack_bytes = 1U << 20U;  // a log may grow by this above twice its live entries
};

// Changes are appended to a log in blocks with checksums. When the log is more than twice as long
// as the entries that live, commit() writes these to a new file instead; that commit takes as long
// as all entries do, and happens once for as many changes.
//
// Invariant: the file and length that commit() returned hold exactly the entries of that moment,
// until on_durable() is told of a later epoch. Thread-compatible. Failures of the disk are kept and
// returned by commit(); after one the map must be thrown away.
class DurableMap {
 public:
  // Opens the map in folder `dir`, which is made if missing, as it stood when commit() returned
  // `state`: what was written later is cut, and files that do not belong to it are removed. An
  // empty state: the map starts empty. kCorrupt, with file and offset, if bytes before the mark are
  // missing or damaged.
  static base::Result<std::unique_ptr<DurableMap>> open(env::FileSystem& files, std::string dir,
                                                        std::string_view state,
                                                        DurableMapLimits limits = {});

  // The same, without changing anything on disk, for who only looks; it must not be changed either.
  static base::Result<std::unique_ptr<DurableMap>> open_read_only(env::FileSystem& files,
                                                                  std::string dir,
                                                                  std::string_view state);

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
  std::uint64_t log_bytes() const { return file_bytes_ + pending_.size(); }
  std::uint64_t live_bytes() const { return live_bytes_; }  // of the entries, as a log has them

  // Makes all changes up to now durable and returns what open() needs to find them: 16 bytes.
  base::Result<std::string> commit(flow::EpochId epoch);
  // The state that commit(epoch) returned is in a checkpoint: files that only older ones needed go.
  base::Status on_durable(flow::EpochId epoch);

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): as the standard has it
    std::size_t operator()(std::string_view key) const { return base::hash64(key); }
  };
  struct OldFile {
    std::uint64_t number = 0;
    flow::EpochId epoch = flow::kNoEpoch;  // the first that does without it
  };

  // What commit() returned: a file and how much of it counts.
  struct Mark {
    std::uint64_t number = 0;
    std::uint64_t length = 0;
  };
  static base::Result<Mark> mark_of(std::string_view state, const std::string& dir);

  DurableMap(env::FileSystem& files, std::string dir, DurableMapLimits limits)
      : files_(files), dir_(std::move(dir)), limits_(limits) {}

  base::Status recover(std::uint64_t number, std::uint64_t length);
  base::Status remove_others();
  base::Status load(std::uint64_t length);
  base::Status apply(std::string_view payload, std::uint64_t offset);
  void set(std::string_view key, std::string_view value);
  bool drop(std::string_view key);

  void write_if_full();
  base::Status write_pending();
  base::Status open_file(std::uint64_t number);
  base::Status compact(flow::EpochId epoch);
  bool must_compact() const;
  std::string path_of(std::uint64_t number) const;

  env::FileSystem& files_;
  const std::string dir_;
  const DurableMapLimits limits_;

  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> entries_;
  std::uint64_t live_bytes_ = 0;

  std::uint64_t file_number_ = 0;  // 0: there is no file yet
  std::uint64_t file_bytes_ = 0;
  std::unique_ptr<env::WritableFile> writer_;
  bool name_unsynced_ = false;
  std::string pending_;  // changes not yet appended
  std::vector<OldFile> old_files_;
  base::Status status_;  // the first failure
};

}  // namespace meguri::crawl
