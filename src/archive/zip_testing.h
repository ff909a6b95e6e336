// For tests: the entries of a zip file, as libarchive reads them from its directory.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace meguri::archive {

struct UnzippedEntry {
  std::string name;
  std::string bytes;
};

// In the order of the file; its sums are checked.
inline std::vector<UnzippedEntry> unzip(std::string_view file) {
  struct ::archive* const zip = ::archive_read_new();
  CHECK(::archive_read_support_format_zip_seekable(zip) == ARCHIVE_OK);
  CHECK(::archive_read_open_memory(zip, file.data(), file.size()) == ARCHIVE_OK);
  std::vector<UnzippedEntry> entries;
  struct ::archive_entry* entry = nullptr;
  int code = ARCHIVE_OK;
  while ((code = ::archive_read_next_header(zip, &entry)) == ARCHIVE_OK) {
    UnzippedEntry one{.name = ::archive_entry_pathname(entry), .bytes = {}};
    std::array<char, 65536> piece;
    la_ssize_t size = 0;
    while ((size = ::archive_read_data(zip, piece.data(), piece.size())) > 0) {
      one.bytes.append(piece.data(), static_cast<std::size_t>(size));
    }
    CHECK(size == 0, "{}", ::archive_error_string(zip));
    entries.push_back(std::move(one));
  }
  CHECK(code == ARCHIVE_EOF, "{}", ::archive_error_string(zip));
  ::archive_read_free(zip);
  return entries;
}

}  // namespace meguri::archive
