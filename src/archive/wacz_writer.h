// WaczWriter: a WACZ file, a WARC file with its index and its pages in one zip, as ReplayWeb.page
// opens it. docs/formats/wacz.md describes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archive/byte_sink.h"
#include "archive/line_sorter.h"
#include "archive/snapshot_warc.h"
#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"

namespace meguri::archive {

// A page that a reader is shown first.
struct WaczMainPage {
  std::string url;
  base::Instant date;
};

struct WaczOptions {
  std::string scratch;      // a folder for temporary files, on a disk with room
  std::string title;        // one line; empty: none
  std::string description;  // Markdown; empty: none
  std::string software;     // "meguri 0.1.0"
  base::Instant created;
  std::optional<WaczMainPage> main_page;  // nullopt: the first page that is added
  std::size_t sort_bytes_max = LineSorter::kBytesMax;
};

struct WaczCounts {
  std::uint64_t records = 0;  // that can be found in the index
  std::uint64_t pages = 0;    // that are listed
  std::uint64_t bytes = 0;    // of the WACZ
};

// The bytes of the WARC file go through as they come; lines of the index and of the list of pages
// wait in temporary files, so that memory does not grow with the records. Fits a SnapshotWarc:
//
//   warc.write([&](std::string_view bytes) { return wacz.append_warc(bytes); },
//              {.written = [&](const WrittenRecord& record) { return wacz.add(record); }});
//
// Thread-compatible. The file system outlives it. After an error nothing is of use any more, and
// without finish() what was written is no WACZ.
class WaczWriter {
 public:
  WaczWriter(env::FileSystem& fs, ByteSink out, WaczOptions options);
  WaczWriter(const WaczWriter&) = delete;
  WaczWriter& operator=(const WaczWriter&) = delete;
  ~WaczWriter();

  // The next bytes of archive/data.warc.gz.
  base::Status append_warc(std::string_view bytes);
  // A record of it, which may be appended before or after.
  base::Status add(const WrittenRecord& record);
  // Writes all the rest. To be called once.
  base::Result<WaczCounts> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace meguri::archive
