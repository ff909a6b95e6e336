// MemoryFileSystem: a disk in memory for tests and simulation. It keeps apart what programs see
// and what is on the medium, so that power loss can be had at any moment:
//  - bytes appended are on the medium after WritableFile::sync(), and after truncate();
//  - names created, renamed or removed are there after sync_dir() of their folder; a file whose
//    bytes are synced but whose name is not is lost;
//  - folders made by make_dirs() are there at once.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "env/file_system.h"
#include "env/memory_tree.h"
#include "env/random.h"

namespace meguri::env {

class MemoryFile;

// Thread-safe. Outlives the files and locks it gives out. These die with the process that held
// them: after crash() or restart() every call on them fails with kStopped.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem() = default;

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

  // Power loss. Without `random` all that was not synced is gone; with it, some of it may have
  // reached the medium: see MemoryTree::after_crash.
  void crash(Random* random = nullptr);

  // What crash() would leave, as a disk of its own, while this one runs on.
  std::unique_ptr<MemoryFileSystem> after_crash(Random* random = nullptr) const;

  // kill -9: the process is gone with its open files and locks, the machine and all bytes remain.
  void restart();

  // Appends beyond this many bytes in all write what fits and fail with kNoSpace.
  void set_capacity(std::uint64_t bytes);
  std::uint64_t used() const;  // bytes in files, those without names included

  // Damages a file, on the medium too. Requires bit < 8 * its size.
  base::Status flip_bit(const std::string& path, std::uint64_t bit);

 private:
  friend class MemoryFile;
  friend class MemoryReadableFile;
  friend class MemoryTemporaryFile;
  friend class MemoryLock;
  friend class FaultyFileSystem;

  // What an open file or lock knows of its place here.
  struct Handle {
    MemoryNodePtr node;
    std::string path;
    std::uint64_t life = 0;
  };

  base::Result<std::unique_ptr<MemoryFile>> open_file(const std::string& path, bool must_be_new);
  base::Status check_alive(const Handle& handle) const REQUIRES(mutex_);
  base::Status append(const Handle& handle, std::uint64_t expected_size, std::string_view bytes);
  base::Status sync(const Handle& handle);
  void lose_unsynced(const Handle& handle);
  base::Status read_at(const Handle& handle, std::uint64_t offset, std::size_t length,
                       std::string* out) const;
  base::Result<std::uint64_t> size_of(const Handle& handle) const;
  base::Status append_temporary(const Handle& handle, std::string_view bytes);
  void close_temporary(const Handle& handle);
  std::uint64_t room() const REQUIRES(mutex_);  // bytes that fit
  void unlock(const Handle& handle);

  mutable base::Mutex mutex_;
  MemoryTree tree_ GUARDED_BY(mutex_);
  std::set<const MemoryNode*> locked_ GUARDED_BY(mutex_);
  std::uint64_t temporary_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t life_ GUARDED_BY(mutex_) = 0;  // grows with every crash and restart
  std::uint64_t capacity_ GUARDED_BY(mutex_) = std::numeric_limits<std::int64_t>::max();
};

// A file of a MemoryFileSystem being appended to, with the ways in which it can fail. It is
// stricter than the contract: after a failed append it refuses to go on until the file is cut.
class MemoryFile final : public WritableFile {
 public:
  MemoryFile(MemoryFileSystem& fs, MemoryFileSystem::Handle handle, std::uint64_t size)
      : fs_(fs), handle_(std::move(handle)), size_(size) {}

  base::Status append(std::string_view bytes) override;
  base::Status sync() override;
  std::uint64_t size() const override { return size_; }

  // As a failed append leaves it: `part` is in the file, and size() does not count it.
  void append_torn(std::string_view part);
  // As a failed sync leaves it: what was not synced is readable until the power goes, and gone
  // then, whatever is synced later. Every further call fails.
  void fail_sync();

 private:
  MemoryFileSystem& fs_;
  const MemoryFileSystem::Handle handle_;
  std::uint64_t size_;
  bool sync_failed_ = false;
};

}  // namespace meguri::env
