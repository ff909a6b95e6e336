// What is said when a crawl ends: for people, and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/crawl_snapshot.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

struct CrawlSummary {
  CrawlSnapshot end;
  std::string dir;  // of the archive
  std::uint64_t warc_files = 0;
  std::uint64_t warc_bytes = 0;
  bool is_finished = false;  // nothing is left to visit

  // Looks at the files of the archive.
  static base::Result<CrawlSummary> of(CrawlSnapshot end, env::FileSystem& files,
                                       const std::string& dir, bool is_finished);

  std::string to_string() const;  // several lines, each with its end
  nlohmann::json to_json() const;
};

}  // namespace meguri::app
