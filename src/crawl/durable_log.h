// DurableLog: the files of a map from bytes to bytes whose entries somebody else keeps in memory.
// Their format is described in docs/formats/durable-map.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/block_file.h"
#include "env/file_system.h"
#include "flow/lane.h"

namespace meguri::crawl {

struct DurableLogLimits {
  std::size_t block_bytes = 64U << 10U;   // changes gathered before they are appended
  std::uint64_t slack_bytes = 1U << 20U;  // a log may grow by this above twice its live entries
};

// Changes are appended to a log. When it is more than twice as long as the entries that live,
// commit() has the owner write these to a new file instead; that commit takes as long as all
// entries do, and happens once for as many changes. So the log itself keeps one block in memory,
// however many entries there are.
//
// Invariant: the file and length that commit() returned hold exactly the entries of that moment,
// until on_durable() is told of a later epoch. Thread-compatible. Failures of the disk are kept and
// returned by commit(); after one the log must be thrown away.
class DurableLog {
 public:
  // Takes a change at opening; no value: the key was erased. kCorrupt for what was never put.
  using Apply =
      std::function<base::Status(std::string_view key, std::optional<std::string_view> value)>;
  using WriteAll = std::function<void(DurableLog&)>;  // calls put() for each entry that lives

  // Opens the log in folder `dir`, which is made if missing, as it stood when commit() returned
  // `state`, and calls `apply` for its changes, oldest first. What was written later is cut, and
  // files that do not belong to it are removed. An empty state: it starts empty. kCorrupt, with
  // file and offset, if bytes before the mark are missing or damaged.
  static base::Result<std::unique_ptr<DurableLog>> open(env::FileSystem& files, std::string dir,
                                                        std::string_view state, const Apply& apply,
                                                        DurableLogLimits limits = {});

  // Calls `apply` as open() does, for who only looks: nothing on disk is made, cut or removed.
  static base::Status read(env::FileSystem& files, std::string dir, std::string_view state,
                           const Apply& apply);

  void put(std::string_view key, std::string_view value);
  void erase(std::string_view key);

  // What an entry takes in a log; its owner adds these up.
  static std::uint64_t bytes_of(std::string_view key, std::string_view value) {
    return 1 + 4 + key.size() + 4 + value.size();
  }
  std::uint64_t bytes() const { return file_bytes_ + pending_.payload().size(); }
  std::size_t memory_bytes() const { return pending_.capacity(); }

  // Makes all changes up to now durable and returns what open() needs to find them: 16 bytes.
  // `live_bytes` is the sum of bytes_of() over the entries.
  base::Result<std::string> commit(flow::EpochId epoch, std::uint64_t live_bytes,
                                   const WriteAll& write_all);
  // The state that commit(epoch) returned is in a checkpoint: files that only older ones needed go.
  base::Status on_durable(flow::EpochId epoch);

 private:
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

  DurableLog(env::FileSystem& files, std::string dir, DurableLogLimits limits)
      : files_(files), dir_(std::move(dir)), limits_(limits) {}

  base::Status recover(std::uint64_t number, std::uint64_t length, const Apply& apply);
  base::Status remove_others();
  base::Status load(std::uint64_t length, const Apply& apply);
  base::Status use(const env::BlockView& block, const Apply& apply) const;
  std::unexpected<base::Error> damaged(std::string_view why) const;  // in the block it has come to

  void count_change();
  base::Status write_pending();
  base::Status open_file(std::uint64_t number);
  base::Status rewrite(flow::EpochId epoch, const WriteAll& write_all);
  std::string path_of(std::uint64_t number) const;

  env::FileSystem& files_;
  const std::string dir_;
  const DurableLogLimits limits_;

  std::uint64_t file_number_ = 0;  // 0: there is no file yet
  std::uint64_t file_bytes_ = 0;
  std::unique_ptr<env::WritableFile> writer_;
  bool name_unsynced_ = false;
  env::Block pending_;  // changes not yet appended
  std::uint32_t pending_changes_ = 0;
  std::vector<OldFile> old_files_;
  base::Status status_;  // the first failure
};

}  // namespace meguri::crawl
