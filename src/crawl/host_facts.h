// HostFacts and SiteFacts of a HostTable, whether a crawl runs on it or it was read from disk.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "crawl/control_messages.h"
#include "crawl/host_table.h"

namespace meguri::crawl {

HostFacts host_facts(const HostTable& table, const HostRecord& host);

// `target` is the "/path?query" that robots.txt is asked about.
SiteFacts site_facts(const SiteRecord& site, std::string_view target);

// The first `limit` hosts by their errors or delays. Linear in the number of hosts.
std::vector<HostFacts> first_hosts(const HostTable& table, HostOrder order, std::size_t limit);

}  // namespace meguri::crawl
