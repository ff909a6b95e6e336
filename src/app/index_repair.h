// IndexRepair: makes the temporal index of an archive anew from its files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/stop_signals.h"
#include "archive/index_file.h"
#include "archive/repair_plan.h"
#include "archive/temporal_index.h"
#include "base/mutex.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// The new index is built beside the old one, which counts until the new one is whole and durable.
// Stopped or killed anywhere, running it again goes on with what was built, if nothing has changed
// since. For whoever holds the archive's lock. Thread-compatible. Borrows the file system and the
// signals.
class IndexRepair {
 public:
  IndexRepair(env::FileSystem& files, const StopSignals& signals, std::string archive)
      : files_(files), signals_(signals), archive_(std::move(archive)) {}

  base::Status plan();
  // kStopped: a signal came.
  base::Status run(std::size_t workers, bool is_quiet);

  struct Damaged {
    std::string path;
    std::uint64_t places = 0;
  };
  std::size_t files() const { return plan_.files.size(); }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t entries() const { return entries_; }
  const std::vector<std::string>& notes() const { return plan_.notes; }
  const std::vector<std::string>& lost() const { return lost_; }  // paths of files
  const std::vector<Damaged>& damaged() const { return damaged_; }

 private:
  using Stopped = std::atomic<bool>;

  base::Status read_old_index(archive::RepairSources& sources);
  base::Status open_build();
  base::Status build(std::size_t workers, bool is_quiet);
  base::Status index_file(const archive::IndexFile& planned, const Stopped& is_stopped);
  base::Status read_rest(archive::IndexFile& row, const Stopped& is_stopped);
  base::Status write(const archive::IndexFile& row);
  base::Status keep_absent();
  base::Status copy_entries(const std::vector<archive::IndexFile>& kept);
  base::Status take_place();
  base::Status tidy_list();
  std::string plan_path() const { return archive_ + "/index.plan"; }
  std::string progress() const;

  env::FileSystem& files_;
  const StopSignals& signals_;
  const std::string archive_;
  archive::RepairPlan plan_;
  std::uint64_t fingerprint_ = 0;
  std::unique_ptr<archive::TemporalIndex> old_;  // null: it cannot be read
  base::Mutex mutex_;
  std::unique_ptr<archive::TemporalIndex> new_;  // under the mutex while several work
  std::vector<Damaged> damaged_;                 // likewise
  std::vector<std::string> lost_;
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::atomic<std::uint64_t> entries_ = 0;
  std::atomic<std::size_t> files_done_ = 0;
};

}  // namespace meguri::app
