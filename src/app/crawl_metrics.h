// The metrics of a crawl as text that Prometheus reads (exposition format 0.0.4).
#pragma once

#include <string>

#include "app/crawl_snapshot.h"

namespace meguri::app {

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// Pure. Counters count from the start of the process; what a crawl knows from earlier lives too,
// such as its pages, are gauges.
std::string metrics_text(const CrawlSnapshot& now);

}  // namespace meguri::app
