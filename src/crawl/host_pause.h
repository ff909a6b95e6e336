// Why a host cannot be asked at the moment, and what becomes of its pages. Pure functions.
#pragma once

#include <optional>

#include "base/time.h"
#include "crawl/host_table.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/robots_policy.h"

namespace meguri::crawl {

// kLater: pages come again after `wait`. Any other reason is for good.
struct HostPause {
  Refusal reason = Refusal::kLater;
  base::Duration wait = {};
};

// Because it asked to be left alone, or does not answer. Nullopt: it may be visited.
std::optional<HostPause> pause_of(const HostRecord& host, const CrawlOptions& options,
                                  base::Instant now);

// Because of its name. Requires that it has no address and need not be asked for one yet.
HostPause pause_of_name(const HostRecord& host, const CrawlOptions& options, base::Ticks now);

// Because its robots.txt cannot be had. Requires RobotsStep::kRefuse.
HostPause pause_of_robots(const RobotsRecord& robots, const CrawlOptions& options,
                          base::Instant now);

}  // namespace meguri::crawl
