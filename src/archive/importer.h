// Importer: brings WARC files of anybody's into the temporal index of an archive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "archive/file_indexer.h"
#include "archive/index_file.h"
#include "archive/temporal_index.h"
#include "base/mutex.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// Where the copies of imported files are in an archive's folder. Not among the crawl's own, which
// it cuts back after a crash by their names.
inline constexpr std::string_view kImportedFolder = "warc/imported";

// Tells files apart without reading them: of their size, first and last bytes.
base::Result<std::uint64_t> file_print(const env::ReadableFile& file);

enum class ImportOutcome : std::uint8_t {
  kAdded,
  kKnown,     // it was there already
  kMoved,     // it was there already, and is somewhere else now
  kReplaced,  // another file of this name was there
};

struct Imported {
  ImportOutcome outcome = ImportOutcome::kAdded;
  IndexFile file;
};

// A file counts when all of it is indexed. Stopped or killed anywhere, importing the same files
// again goes on where it was, and importing twice changes nothing.
// Thread-safe: each thread imports one file after the other. Borrows the index and the file system.
class Importer {
 public:
  // `archive` is the folder of the archive. The index is touched by nobody else meanwhile.
  Importer(TemporalIndex& index, env::FileSystem& files, std::string archive)
      : index_(index), files_(files), archive_(std::move(archive)) {}

  // Told how far the file is, in bytes and entries since the last call. An error ends the import.
  using Progress = std::function<base::Status(std::uint64_t bytes, std::uint64_t entries)>;

  // `path` is absolute. kInvalid: it is no WARC file.
  base::Result<Imported> import(const std::string& path, bool copies, const Progress& progress);
  // Takes a file out again, and removes its copy. kNotFound: it was not imported.
  base::Status remove(const std::string& path);

 private:
  struct Plan {
    ImportOutcome outcome = ImportOutcome::kAdded;
    IndexFile row;
  };
  base::Result<Plan> plan(const std::string& path, std::uint64_t bytes, std::uint64_t print,
                          bool copies);
  const IndexFile* find(const std::string& path) const REQUIRES(mutex_);
  const IndexFile* find_print(std::uint64_t bytes, std::uint64_t print) const REQUIRES(mutex_);
  base::Result<std::string> copy_path(const std::string& path) const REQUIRES(mutex_);
  base::Status copy(const env::ReadableFile& from, const std::string& to, std::uint64_t bytes);
  base::Status write(const IndexFile& file);
  std::string place_of(const IndexFile& file) const;

  base::Mutex mutex_;
  TemporalIndex& index_;  // under the mutex
  env::FileSystem& files_;
  const std::string archive_;
};

}  // namespace meguri::archive
