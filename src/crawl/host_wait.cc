#include "crawl/host_wait.h"

#include <algorithm>

namespace meguri::crawl {

HostWait wait_of(const HostRecord& host, const CrawlOptions& options) {
  HostWait wait;
  wait.ms = host.policy->obeys_robots ? host.crawl_delay_ms : 0;
  if (const auto own = host.policy->wait_ms) {
    wait.ms = std::max(wait.ms, *own);
    wait.is_whole = true;
    wait.ignores_duration = *own < options.access.host_wait_ms_min;
  } else if (options.large_host_pages > 0 && host.pages >= options.large_host_pages) {
    wait.ms = std::max(wait.ms, options.large_host_wait_ms);
    wait.is_whole = true;
  }
  return wait;
}

base::Duration access_of(const HostRecord& host, const CrawlOptions& options) {
  const HostWait own = wait_of(host, options);
  std::int64_t wait = own.ms;
  if (!own.is_whole) wait = std::max<std::int64_t>(wait, options.access.host_wait_ms_min);
  if (!own.ignores_duration) {
    wait = std::max(wait, host.mean_duration.ms() * options.access.duration_factor);
  }
  return base::Duration::from_ms(wait) + host.mean_duration;
}

}  // namespace meguri::crawl
