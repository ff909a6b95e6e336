// PageRemoval: takes pages down: out of an archive's index, and out of its files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/stop_signals.h"
#include "archive/removals.h"
#include "archive/temporal_index.h"
#include "archive/warc_rewriter.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"

namespace meguri::app {

// What a file of the archive had of removed pages.
struct RemovedFrom {
  std::string path;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  bool is_reference = false;              // nothing of it was changed
  std::vector<std::uint64_t> stuck = {};  // where records stand that stay
};

// Each step may be repeated; a removal that was recorded is carried through by doing them again.
// kStopped: a signal came. For whoever holds the archive's lock. Thread-compatible. Borrows the
// file system and the signals.
class PageRemoval {
 public:
  // Dry: nothing is changed, only counted.
  PageRemoval(env::FileSystem& files, const StopSignals& signals, std::string archive, bool is_dry)
      : files_(files), signals_(signals), archive_(std::move(archive)), is_dry_(is_dry) {}

  // From then on nothing brings the pages back. Nothing is recorded twice.
  base::Status record(const archive::Removal& removal);
  // Keeps crawls of this archive from visiting it.
  base::Status exclude(const archive::Removal& removal);

  base::Status open_index();
  // The entries of a removal leave the index. Says how many.
  base::Result<std::uint64_t> remove_entries(const archive::Removal& removal);
  // Visits of other pages whose content is that of removed ones: how many, and the first of their
  // URLs.
  struct Dangling {
    std::uint64_t visits = 0;
    std::vector<std::string> urls = {};
  };
  base::Result<Dangling> find_dangling(const archive::Removals& removals) const;

  // Takes the records of the removals out of the files, on so many threads.
  base::Status rewrite(const archive::Removals& removals, base::Instant date, std::size_t workers,
                       bool is_quiet);
  // By path; only files that have any.
  const std::map<std::string, RemovedFrom>& rewritten() const { return rewritten_; }

 private:
  using Stopped = std::atomic<bool>;

  base::Result<std::vector<archive::IndexFile>> all_files() const;
  base::Status rewrite_file(const archive::IndexFile& row, archive::WarcRewriter& rewriter);
  base::Status note_print(archive::IndexFile row);

  env::FileSystem& files_;
  const StopSignals& signals_;
  const std::string archive_;
  const bool is_dry_;
  std::unique_ptr<archive::TemporalIndex> index_;  // under the mutex while several work
  base::Mutex mutex_;
  std::map<std::string, RemovedFrom> rewritten_;  // likewise
  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::atomic<std::size_t> files_done_ = 0;
};

}  // namespace meguri::app
