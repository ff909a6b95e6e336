// FileList: the files of a temporal index as lines of text beside it, for the day when the index
// cannot be read: only it knows which files of others belong to the archive, and which numbers were
// given. docs/formats/files.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "archive/index_file.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// In the archive's folder.
inline constexpr std::string_view kFileListFile = "files.txt";

// What a line tells of each file. Of its IndexFile only the number, path and source count, and of
// those that were imported the bytes and the print.
struct ListedFiles {
  std::map<std::uint32_t, IndexFile> files;
  std::uint32_t next_number = 1;  // behind all that were ever given

  // Lines that are none are left out: the list is a help, not a truth.
  static ListedFiles parse(std::string_view text);
  // Of the archive in this folder. None if it has no list.
  static base::Result<ListedFiles> load(env::FileSystem& files, const std::string& archive);
};

// Only grows: a line for each file that comes, changes or goes. One writer. Thread-compatible.
class FileList {
 public:
  // Made if there is none.
  static base::Result<std::unique_ptr<FileList>> open(env::FileSystem& files,
                                                      const std::string& archive);

  // Nothing is written of what the list says already.
  base::Status set(const IndexFile& file);
  base::Status remove(std::uint32_t number);
  // What was written is durable when it returns.
  base::Status sync();

 private:
  FileList(std::unique_ptr<env::WritableFile> file, ListedFiles listed)
      : file_(std::move(file)), listed_(std::move(listed)) {}
  base::Status append(const std::string& line);

  const std::unique_ptr<env::WritableFile> file_;
  ListedFiles listed_;
  bool is_dirty_ = false;
};

}  // namespace meguri::archive
