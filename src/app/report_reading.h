// Reading an archive for its CrawlReport.
#pragma once

#include <functional>
#include <string>

#include "app/crawl_report.h"
#include "base/result.h"
#include "crawl/options.h"
#include "env/file_system.h"

namespace meguri::app {

struct ReportSource {
  std::string archive;
  const crawl::CrawlOptions& options;          // what the crawl is told, as far as that is known
  std::function<void(std::string_view)> tell;  // how far it is
};

// All of it is of one checkpoint, so that it may be read while a crawl goes on: that keeps the
// files of its last checkpoint. Where it goes on faster than pages can be read, the report is
// without them, and says so. kNotFound: no crawl has run there.
base::Result<CrawlReport> read_report(env::FileSystem& files, const ReportSource& source);

}  // namespace meguri::app
