// PosixFileSystem: the machine's own disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::env {

struct PosixOptions {
  bool has_unnamed_files = true;  // false: as on a disk that knows none, for tests
  // What is appended has reached the disk when append() returns, as on a machine that has no memory
  // to hold writes back, for benchmarks. It is not synced.
  bool writes_through = false;
};

// Has no state, so that any number of them with the same options are one. Thread-safe. Nothing it
// opens is inherited by programs we start. Errors name the path. Beyond the contract:
//  - after a failed append the file is cut back at once; if even that fails, the next append tries
//    again before it writes;
//  - after a failed sync nobody knows what the disk holds, and Linux would report the next sync as
//    good; so every later append and sync of that file fails as well;
//  - the lock file holds the process id of its holder while it is held, for the message to others;
//  - where the disk knows no files without names, a temporary one is made with a name that is
//    removed at once: a crash just between leaves it, empty, as "meguri-" and six letters.
class PosixFileSystem final : public FileSystem {
 public:
  PosixFileSystem() = default;
  explicit PosixFileSystem(const PosixOptions& options) : options_(options) {}

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
  const PosixOptions options_ = {};
};

// The one absolute path of what a path names now: without links, "." and "..". Of what is not there
// only the folders above it that are can be followed.
base::Result<std::string> absolute_path(const std::string& path);

}  // namespace meguri::env
