// FileVerifier: whether a file is what the index says of it, record by record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "archive/file_indexer.h"
#include "archive/index_file.h"
#include "archive/record_examiner.h"
#include "archive/removals.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// Entries as numbers that do not depend on their order: two sets of them differ, but for a chance
// of one in 2^64.
struct EntrySum {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;

  void add(std::string_view key, std::string_view value);
  friend bool operator==(const EntrySum&, const EntrySum&) = default;
};

// Something that is not as it should be.
struct Damage {
  std::optional<std::uint64_t> offset = std::nullopt;  // nullopt: of the whole
  std::string what;                                    // a sentence without its full stop
};

// Thread-compatible: one for each thread. Borrows the removals.
class FileVerifier {
 public:
  // Told of each damage as it is found, and after each record of how far the file is read. An error
  // ends the reading.
  using Tell = std::function<base::Status(const Damage& damage)>;
  using Progress = std::function<base::Status(std::uint64_t offset)>;

  struct Finding {
    std::uint64_t records = 0;
    EntrySum entries;  // that the file's records make
  };

  FileVerifier(const Removals& removals, Tell tell, Progress progress)
      : indexer_(removals), tell_(std::move(tell)), progress_(std::move(progress)) {}

  // Reads the file up to `file.indexed_to`, once: all records, their digests and their entries.
  // An error is the disk's, or that of a function that was told.
  base::Result<Finding> verify(const env::ReadableFile& bytes, const IndexFile& file);

 private:
  base::Status check_bytes(const env::ReadableFile& bytes, const IndexFile& file);
  base::Status check_member(const env::ReadableFile& bytes, const WarcRecord& record);
  base::Status check_digest(const WarcRecord& record, const DigestFinding& found,
                            std::string_view name);
  base::Status check_faults(const WarcRecord& record);
  base::Result<std::optional<IndexEntry>> examine_record(WarcReader& reader);

  FileIndexer indexer_;
  const Tell tell_;
  const Progress progress_;
  std::uint64_t records_ = 0;
};

}  // namespace meguri::archive
