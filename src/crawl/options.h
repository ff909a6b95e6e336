// CrawlOptions: what a crawl is told, by its configuration and its command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "archive/warc_file.h"
#include "base/time.h"
#include "crawl/access_schedule.h"
#include "crawl/host_load.h"
#include "fetch/http_client.h"
#include "revisit/policy.h"
#include "web/content_decoder.h"
#include "web/html_document.h"
#include "web/similarity.h"
#include "web/url_filter.h"

namespace meguri::crawl {

// Which pages belong to the crawl, seen from its seeds. Embeds of a page belong to it wherever they
// are, one hop from it.
enum class Scope : std::uint8_t {
  kHost,    // the hosts of the seeds
  kDomain,  // their registrable domains
  kPrefix,  // what begins with a seed's URL up to its last slash
  kAny,
};

// What becomes of the links of a page that is in a foreign language.
enum class ForeignLinks : std::uint8_t {
  kNone,  // they are not followed
  kLast,  // they are visited after all others
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
  // The languages of the pages whose links are followed, such as "ja"; empty: any. All others are
  // foreign (language_rule.h).
  std::vector<std::string> languages = {};
  ForeignLinks foreign = ForeignLinks::kNone;
  web::UrlFilterLimits url = {};  // of every URL; what is not for traps the crawl sets itself
  // A file of what must not be visited, one rule a line (exclusion_list.h); read again whenever it
  // changes. Empty: there is none.
  std::string exclusion_file = {};
  // Likewise, but it need not be there: the archive's own, of pages that were taken down.
  std::string own_exclusion_file = {};
};

// What holds for some hosts instead of what holds for all. What is not set is as for all.
struct HostRule {
  // "www.example.org": that host. "*.example.org": example.org and every host below it. "*": all.
  std::vector<std::string> matches;
  // From the end of an answer to the next request, instead of the least delay; robots.txt may ask
  // for more. Below the least delay it is the whole wait, however long the answer took: whoever
  // says so knows the server.
  std::optional<std::uint32_t> wait_ms;
  std::optional<std::uint64_t> pages_max;  // 0: no limit
  std::optional<bool> obeys_robots;
  std::optional<std::string> proxy;  // empty: none
  std::optional<std::string> user_agent;
  std::vector<fetch::RequestField> fields;  // sent besides, and not kept in the archive
  std::optional<bool> is_skipped;           // not visited at all
  std::optional<bool> is_paused;            // its pages wait until this is no longer said

  friend bool operator==(const HostRule&, const HostRule&) = default;
};

// The crawl log: docs/formats/crawl-log.md.
struct CrawlLogOptions {
  std::string dir = {};  // empty: none is written
  // A file that has grown to this is closed. The lines of one epoch may exceed it.
  std::uint64_t file_bytes_max = std::uint64_t{256} << 20U;
};

// How pages are visited again.
struct RevisitOptions {
  bool is_on = false;  // false: every page is visited once, and then the crawl ends
  std::string policy = "paper";
  revisit::PolicyOptions pace = {};
  // A page that was refused is offered to its host again: robots.txt may have changed.
  base::Duration refused_wait = base::Duration::days(30);
  Remedy remedy = Remedy::kStretch;                // where a host cannot bear its pages' visits
  std::uint64_t group_kept = 10;                   // of kGroup: pages of a template that keep pace
  double counts_from = web::kDifferenceThreshold;  // changes of less of the main text do not count
};

// What sites say themselves of their pages.
struct HintOptions {
  bool sitemaps = true;    // those that robots.txt names are visited,
  bool well_known = true;  // and /sitemap.xml where it names none
  bool feeds = true;       // those that pages name are visited
  bool pulls = true;       // a page that is said to have changed since its visit is visited earlier
};

// Which hosts are taken for one, because they have the same pages (host_aliases.h).
struct AliasOptions {
  bool is_on = true;
  std::uint32_t pages_min = 8;  // that must be the same; of small hosts fewer, but 3
  // A page of an alias is visited so often, to see whether it is one still.
  base::Duration check_every = base::Duration::days(7);
  // Hosts that turned out to differ are not compared again before.
  base::Duration apart = base::Duration::days(90);
};

struct CrawlOptions {
  std::vector<std::string> seeds;  // URLs
  ScopeOptions scope;
  std::uint64_t pages_max = 0;           // registered in all; 0: no limit
  std::uint64_t pages_per_host_max = 0;  // 0: no limit
  std::vector<HostRule> hosts;           // where several match, the last that says something counts
  RevisitOptions revisit;
  HintOptions hints;
  AliasOptions aliases;

