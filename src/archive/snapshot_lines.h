// The lines of a snapshot: URLs, and CDXJ as other tools read it. docs/formats/cdxj.md describes
// them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "archive/index_file.h"
#include "archive/snapshot_item.h"

namespace meguri::archive {

// How the files of an archive are called in CDXJ lines: by their own names, as replay tools look
// them up, but for files that share a name, which go by their paths. Thread-safe.
class CdxjFileNames {
 public:
  explicit CdxjFileNames(const std::map<std::uint32_t, IndexFile>& files);

  // As it stands between the quotes of a JSON string. Empty: there is no such file.
  std::string_view json_of(std::uint32_t number) const {
    return number < names_.size() ? std::string_view(names_[number]) : std::string_view();
  }

 private:
  std::vector<std::string> names_;  // by number
};

// Appends the exact URL and a line end.
void append_url_line(const SnapshotItem& item, std::string& out);

// Appends one line: the visit's SURT and second, and where its content is: of a visit that has
// none, where its own record is.
void append_cdxj_line(const SnapshotItem& item, const CdxjFileNames& files, std::string& out);

// Appends the line that cdxj-indexer makes of the visit's own record.
void append_raw_cdxj_line(const SnapshotItem& item, const CdxjFileNames& files, std::string& out);

}  // namespace meguri::archive
