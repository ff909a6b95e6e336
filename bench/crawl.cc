// What a whole crawl costs: CPU of the crawler per page, over HTTP and HTTPS, beside other
// crawlers on the same pages and beside what no crawler can do without.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/benches.h"
#include "bench/crawl_peers.h"
#include "bench/crawl_work.h"

namespace meguri::bench {
namespace {

constexpr double kHttpGoalMs = 0.40;
constexpr double kHttpsGoalMs = 0.30;  // and as much as this many handshakes:
constexpr double kHttpsGoalHandshakes = 1.1;
constexpr double kPeersGoal = 6;
constexpr double kMemoryGoalMb = 600;

void add_cost(Report& report, const CrawlCost& cost, const std::string& scheme) {
  const double ms = 1000 / cost.pages;
  report.add(fmt::format("pages stored, {}", scheme), cost.pages, "pages");
  report.add(fmt::format("visits that stored none, {}", scheme), cost.visits - cost.pages,
             "visits");
  report.add(fmt::format("links offered a page, {}", scheme), cost.offers / cost.pages, "links");
  report.add(fmt::format("WARC a page, {}", scheme), cost.warc_mb * 1000 / cost.pages, "KB");
  report.add(fmt::format("epochs, {}", scheme), cost.epochs, "epochs");
  report.add(fmt::format("real time, {}", scheme), cost.seconds, "s");
  report.add(fmt::format("memory, {}", scheme), cost.peak_mb, "MB");
  double rest = cost.cpu_seconds;
  for (const CrawlCost::Module& module : cost.modules) {
    report.add(fmt::format("CPU a page, {}, {}", scheme, module.name), module.seconds * ms, "ms");
    rest -= module.seconds;
  }
  report.add(fmt::format("CPU a page, {}, threads and wake-ups", scheme), rest * ms, "ms");
}

double add_peers(Report& report, const PeerCost& wget, const std::optional<PeerCost>& scrapy) {
  double best = report.add("wget --warc-file, CPU a page", wget.ms_per_page(), "ms");
  if (!scrapy) {
    report.add("Scrapy: cannot be installed here", 0, "pages");
    return best;
  }
  return std::min(best, report.add("Scrapy, CPU a page", scrapy->ms_per_page(), "ms"));
}

void add_floors(Report& report, const Floors& floors) {
  report.add("a page of the sample", floors.kilobytes, "KB");
  report.add("bare libcurl, HTTP", floors.curl_http * 1000, "ms");
  report.add("bare libcurl, HTTPS", floors.curl_https * 1000, "ms");
  report.add("gzip of a page", floors.gzip * 1000, "ms");
  report.add("SHA-1 of a page", floors.sha1 * 1000, "ms");
  report.add("tokens and links of a page", floors.tokens * 1000, "ms");
  report.add("bare OpenSSL handshake", floors.handshake * 1000, "ms");
}

}  // namespace

base::Status run_crawl(const Options& options, Report& report) {
  CrawlLoad load;
  if (options.quick) {
    load.servers = 100;
    load.pages = 5'000;
    load.sample = 1'000;
  }
  const std::string ca_file = options.dir + "/ca.pem";
  ASSIGN_OR_RETURN(const auto web, WebProcess::start(load.web_arguments(ca_file)));
  ASSIGN_OR_RETURN(const CrawlCost http,
                   measure_crawl(*web, false, ca_file, options.dir + "/http"));
  ASSIGN_OR_RETURN(const CrawlCost https,
                   measure_crawl(*web, true, ca_file, options.dir + "/https"));
  const std::vector<SamplePage> pages = sample_pages(load);
  ASSIGN_OR_RETURN(const PeerCost wget, measure_wget(*web, pages, options.dir));
  ASSIGN_OR_RETURN(const auto scrapy, measure_scrapy(*web, pages, options.dir));
  ASSIGN_OR_RETURN(const Floors floors, measure_floors(load, *web, pages, ca_file));

  add_cost(report, http, "HTTP");
  add_cost(report, https, "HTTPS");
  add_floors(report, floors);
  const double best_peer = add_peers(report, wget, scrapy);
  const double http_ms = report.add("CPU a page, HTTP", http.cpu_seconds * 1000 / http.pages, "ms",
                                    Goal::at_most(kHttpGoalMs));
  report.add("better peer against it", best_peer / http_ms, "ratio", Goal::at_least(kPeersGoal));
  const double bound = kHttpsGoalMs + kHttpsGoalHandshakes * floors.handshake * 1000;
  report.add("CPU a page, HTTPS", https.cpu_seconds * 1000 / https.pages, "ms",
             Goal::at_most(bound));
  report.add("memory of the larger crawl", std::max(http.peak_mb, https.peak_mb), "MB",
             Goal::at_most(kMemoryGoalMb));
  return {};
}

}  // namespace meguri::bench
