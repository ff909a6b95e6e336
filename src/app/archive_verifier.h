// ArchiveVerifier: an archive against its index, on all cores.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/damage_report.h"
#include "archive/file_verifier.h"
#include "archive/index_file.h"
#include "archive/temporal_index.h"
#include "archive/warc_file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// Reads what was durable when it was opened, whether a crawl runs on the archive or not. An index
// that cannot be read is a damage among others; the files are read without it then. Memory: some
// MB for each thread, 16 bytes a file, and the entries of files that differ from the index.
// Thread-compatible. Borrows the file system.
class ArchiveVerifier {
 public:
  ArchiveVerifier(env::FileSystem& files, std::string archive)
      : files_(files), archive_(std::move(archive)) {}

  // kNotFound: there is no archive.
  base::Status open();
  // Errors are of the machine; kStopped: a signal came.
  base::Status run(std::size_t workers, bool is_quiet);

  const DamageReport& report() const { return report_; }
  std::size_t files() const { return rows_.size(); }
  std::uint64_t records() const { return records_; }
  std::uint64_t bytes() const { return bytes_done_; }
  std::uint64_t entries() const { return entries_; }

 private:
  using Stopped = std::atomic<bool>;

  base::Status open_without_index(const base::Error& error);
  base::Status look_for_strangers();
  base::Status verify_index(const Stopped& is_stopped);
  base::Status walk_entries(const Stopped& is_stopped);
  void check_entry(std::string_view key, std::string_view value);
  base::Status verify_file(std::size_t i, const Stopped& is_stopped);
  base::Status read_file(const archive::IndexFile& row, const Stopped& is_stopped);
  void check_end(const archive::IndexFile& row, std::uint64_t size);
  base::Status compare();
  base::Status compare_some(std::vector<const archive::IndexFile*>& differing);
  void tell_index(std::string what);
  std::string progress() const;

  env::FileSystem& files_;
  const std::string archive_;
  std::unique_ptr<archive::TemporalIndex> index_;  // null: it cannot be read
  std::optional<archive::WarcPosition> end_;       // of what a crawl has acknowledged
  std::vector<archive::IndexFile> rows_;
  std::uint64_t bytes_ = 0;  // of all files
  DamageReport report_;
  std::atomic<std::uint64_t> records_ = 0;
  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::atomic<std::uint64_t> entries_ = 0;
  std::atomic<std::size_t> files_done_ = 0;
  bool is_walked_ = false;                              // all entries were read
  std::map<std::uint32_t, archive::EntrySum> indexed_;  // by file
  base::Mutex mutex_;
  std::map<std::uint32_t, archive::EntrySum> found_ GUARDED_BY(mutex_);
};

}  // namespace meguri::app
