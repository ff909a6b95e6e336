// FaultyFileSystem: a MemoryFileSystem that fails on request, as disks and power do.
//
// Every operation that changes something is counted: append, sync, create (also by open_append,
// open_temporary and lock), truncate, punch, rename, remove, make_dirs, sync_dir. A test that holds
// at every moment the power may go is written so, or shorter with for_each_crash_point() of
// crash_points.h:
//
//   for (std::uint64_t n = 0;; ++n) {
//     FaultyFileSystem fs(seed);
//     fs.cut_power_after(n);                    // n changes work, the next one is torn
//     run_workload(fs, &acknowledged);          // stops at its first error
//     const bool was_cut = fs.power_is_off();
//     fs.crash(&random);                        // the power is back, unsynced data is not
//     check_all_there(fs, acknowledged);        // opens everything again
//     if (!was_cut) break;                      // the workload ran to its end: all points done
//   }
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "env/file_system.h"
#include "env/memory_file_system.h"
#include "env/random.h"

namespace meguri::env {

// Thread-safe. Outlives the files and locks it gives out.
class FaultyFileSystem final : public FileSystem {
 public:
  // The seed decides how much of a torn operation is done.
  explicit FaultyFileSystem(std::uint64_t seed = 0);

  base::Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) override;
  base::Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  base::Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) override;
  base::Result<std::unique_ptr<TemporaryFile>> open_temporary(const std::string& dir) override;
  base::Status truncate(const std::string& path, std::uint64_t size) override;
  base::Status punch(const std::string& path, std::uint64_t offset, std::uint64_t length) override;
  base::Status rename(const std::string& from, const std::string& to) override;
  base::Status remove(const std::string& path) override;
  base::Status make_dirs(const std::string& path) override;
  base::Status sync_dir(const std::string& path) override;
  base::Result<bool> exists(const std::string& path) override;
  base::Result<std::uint64_t> size(const std::string& path) override;
  base::Result<FileStamp> stamp(const std::string& path) override;
  base::Result<std::vector<std::string>> list(const std::string& path) override;
  base::Result<std::uint64_t> free_space(const std::string& path) override;
  base::Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;

  // The disk beneath: for its capacity, for bit flips, or to look at it without faults.
  MemoryFileSystem& disk() { return disk_; }

  std::uint64_t changes() const;  // how many changes were asked for so far

  // The change after `n` more fails with `code`. An append may leave a part of its bytes; a sync
  // loses what was not synced, as disks do, and its file is of no use any more; other changes are
  // not done. Several may be set.
  void fail_change_after(std::uint64_t n, base::ErrorCode code);
  // All changes after `n` more fail like that.
  void fail_changes_from(std::uint64_t n, base::ErrorCode code);
  // The sync of a file after `n` more syncs fails with kIo.
  void fail_sync_after(std::uint64_t n);
  // The read_at after `n` more fails with `code`.
  void fail_read_after(std::uint64_t n, base::ErrorCode code);

  // The power goes during the change after `n` more: of an append a part is done, anything else is
  // done or not. That change and every call after it fail with kIo, until crash() or restart().
  void cut_power_after(std::uint64_t n);
  bool power_is_off() const;

  // The machine starts again: what was not synced is lost (see MemoryFileSystem::crash), files and
  // locks of before are dead, and no fault is set any more. The capacity stays.
  void crash(Random* random = nullptr);
  // The same after kill -9: nothing is lost.
  void restart();

 private:
  friend class FaultyFile;
  friend class FaultyReadableFile;
  friend class FaultyTemporaryFile;

  enum class Outcome : std::uint8_t { kWorks, kFails, kPowerGoes, kPowerIsOff };
  // What becomes of one change, and what its caller is told unless it works.
  struct Verdict {
    Outcome outcome = Outcome::kWorks;
    base::Status status;
  };

  Verdict judge(const std::string& what, bool is_sync = false);
  base::Status judge_read(const std::string& path);
  base::Status check_power(const std::string& what) const;
  std::size_t draw_part(std::size_t size);  // how much of a torn append is done
  bool draw_whether_done();                 // the same of any other change
  template <typename Operation>
  base::Status change(const std::string& what, const Operation& operation);
  base::Result<std::unique_ptr<WritableFile>> open(const std::string& path, bool must_be_new);
  void clear_faults() REQUIRES(mutex_);

  MemoryFileSystem disk_;
  mutable base::Mutex mutex_;
  Random random_ GUARDED_BY(mutex_);
  // Numbers of operations since the start.
  std::uint64_t changes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t syncs_ GUARDED_BY(mutex_) = 0;
  std::uint64_t reads_ GUARDED_BY(mutex_) = 0;
  // What fails, by those numbers.
  std::map<std::uint64_t, base::ErrorCode> failing_changes_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, base::ErrorCode> failing_syncs_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, base::ErrorCode> failing_reads_ GUARDED_BY(mutex_);
  std::optional<std::pair<std::uint64_t, base::ErrorCode>> failing_from_ GUARDED_BY(mutex_);
  std::optional<std::uint64_t> cut_at_ GUARDED_BY(mutex_);
  bool power_is_off_ GUARDED_BY(mutex_) = false;
};

}  // namespace meguri::env
