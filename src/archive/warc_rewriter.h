// WarcRewriter: takes the records of removed pages out of a WARC file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "archive/removals.h"
#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"
#include "env/random.h"

namespace meguri::archive {

// What a file holds of removed pages.
struct RemovedRecords {
  std::uint64_t records = 0;  // that stand there and can be taken out
  std::uint64_t bytes = 0;    // of them, in the file
  std::uint64_t before = 0;   // that were taken out earlier
  // Where one stands that cannot be taken out: it is damaged, shares a gzip member with others, is
  // of an ARC file, or is too short for a tombstone.
  std::vector<std::uint64_t> stuck = {};

  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint64_t records = 0;
  };
  std::vector<Run> runs = {};  // of those that stand there, one behind the other
};

// All records with the URL of a removed page go, of whichever type; all others stay byte for byte,
// and stay where they are: tombstones of the same length stand where the removed ones stood. So
// entries of the index, places of checkpoints and what others know of the file stay right.
// Thread-compatible. Borrows the file system and the removals.
class WarcRewriter {
 public:
  // Told how far a file is read. An error ends the work, and leaves the file as it was.
  using Progress = std::function<base::Status(std::uint64_t offset)>;

  WarcRewriter(env::FileSystem& files, const Removals& removals, base::Instant date,
               env::Random random, Progress progress)
      : files_(files),
        removals_(removals),
        date_(date),
        random_(random),
        progress_(std::move(progress)) {}

  // Looks only.
  base::Result<RemovedRecords> find(const std::string& path);
  // Replaces the file by one without `found`, atomically: after a crash the old or the new one is
  // there. Needs room for both. `found` is what find() said of it; a run that is too short becomes
  // stuck.
  base::Status rewrite(const std::string& path, RemovedRecords& found);

 private:
  base::Status copy(const env::ReadableFile& from, std::uint64_t begin, std::uint64_t end,
                    env::WritableFile& to);
  base::Status write(const env::ReadableFile& from, RemovedRecords& found, env::WritableFile& to);

  env::FileSystem& files_;
  const Removals& removals_;
  const base::Instant date_;
  env::Random random_;
  const Progress progress_;
};

}  // namespace meguri::archive
