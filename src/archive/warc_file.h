// WarcWriter: the WARC files of one writer, appended to, turned over by size, and cut back after a
// crash to what was acknowledged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/warc_name.h"
#include "archive/warc_record.h"
#include "base/result.h"
#include "env/clock.h"
#include "env/file_system.h"
#include "env/random.h"
#include "env/spooled_bytes.h"

namespace meguri::archive {

// A place in the files of one writer. As a mark in a checkpoint it says: this file counts up to
// `offset`, all before it count whole, none after it counts. No file: nothing counts.
struct WarcPosition {
  std::string file;  // its name in the folder
  std::uint64_t offset = 0;

  std::string encode() const;
  static std::optional<WarcPosition> decode(std::string_view bytes);

  friend bool operator==(const WarcPosition&, const WarcPosition&) = default;
};

// Which files belong to a writer: those of its prefix and instance. Others in the folder are never
// touched.
struct WarcSeries {
  std::string dir;
  std::string prefix = "meguri";
  std::string instance = "0";  // no '-' in it
};

struct WarcFileOptions {
  WarcSeries series;
  // A file that has grown to this is the last but one. One visit may exceed it.
  std::uint64_t file_bytes_max = std::uint64_t{1} << 30U;
  RecordOptions records;  // how warcinfo records are made
  WarcinfoFields info;
};

// The names of the series in their order.
base::Result<std::vector<WarcName>> list_files(env::FileSystem& fs, const WarcSeries& series);

// Where the bytes behind a mark begin: in its own file, and in each file after it. To be read, and
// replayed as reports, before the files are cut.
base::Result<std::vector<WarcPosition>> tail_of(env::FileSystem& fs, const WarcSeries& series,
                                                const WarcPosition& mark);

struct WarcCut {
  std::uint64_t bytes_cut = 0;  // removed files included
  std::uint64_t files_removed = 0;
};
// Cuts the series to `mark`. Whether all of this is done or a part of it when the power goes, doing
// it again ends the same. kCorrupt: the marked file is missing or shorter than the mark, so that
// something acknowledged is lost.
base::Result<WarcCut> cut_to(env::FileSystem& fs, const WarcSeries& series,
                             const WarcPosition& mark);

// Files have their last name from the beginning, without ".open" while they grow: the index and
// checkpoints name them, and an archive is read up to the last epoch while it grows. After a cut
// every file is sound, so the suffix would tell nothing.
// Thread-compatible. The file system and the clock outlive it.
class WarcWriter {
 public:
  // With a mark, cuts to it and goes on there. Without, begins a new file and touches no other.
  static base::Result<std::unique_ptr<WarcWriter>> open(env::FileSystem& fs,
                                                        const env::Clock& clock, env::Random random,
                                                        WarcFileOptions options,
                                                        const std::optional<WarcPosition>& mark);

  // Appends the records of one visit and says where they begin. They stay in one file. After an
  // error nothing of them is there, and the writer can be used again, unless it says it cannot.
  base::Result<WarcPosition> append(const env::SpooledBytes& records);

  // All that was appended is durable when it returns. After an error nobody knows what is, and all
  // further calls fail: the process must stop and recover from its last checkpoint.
  base::Status sync();

  // The end of what was appended; a mark once sync() has returned.
  const WarcPosition& position() const { return position_; }

 private:
  WarcWriter(env::FileSystem& fs, const env::Clock& clock, env::Random random,
             WarcFileOptions options);

  base::Status resume(const std::optional<WarcPosition>& mark);
  base::Status start_file();
  base::Result<WarcName> create_file();
  base::Status write(const env::SpooledBytes& bytes);
  base::Status take_back();
  base::Status check_usable() const;
  std::string path_of(std::string_view name) const;

  env::FileSystem& fs_;
  const env::Clock& clock_;
  env::Random random_;
  const WarcFileOptions options_;
  RecordMaker maker_;
  std::optional<WarcName> last_;             // the newest name that was given
  std::unique_ptr<env::WritableFile> file_;  // null: the next append starts one
  WarcPosition position_;
  bool is_dirty_ = false;        // bytes were appended since the last sync
  bool names_unsynced_ = false;  // a file was created since
  bool is_broken_ = false;
};

}  // namespace meguri::archive
