// RecordSource: reads records of an archive by their places, which come in order.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "archive/index_entry.h"
#include "archive/index_file.h"
#include "archive/read_ahead.h"
#include "archive/warc_reader.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// A file up to a place that may be set. Whatever fails is kCorrupt, so that it can be told from
// what fails where something is written. Thread-compatible while the end is set.
class SourceFile final : public env::ReadableFile {
 public:
  static constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

  explicit SourceFile(std::unique_ptr<env::ReadableFile> file) : file_(std::move(file)) {}

  void set_end(std::uint64_t end) { end_ = end; }
  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override;
  void will_read(std::uint64_t offset, std::size_t length) const override;
  base::Result<std::uint64_t> size() const override;

 private:
  const std::unique_ptr<env::ReadableFile> file_;
  std::uint64_t end_ = kNoEnd;
};

// Each file is opened once, and read from its front on, where the places come sorted; others are
// found too. All errors are kCorrupt: the record is lost, others may be there. Thread-compatible.
class RecordSource {
 public:
  // What it is given outlives it. `archive` is the folder that paths are in.
  RecordSource(env::FileSystem& fs, const std::map<std::uint32_t, IndexFile>& files,
               std::string archive)
      : fs_(fs), files_(files), archive_(std::move(archive)) {}

  // The file, which ends where the record does, if that is known. Lives until the next call for
  // another file.
  base::Result<const SourceFile*> open(const RecordPlace& place);

  // A reader that stands at the record, of which nothing was read yet. Lives until the next call.
  base::Result<WarcReader*> find(const RecordPlace& place);

  // Tells the system of a record that will be read soon.
  void will_read(const RecordPlace& place);

  std::string path_of(std::uint32_t file) const;  // for people too

 private:
  base::Status begin(const RecordPlace& place);

  env::FileSystem& fs_;
  const std::map<std::uint32_t, IndexFile>& files_;
  const std::string archive_;
  std::uint32_t number_ = 0;  // of file_
  std::unique_ptr<SourceFile> file_;
  MemberMemory memory_;  // of one reader after the other
  std::optional<WarcReader> reader_;
  RecordPlace at_;                             // of the record that it stands at
  std::optional<std::uint32_t> ahead_number_;  // of ahead_
  std::unique_ptr<env::ReadableFile> ahead_;   // null: it cannot be opened
  ReadAhead hints_;                            // of it
};

}  // namespace meguri::archive
