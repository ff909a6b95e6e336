// Spool: where bytes of unknown length go while they come, such as the bodies of answers: into
// memory as long as they are few, and else to disk.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/file_system.h"
#include "env/spooled_bytes.h"

namespace meguri::env {

struct SpoolLimits {
  std::uint64_t value_memory_max = std::uint64_t{1} << 20U;  // a larger value is on disk
  // When all values in memory come to more than this, new ones go to disk while they are smaller,
  // but for those of kSmallBytes, of which a file would take as much.
  std::uint64_t memory_max = std::uint64_t{8} << 20U;
  // Of all values, wherever they are. Only told by has_room(): whoever can wait should.
  std::uint64_t bytes_max = std::uint64_t{1} << 30U;
  // Nothing is written while the disk has less room; 0: not looked at.
  std::uint64_t disk_free_min = 0;
};

// Thread-safe. Borrows the file system, which outlives it and its values; values may outlive it.
class Spool {
 public:
  static constexpr std::uint64_t kSmallBytes = 4096;
  // After so many bytes of a value the room on the disk is looked at again.
  static constexpr std::uint64_t kLookBytes = std::uint64_t{16} << 20U;

  // Its files are in `dir`, which is nobody else's.
  Spool(FileSystem& fs, std::string dir, const SpoolLimits& limits)
      : fs_(&fs), dir_(std::move(dir)), limits_(limits) {}
  // Keeps everything in memory.
  explicit Spool(std::uint64_t bytes_max)
      : limits_{.value_memory_max = kNoLimit, .memory_max = kNoLimit, .bytes_max = bytes_max} {}

  // Makes the folder, and removes what an earlier process may have left there.
  base::Status open();

  bool has_room(std::uint64_t bytes) const {
    return memory_bytes() + disk_bytes() + bytes <= limits_.bytes_max;
  }
  std::uint64_t memory_bytes() const {
    return account_->memory_bytes.load(std::memory_order_relaxed);
  }
  std::uint64_t disk_bytes() const { return account_->disk_bytes.load(std::memory_order_relaxed); }

 private:
  friend class SpoolWriter;

  static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

  bool fits_memory(std::uint64_t value_bytes, std::uint64_t more) const;
  base::Result<std::unique_ptr<TemporaryFile>> open_file() const;
  base::Status check_disk() const;

  FileSystem* const fs_ = nullptr;
  const std::string dir_;
  const SpoolLimits limits_;
  // Shared with the values, which may be the last to go.
  const std::shared_ptr<SpoolAccount> account_ = std::make_shared<SpoolAccount>();
};

// Takes the bytes of one value after the other. Thread-compatible; borrows the spool.
class SpoolWriter {
 public:
  // Null: all stays in memory, and is of no account.
  explicit SpoolWriter(Spool* spool) : spool_(spool) {}
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;
  ~SpoolWriter() { clear(); }

  // Somebody says how many bytes come. Only a hint; what a stranger says is taken up to a limit.
  void expect(std::uint64_t bytes);

  // After an error the value is lost: the writer is as newly made.
  base::Status append(std::string_view bytes);

  std::uint64_t size() const { return size_; }  // of what was appended

  SpooledBytes finish();  // the writer is then as newly made
  void clear();

  // A value of bytes that are there already and stay in memory, but are counted.
  SpooledBytes keep(std::string bytes);

 private:
  base::Status move_to_disk();
  base::Status append_to_disk(std::string_view bytes);
  void account(std::int64_t memory, std::int64_t disk) const;

  Spool* spool_;
  std::string memory_;
  std::unique_ptr<TemporaryFile> file_;  // null: all is in memory_
  std::uint64_t size_ = 0;
  std::uint64_t looked_at_ = 0;  // the size when the disk's room was last looked at
  std::uint64_t expected_ = 0;
};

}  // namespace meguri::env