  std::size_t in_flight_max = 4096;  // pages out of the Registry
  std::size_t per_host_max = 32;     // of these, on one host
  // Pages that are due and in memory. When half of it is used, hosts with more than their share of
  // it have the rest wait on disk.
  std::size_t queued_max = 200'000;
  std::size_t store_pool_bytes = std::size_t{32} << 20U;  // what is written to the store together
  // The store's log may grow to this, and to some times its index, before it begins anew.
  std::uint64_t store_log_bytes = std::uint64_t{256} << 20U;
  std::size_t known_cache_bytes = std::size_t{32} << 20U;  // ids of pages asked for of late
  // Connections are kept for hosts that are asked again within two seconds.
  bool keeps_connections = true;
  AccessLimits access;
  AccessScheduleKind schedule = AccessScheduleKind::kWheel;
  // Hosts with so many pages need not wait the least delay, but this long; 0 pages: no host is so.
  std::uint64_t large_host_pages = 0;
  std::uint32_t large_host_wait_ms = 5000;

  std::string agent = "meguri";  // the name that robots.txt knows us by
  std::string user_agent;        // as sent; holds the agent's name and a contact
  std::string accept_language;   // as sent; empty: not sent
  bool obeys_robots = true;
  bool obeys_any_agent = false;  // what robots.txt forbids to anybody, it forbids to us
  base::Duration robots_age_max = base::Duration::hours(24);
  base::Duration crawl_delay_max = base::Duration::hours(1);  // a host that asks for more is parked

  // Visits to a page in all while they fail in a way that may pass, questions for an address
  // likewise; see retry_policy.h. At least 1.
  std::uint32_t tries_max = 4;

  fetch::FetchLimits fetch;
  // Bodies and their records from the first byte until they are in the archive: what of one and of
  // all of them may be in memory (the rest is on disk), and how many bytes they may have in all.
  std::uint64_t body_memory_max = std::uint64_t{1} << 20U;
  std::uint64_t bodies_memory_max = std::uint64_t{8} << 20U;
  std::uint64_t bodies_bytes_max = std::uint64_t{1} << 30U;
  // Of content codings; how much they may come to in all is for what they hold.
  web::DecodeLimits decode;
  std::size_t links_max = web::HtmlOptions().links_max;  // that are read of a page
  std::size_t connections_max = 1024;
  std::size_t offers_remembered = 131'072;  // links found lately, which are not followed again
  std::uint16_t https_port = 443;  // where URLs without a port lead; the virtual web has others
  std::uint16_t http_port = 80;
  // "http://proxy:3128" or "socks5h://…"; empty: none. The proxy finds the addresses of hosts.
  std::string proxy;
  std::vector<std::string> no_proxy;  // hosts that are visited without it, as in HostRule::matches
  bool stores_noarchive = true;       // pages that say noarchive are kept
  bool stores_noindex = true;         // pages that say noindex are kept
  bool obeys_nofollow = true;         // of pages that say nofollow only embeds are visited

  archive::WarcFileOptions warc;
  // Nothing is fetched while the archive's disk has fewer bytes left than this; 0: not looked at.
  std::uint64_t disk_free_min = std::uint64_t{1} << 30U;
  CrawlLogOptions log;

  // A crawl that visits each page once is over before it would gain by it.
  bool finds_aliases() const { return aliases.is_on && revisit.is_on; }
};

}  // namespace meguri::crawl
