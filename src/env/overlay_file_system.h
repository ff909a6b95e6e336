// OverlayFileSystem: lets a program believe that it changes a disk, and changes nothing. For
// looking at what another program will go on with.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::env {

// Shows what `below` has. What is cut or removed is so here alone, and new files are kept in a
// folder of `scratch`. Files of `below` cannot be appended to, nothing can be renamed, and nothing
// is ever durable. Thread-safe; borrows both, which outlive it and the files it gives out.
class OverlayFileSystem final : public FileSystem {
 public:
  // `scratch_dir` is there, empty, and nobody else's.
  OverlayFileSystem(FileSystem& below, FileSystem& scratch, std::string scratch_dir)
      : below_(below), scratch_(scratch), scratch_dir_(std::move(scratch_dir)) {}

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

 private:
  // What became of a name here.
  struct Change {
    std::optional<std::string> written;  // a new file, in the scratch folder
    std::optional<std::uint64_t> cut;    // the one below, to this size
    bool is_removed = false;
  };

  Change change_of(const std::string& path) const;  // nothing: as it is below

  FileSystem& below_;
  FileSystem& scratch_;
  const std::string scratch_dir_;
  mutable base::Mutex mutex_;
  std::map<std::string, Change> changes_ GUARDED_BY(mutex_);
  std::set<std::string> folders_ GUARDED_BY(mutex_);  // that are only here
  std::uint64_t files_written_ GUARDED_BY(mutex_) = 0;
};

}  // namespace meguri::env
