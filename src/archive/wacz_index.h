// WaczIndex: the index of a WACZ, CDXJ lines in compressed blocks and a list of the blocks, as
// replay in a browser reads it by ranges. docs/formats/wacz.md describes both files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "archive/byte_sink.h"
#include "archive/gzip_writer.h"
#include "archive/index_entry.h"
#include "archive/line_sorter.h"
#include "archive/sha256.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// The key that warcio.js makes of a URL, and wabac.js looks for. Unlike a SURT
// (docs/formats/surt.md) it keeps a slash at the end of the path, escapes, and session ids, and
// sorts whole arguments.
std::string replay_key_of(std::string_view url);

struct WaczIndexOptions {
  std::string scratch;  // a folder for temporary files, on a disk with room
  std::size_t sort_bytes_max = LineSorter::kBytesMax;
  std::size_t block_lines = 300;      // as cdxj-indexer does
  std::string warc = "data.warc.gz";  // what the lines call the file of the records
  std::string cdx = "index.cdx.gz";   // and the list of blocks the file of the lines
};

// First all records are added, then the files are written, once. Thread-compatible. The file system
// outlives it.
class WaczIndex {
 public:
  static constexpr std::size_t kBlockBytesMax = std::size_t{1} << 20U;  // about; of lines

  WaczIndex(env::FileSystem& fs, WaczIndexOptions options);

  // A record of the WARC file. It gets a line under its SURT, which pywb and cdxj-indexer use, and
  // one more under its replay key where that is another. A fetch without an answer has nothing to
  // replay and gets none.
  base::Status add(const IndexEntry& entry);

  // Blocks of lines go to `cdx`, one gzip member each; the list of them to `idx`.
  base::Status write(const ByteSink& cdx, const ByteSink& idx);

  std::uint64_t records() const { return records_; }  // that have a line
  std::uint64_t lines() const { return sorter_.size(); }

 private:
  base::Status end_block(const ByteSink& cdx, const ByteSink& idx);

  const WaczIndexOptions options_;
  LineSorter sorter_;
  GzipWriter gzip_;
  Sha256 sha256_;
  std::uint64_t records_ = 0;
  std::string block_;  // lines of the block that is being made
  std::size_t block_lines_ = 0;
  std::uint64_t cdx_bytes_ = 0;
};

}  // namespace meguri::archive
