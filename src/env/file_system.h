// FileSystem: the only door to the disk. Files are appended to, read anywhere and cut; nothing is
// overwritten in place, so a crash can only shorten a file to a state that was there once. What
// nobody will read again may be punched out of a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace meguri::env {

// An open file being appended to. Thread-compatible. Closed by its destructor; what was not synced
// may be lost with the power.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  // After a failure the file may hold part of `bytes`; size() still says where it should end, and
  // the owner must cut it there before going on.
  virtual base::Status append(std::string_view bytes) = 0;
  // Contents and length are on the medium when it returns. After a failure nobody knows what is
  // there, so that this file fails every later call.
  virtual base::Status sync() = 0;
  // Says that a sync will come, so that what was appended is on its way to the medium until then.
  // Only a hint.
  virtual void will_sync() {}
  virtual std::uint64_t size() const = 0;
};

// A file open for reading. Thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Reads up to `length` bytes at `offset` into `*out` (replaced); fewer only at the end of file.
  virtual base::Status read_at(std::uint64_t offset, std::size_t length,
                               std::string* out) const = 0;
  // Says that a range will be read soon, so that it can be fetched meanwhile. Only a hint.
  virtual void will_read(std::uint64_t /*offset*/, std::size_t /*length*/) const {}
  virtual base::Result<std::uint64_t> size() const = 0;
};

// A file without a name, for what is too much for memory and nobody else's: gone when it is closed,
// and with the process, however that ends. One thread appends; any may read what was appended
// before. After a failed append it is of no use any more.
class TemporaryFile : public ReadableFile {
 public:
  virtual base::Status append(std::string_view bytes) = 0;
};

// Held while it lives; another process or another open archive cannot take it meanwhile.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// Tells whether a file is still what it was: another stamp means that it was written or replaced.
// What was written twice within a tick of the file system's clock, to the same length, looks the
// same.
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  // by the file system's own clock; only to be compared
  std::uint64_t node = 0;        // which file the name stands for

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Thread-safe. Paths are the operating system's, '/'-separated. A name created, renamed or removed
// is only safe from power loss after sync_dir() of its folder.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Opens for appending, creating the file if it is missing.
  virtual base::Result<std::unique_ptr<WritableFile>> open_append(const std::string& path) = 0;
  // Creates a new file; kExists if there is one.
  virtual base::Result<std::unique_ptr<WritableFile>> create(const std::string& path) = 0;
  virtual base::Result<std::unique_ptr<ReadableFile>> open_read(const std::string& path) = 0;

  // In the folder `dir`, whose disk it takes room of.
  virtual base::Result<std::unique_ptr<TemporaryFile>> open_temporary(const std::string& dir) = 0;

  // Cuts a file to `size` bytes and syncs it. Requires size <= its size.
  virtual base::Status truncate(const std::string& path, std::uint64_t size) = 0;
  // Gives the whole blocks of a range back to the disk; how a file reads there from now on is not
  // known, but its size stays. Where the file system cannot do it, nothing happens. Requires that
  // the range lies within what was synced.
  virtual base::Status punch(const std::string& path, std::uint64_t offset,
                             std::uint64_t length) = 0;
  virtual base::Status rename(const std::string& from, const std::string& to) = 0;  // replaces `to`
  virtual base::Status remove(const std::string& path) = 0;     // a file; kNotFound if missing
  virtual base::Status make_dirs(const std::string& path) = 0;  // with parents, each synced
  virtual base::Status sync_dir(const std::string& path) = 0;

  virtual base::Result<bool> exists(const std::string& path) = 0;
  virtual base::Result<std::uint64_t> size(const std::string& path) = 0;
  virtual base::Result<FileStamp> stamp(const std::string& path) = 0;  // of a file
  // Names of the files and folders in `path`, sorted.
  virtual base::Result<std::vector<std::string>> list(const std::string& path) = 0;
  virtual base::Result<std::uint64_t> free_space(const std::string& path) = 0;  // bytes

  // Takes the lock file at `path`, creating it; kBusy if another holder lives.
  virtual base::Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
};

// The whole file.
base::Result<std::string> read_file(FileSystem& fs, const std::string& path);

// Replaces `path` by a file with `bytes`: written beside it, synced, renamed, folder synced. After
// a crash the old or the new file is there, whole.
base::Status write_file_atomically(FileSystem& fs, const std::string& path, std::string_view bytes);

// "a/b" of "a/b/c"; "." if there is no '/'.
std::string parent_of(const std::string& path);

}  // namespace meguri::env
