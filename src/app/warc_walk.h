// WarcWalk: all records of some files, one after the other, with how far it is on stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "archive/record_examiner.h"
#include "archive/warc_reader.h"
#include "base/progress.h"
#include "base/result.h"
#include "base/time.h"
#include "env/clock.h"
#include "env/file_system.h"

namespace meguri::app {

// Where a record begins: "123", or "123+2" for the third of the records that share the gzip member
// or zstd frame at 123.
struct WarcPlace {
  std::uint64_t offset = 0;
  std::uint64_t index = 0;

  std::string to_string() const;
  static std::optional<WarcPlace> parse(std::string_view text);

  friend bool operator==(const WarcPlace&, const WarcPlace&) = default;
};

// Counts the records that share a place.
class PlaceCounter {
 public:
  WarcPlace next(const archive::WarcRecord& record);

 private:
  std::optional<WarcPlace> last_;
};

struct WalkedRecord {
  WarcPlace place;
  const archive::WarcRecord& record;
  const archive::Examination& found;
};

// Of one file.
struct WalkEnd {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  archive::WarcFaults faults;       // of what lies behind the last record
  std::uint64_t skipped_bytes = 0;  // there
};

// A file to read. A folder is an error that says so.
base::Result<std::unique_ptr<env::ReadableFile>> open_warc(env::FileSystem& files,
                                                           const std::string& path);

nlohmann::ordered_json json_of(const WalkedRecord& walked, const std::string& path);

// Reads every byte of every record. Says how far it is only where that takes longer than two
// seconds. Thread-compatible.
class WarcWalk {
 public:
  // `shows_progress` is false where the result itself runs over the same terminal.
  WarcWalk(env::FileSystem& files, bool shows_progress);

  // Told of each record; false ends the walk.
  using Take = std::function<bool(const WalkedRecord& walked)>;
  // An error of kCorrupt: the file is no WARC file. Others are the disk's.
  base::Result<WalkEnd> walk(const std::string& path, const Take& take);

  // Takes the live line away, before something is printed.
  void clear();

 private:
  void show(const std::string& path, const archive::WarcRecord& record, std::uint64_t bytes);

  env::FileSystem& files_;
  const bool shows_progress_;
  env::RealClock clock_;
  const base::Ticks started_;
  base::Progress progress_;
};

}  // namespace meguri::app
