// CrawlLogFile: the files of a crawl log, appended to, turned over by size, and cut back after a
// crash to what was acknowledged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crawl/options.h"
#include "env/clock.h"
#include "env/file_system.h"

namespace meguri::crawl {

// A place in the log. In a checkpoint it says: the file with this number counts up to `offset`, all
// with smaller ones count whole, none after it counts.
struct CrawlLogMark {
  std::uint64_t serial = 1;
  std::uint64_t offset = 0;

  std::string encode() const;
  static std::optional<CrawlLogMark> decode(std::string_view text);

  friend bool operator==(const CrawlLogMark&, const CrawlLogMark&) = default;
};

// The file that grows, in the folder of a log.
std::string growing_log(const std::string& dir);
// The number of a file that is closed, by its name; nullopt: it is called otherwise.
std::optional<std::uint64_t> closed_log_serial(std::string_view name);

// The file that grows is always "crawl.jsonl", so that `tail -F` follows it. One that is full gets
// a name of its own, "crawl-YYYYMMDDhhmmss-NNNNN.jsonl", by the time when it was closed and its
// number. Closed files are never touched again, and nobody minds when they are taken away.
// Thread-compatible. The file system and the clock outlive it.
class CrawlLogFile {
 public:
  // Cuts the files to `mark` and goes on there. Where somebody took away what the mark counts, it
  // says so in the program's log and goes on with what is left: the archive is not touched by that.
  // Whether all of this is done or a part of it when the power goes, doing it again ends the same.
  static base::Result<std::unique_ptr<CrawlLogFile>> open(env::FileSystem& fs,
                                                          const env::Clock& clock,
                                                          CrawlLogOptions options,
                                                          const CrawlLogMark& mark);

  // The end of what is there, of whatever crawl. The folder must exist.
  static base::Result<CrawlLogMark> end_of(env::FileSystem& fs, const std::string& dir);

  base::Status append(std::string_view lines);

  // All that was appended is durable when it returns; a file that is full is closed. After an error
  // of append() or sync() the process must stop and recover from its last checkpoint.
  base::Result<CrawlLogMark> sync();

 private:
  CrawlLogFile(env::FileSystem& fs, const env::Clock& clock, CrawlLogOptions options,
               const CrawlLogMark& mark);

  base::Status cut();
  base::Status bring_back();
  base::Status open_file();
  base::Status close_file();

  env::FileSystem& fs_;
  const env::Clock& clock_;
  const CrawlLogOptions options_;
  CrawlLogMark end_;
  std::unique_ptr<env::WritableFile> file_;  // null: the next append opens it
  bool is_dirty_ = false;
  bool name_unsynced_ = false;
};

}  // namespace meguri::crawl
