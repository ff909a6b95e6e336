// DocumentList: which documents a run is about, sorted so that files are read from front to end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "archive/external_sort.h"
#include "archive/snapshot_item.h"
#include "base/result.h"
#include "env/file_system.h"
#include "scan/document_pointer.h"

namespace meguri::scan {

// Languages are kept up to here: "zh-Hant" fits.
inline constexpr std::size_t kListLanguageBytesMax = 8;

// First the items of a snapshot are taken, by any threads; then they are written as a file, which
// can be read from its front any number of times, also by a later run. Every item is a document,
// also where two have one content; what is gone or failed is its own record. Memory does not grow
// with them. Equal items make equal files, whichever threads they came by. docs/formats/scan-run.md
// describes the file.
class DocumentListMaker {
 public:
  // `scratch` is a folder on a disk with room for the list.
  DocumentListMaker(env::FileSystem& fs, std::string scratch,
                    std::size_t sort_bytes_max = archive::ExternalSort<int>::kBytesMax);
  DocumentListMaker(const DocumentListMaker&) = delete;
  DocumentListMaker& operator=(const DocumentListMaker&) = delete;
  ~DocumentListMaker();

  // What one thread adds by. Thread-compatible; borrows the maker.
  class Intake;

  // Once, after all intakes were flushed. Returns how many documents there are. The file is synced,
  // and its name. kExists: there is such a file.
  base::Result<std::uint64_t> write(const std::string& path);

 private:
  struct Lists;
  env::FileSystem& fs_;
  const std::unique_ptr<Lists> lists_;
};

class DocumentListMaker::Intake {
 public:
  explicit Intake(DocumentListMaker& maker);
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;
  ~Intake();

  base::Status add(const archive::SnapshotItem& item);
  // All that was added counts. To be called before write().
  base::Status flush();

 private:
  struct Held;
  DocumentListMaker& maker_;
  const std::unique_ptr<Held> held_;
};

// Reads a list from its front. Thread-compatible.
class DocumentListReader {
 public:
  static base::Result<std::unique_ptr<DocumentListReader>> open(env::FileSystem& fs,
                                                                const std::string& path);
  DocumentListReader(const DocumentListReader&) = delete;
  DocumentListReader& operator=(const DocumentListReader&) = delete;
  ~DocumentListReader();

  std::uint64_t size() const;  // documents in all

  // Numbered from 0. Nullopt: the end. kCorrupt: the list is damaged; there is no going on.
  base::Result<std::optional<DocumentPointer>> next();

 private:
  struct State;
  explicit DocumentListReader(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace meguri::scan
