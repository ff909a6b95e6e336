// Reading a crawl log: its lines as values, and all of a log in one pass. docs/formats/crawl-log.md
// describes it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "crawl/crawl_log_file.h"
#include "crawl/messages.h"
#include "env/file_system.h"

namespace meguri::crawl {

// What of a line is counted by those who count visits.
struct LoggedVisit {
  enum class Kind : std::uint8_t { kPage, kRobots, kRefusal };
  base::Instant time;
  Kind kind = Kind::kPage;
  int status = 0;                                      // 0: not answered
  std::optional<VisitOutcome> outcome = std::nullopt;  // of pages
  std::uint64_t bytes = 0;
  base::Duration duration = {};

  friend bool operator==(const LoggedVisit&, const LoggedVisit&) = default;
};

// A line as append_line() wrote it, without its end. Nullopt: it is none.
std::optional<LoggedVisit> parse_log_line(std::string_view line);

struct LogReading {
  std::uint64_t lines = 0;
  std::uint64_t strange = 0;        // of these, those that are none of ours
  std::uint64_t files_missing = 0;  // that were closed and are not there any more
  std::uint64_t bytes_missing = 0;  // of the last file
};

// Calls `use` for every line up to the mark, in the order in which they were written. A crawl may
// go on writing meanwhile. Keeps a piece of one file in memory.
base::Result<LogReading> read_crawl_log(env::FileSystem& files, const std::string& dir,
                                        const CrawlLogMark& mark,
                                        const std::function<void(const LoggedVisit& visit)>& use);

}  // namespace meguri::crawl
