// FileIndexer: makes the entries of a file's records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "archive/index_file.h"
#include "archive/record_entry.h"
#include "archive/removals.h"
#include "archive/temporal_index.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// Thread-compatible: one for each thread. Borrows the removals, whose pages it leaves out.
class FileIndexer {
 public:
  // A batch is handed on when it has this many bytes of keys and values, or when this much of the
  // file was read.
  static constexpr std::size_t kBatchBytes = std::size_t{1} << 20U;
  static constexpr std::uint64_t kFileBytes = std::uint64_t{64} << 20U;

  // kFronts: no more than entries need, where members tell what they are; damage to what is passed
  // over is not counted.
  enum class Reading : std::uint8_t { kAll, kFronts };

  explicit FileIndexer(const Removals& removals, Reading reading = Reading::kAll,
                       std::size_t batch_bytes = kBatchBytes)
      : removals_(removals), reading_(reading), batch_bytes_(batch_bytes) {}

  // Takes a batch, which holds the file's row as it stands with it; it is cleared afterwards. An
  // error ends the reading.
  using Apply = std::function<base::Status(IndexBatch& batch)>;

  // Reads the records that begin from `file.indexed_to` on and before `end`, hands on their entries
  // in batches, and brings `file` up to date. What was handed on counts: begun again after a crash
  // with the row of the last batch that was durable, the index ends the same.
  // kInvalid: this is no WARC file. Any other error is the disk's, or that of `apply`.
  base::Status index(const env::ReadableFile& bytes, std::uint64_t end, IndexFile& file,
                     const Apply& apply);

  // For whoever wants to see the records too.
  struct Eyes {
    // In place of EntryReader::read(). May read all of the record.
    std::function<base::Result<std::optional<IndexEntry>>(WarcReader& reader)> read;
    // Once, behind the last record; its faults tell of what lies there.
    std::function<base::Status(const WarcRecord& rest)> end;
  };
  base::Status index(const env::ReadableFile& bytes, std::uint64_t end, IndexFile& file,
                     const Apply& apply, const Eyes& eyes);

 private:
  const Removals& removals_;
  const Reading reading_;
  const std::size_t batch_bytes_;
  EntryReader entries_;
};

}  // namespace meguri::archive
