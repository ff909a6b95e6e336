// DocumentSource: the bytes of a document's record, still compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "archive/index_file.h"
#include "archive/record_renewal.h"
#include "archive/record_source.h"
#include "base/result.h"
#include "env/file_system.h"
#include "env/spool.h"
#include "scan/document_pointer.h"

namespace meguri::scan {

// The bytes of one record, from front to end. Thread-compatible.
class RecordBytes {
 public:
  virtual ~RecordBytes() = default;
  virtual std::uint64_t size() const = 0;
  // The next `length` of them appended to `out`. Requires that there are as many. kCorrupt: they
  // cannot be read.
  virtual base::Status read(std::size_t length, std::string& out) = 0;
};

// A gzip member or plain record whose length is known is read as it stands in its file, and nobody
// looks whether it is the right one; any other is put into a member of its own first. The files
// that were used last are kept open. Memory does not grow with the records. Thread-compatible.
class DocumentSource {
 public:
  static constexpr std::size_t kOpenFilesMax = 64;

  // What it is given outlives it. `archive` is the folder that paths are in; `scratch` is one for
  // temporary files.
  DocumentSource(env::FileSystem& fs, const std::map<std::uint32_t, archive::IndexFile>& files,
                 std::string archive, std::string scratch);
  DocumentSource(const DocumentSource&) = delete;
  DocumentSource& operator=(const DocumentSource&) = delete;
  ~DocumentSource();

  // What it gives may outlive it, but not the file system. kCorrupt: the document is lost; other
  // errors are of our disks.
  base::Result<std::shared_ptr<RecordBytes>> open(const DocumentPointer& pointer);

  // Says that this document will be asked for soon, after others of which it was said before. Only
  // a hint: nothing fails here. Records that are near each other are fetched together.
  void will_open(const DocumentPointer& pointer);

  std::string path_of(const DocumentPointer& pointer) const;  // for people

 private:
  // A file, and what of it was asked to be fetched. Shared with records that are being read.
  class SharedFile;

  base::Result<std::shared_ptr<SharedFile>> file_of(std::uint32_t number);
  base::Result<std::shared_ptr<RecordBytes>> renew(const DocumentPointer& pointer);

  env::FileSystem& fs_;
  archive::RecordSource records_;
  env::Spool spool_;  // never opened, which would clear the folder: its files have no names
  archive::RecordRenewal renewal_;
  const std::map<std::uint32_t, archive::IndexFile>& files_;
  std::vector<std::shared_ptr<SharedFile>> open_files_;  // that which was used last first
};

}  // namespace meguri::scan
