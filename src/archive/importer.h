// Importer: brings WARC files of anybody's into the temporal index of an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "archive/file_indexer.h"
#include "archive/index_file.h"
#include "archive/index_removal.h"
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
  kMoved,     // it was there already, and the index finds it somewhere else now
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
  // `archive` is the folder of the archive. The index is touched by nobody else meanwhile. By
  // fronts damage goes unseen where a member's lengths lead over it, until somebody reads that
  // content.
  Importer(TemporalIndex& index, env::FileSystem& files, std::string archive,
           FileIndexer::Reading reading = FileIndexer::Reading::kFronts,
           std::size_t batch_bytes = FileIndexer::kBatchBytes);

  // Told how far the file is, in bytes and entries since the last call. An error ends the import.
  using Progress = std::function<base::Status(std::uint64_t bytes, std::uint64_t entries)>;

  // `path` is absolute. With `copies` a file that was left where it is is copied too. kInvalid: it
  // is no WARC file. kExists: it stands in this archive, and is not as the archive has it.
  base::Result<Imported> import(const std::string& path, bool copies, const Progress& progress);
  // Takes files out again, all of them or none, and removes their copies. A copy is named by its
  // own path, or by that of a file that is the same. kNotFound: one was not imported.
  base::Status remove(const std::vector<std::string>& paths, const Look& look = {});

 private:
  // Bytes of a file, and what tells it apart.
  using Print = std::pair<std::uint64_t, std::uint64_t>;
  struct Plan {
    ImportOutcome outcome = ImportOutcome::kAdded;
    IndexFile row;
    bool is_moved = false;  // the index does not know yet that it is where the row says
    bool is_busy = false;   // another thread imports it
  };
  base::Result<Plan> plan(const std::string& path, const Print& print, bool copies);
  base::Result<Plan> plan_known(IndexFile row, const std::string& path, bool copies)
      REQUIRES(mutex_);
  base::Result<Plan> plan_new(const std::string& path, const Print& print, bool copies)
      REQUIRES(mutex_);
  base::Result<Imported> carry_out(const Plan& plan, const env::ReadableFile& source,
                                   const Progress& progress);
  base::Status index_file(IndexFile& row, const Progress& progress);
  base::Result<IndexFile> imported_from(const std::string& path) const REQUIRES(mutex_);
  const IndexFile* find(const std::string& path) const REQUIRES(mutex_);
  const IndexFile* find_print(const Print& print) const REQUIRES(mutex_);
  base::Result<std::string> copy_path(const std::string& path, const Print& print) REQUIRES(mutex_);
  base::Status copy(const env::ReadableFile& from, const std::string& to, const Progress& progress);
  base::Status copy_bytes(const env::ReadableFile& from, const std::string& to,
                          const Progress& progress);
  base::Status write(const IndexFile& file);
  std::string place_of(const IndexFile& file) const;

  mutable base::Mutex mutex_;
  TemporalIndex& index_;  // under the mutex
  env::FileSystem& files_;
  const std::string archive_;
  const FileIndexer::Reading reading_;
  const std::size_t batch_bytes_;
  std::map<Print, std::uint32_t> numbers_ GUARDED_BY(mutex_);  // of files, some of which are gone
  std::set<std::uint32_t> busy_ GUARDED_BY(mutex_);            // files that a thread imports
  std::set<std::string> copy_paths_ GUARDED_BY(mutex_);        // that were given out
};

}  // namespace meguri::archive
