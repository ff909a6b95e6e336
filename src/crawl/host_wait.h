// HostWait: how long a host rests between visits, by what it asks for and what the crawl is told.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "crawl/host_table.h"
#include "crawl/options.h"

namespace meguri::crawl {

// As in Visit.
struct HostWait {
  std::uint32_t ms = 0;
  bool is_whole = false;
  bool ignores_duration = false;
};

// By what robots.txt asks for, what the configuration says of this host, and what large hosts bear.
HostWait wait_of(const HostRecord& host, const CrawlOptions& options);

// What lies between the starts of two visits, as long as answers take what they took of late.
base::Duration access_of(const HostRecord& host, const CrawlOptions& options);

}  // namespace meguri::crawl
