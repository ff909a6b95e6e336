// The lines of a snapshot: URLs, and CDXJ as other tools read it. docs/formats/cdxj.md describes
// them.
#pragma once

#include <cstddef>
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

// Brings the CDXJ lines of items, which come in the order of their keys, into the order of their
// bytes, in which replay tools search them: pages that share a SURT are told apart by their URLs
// there, and the newest comes first. Holds the lines of one SURT. The lines of ranges that are cut
// between SURTs are sorted one behind the other.
// Thread-compatible. Borrows the names.
class CdxjLines {
 public:
  CdxjLines(const CdxjFileNames& files, bool is_raw) : files_(files), is_raw_(is_raw) {}

  // Appends what comes before the item.
  void add(const SnapshotItem& item, std::string& out);
  // The items of a range are over: appends what is left.
  void finish(std::string& out);

 private:
  const CdxjFileNames& files_;
  const bool is_raw_;
  std::string surt_;                 // of the lines that are held
  std::string held_;                 // in the order they came
  std::vector<std::size_t> starts_;  // of the lines in there
  std::vector<std::string_view> sorted_;
};

}  // namespace meguri::archive
