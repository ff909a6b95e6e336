// CrawlOptions: what a crawl is told, by its configuration and its command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "archive/warc_file.h"
#include "base/time.h"
#include "crawl/access_schedule.h"
#include "fetch/http_client.h"

namespace meguri::crawl {

// Which pages belong to the crawl, seen from its seeds. Embeds of a page belong to it wherever they
// are, one hop from it.
enum class Scope : std::uint8_t {
  kHost,    // the hosts of the seeds
  kDomain,  // their registrable domains
  kPrefix,  // what begins with a seed's URL up to its last slash
  kAny,
};

struct ScopeOptions {
  Scope scope = Scope::kHost;
  // Regular expressions (RE2) over the whole canonical URL. If there are
  // includes, one of them must be found; no exclude may be. Seeds are exempt from neither.
  std::vector<std::string> includes = {};
  std::vector<std::string> excludes = {};
  std::uint32_t depth_max = 100;
  std::uint8_t hops_max = 10;  // of a chain of redirects
  bool embeds = true;
};

struct CrawlOptions {
  std::vector<std::string> seeds;  // URLs
  ScopeOptions scope;
  std::uint64_t pages_max = 0;           // registered in all; 0: no limit
  std::uint64_t pages_per_host_max = 0;  // 0: no limit

  std::size_t in_flight_max = 4096;  // pages out of the Registry
  std::size_t per_host_max = 32;     // of these, on one host
  AccessLimits access;
  AccessScheduleKind schedule = AccessScheduleKind::kWheel;

  std::string agent = "meguri";  // the name that robots.txt knows us by
  std::string user_agent;        // as sent; holds the agent's name and a contact
  std::string accept_language;   // as sent; empty: not sent
  bool obeys_robots = true;
  base::Duration robots_age_max = base::Duration::hours(24);
  base::Duration crawl_delay_max = base::Duration::hours(1);  // a host that asks for more is parked

  fetch::FetchLimits fetch;
  std::size_t connections_max = 1024;
  std::size_t offers_remembered = 131'072;  // links found lately, which are not followed again
  std::uint16_t https_port = 443;  // where URLs without a port lead; the virtual web has others
  std::uint16_t http_port = 80;
  bool stores_noarchive = true;  // pages that say noarchive are kept

  archive::WarcFileOptions warc;
};

}  // namespace meguri::crawl
