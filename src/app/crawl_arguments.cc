#include "app/crawl_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "app/build_info.h"
#include "app/values.h"
#include "base/text.h"
#include "fetch/ares_dns.h"
#include "fetch/curl_http_client.h"
#include "web/canonical.h"
#include "web/url.h"

namespace meguri::app {

using base::Duration;

namespace {

base::Result<crawl::Scope> scope_of(const std::string& name) {
  if (name == "host") return crawl::Scope::kHost;
  if (name == "domain") return crawl::Scope::kDomain;
  if (name == "prefix") return crawl::Scope::kPrefix;
  if (name == "any") return crawl::Scope::kAny;
  return base::fail(base::ErrorCode::kInvalid, "--scope takes host, domain, prefix or any, not {}",
                    base::quoted(name));
}

}  // namespace

void CrawlArguments::declare(Options options) {
  options.arguments("SEED", seeds_, "URLs to begin with");
  options.option(
      "--scope", "SCOPE", scope_,
      "Follow links within the host, domain or prefix of a seed, or any (default: host)");
  options.list("--include", "REGEX", includes_, "Only URLs in which this is found");
  options.list("--exclude", "REGEX", excludes_, "No URLs in which this is found");
  options.option("--max-pages", "N", pages_max_, "Register no more pages than this");
  options.option("--max-pages-per-host", "N", pages_per_host_max_, "Nor more of one host");
  options.option("--max-depth", "N", depth_max_, "Follow so many links from a seed (default: 100)");
  options.option("--min-delay", "DURATION", delay_,
                 "Least time from an answer of a host to the next request (default: 5s)");
  options.option("--server-gap", "DURATION", server_gap_,
                 "Least time from an answer of a server to the next request (default: 1s)");
  network_.declare(options);
}

base::Result<crawl::CrawlOptions> CrawlArguments::options(const std::string& archive) const {
  crawl::CrawlOptions options;
  for (const std::string& seed : seeds_) {
    const auto url = web::Url::parse(seed);
    if (!url || !url->is_http()) {
      // What people type first.
      const bool lacks_scheme = !url && web::Url::parse("https://" + seed).has_value();
      return base::fail(base::ErrorCode::kInvalid, "{} is no http or https URL{}",
                        base::quoted(seed),
                        lacks_scheme ? "; write https:// or http:// before it" : "");
    }
    options.seeds.push_back(web::canonical(*url).href());
  }
  if (!scope_.empty()) {
    ASSIGN_OR_RETURN(options.scope.scope, scope_of(scope_));
  }
  options.scope.includes = includes_;
  options.scope.excludes = excludes_;
  if (!depth_max_.empty()) {
    ASSIGN_OR_RETURN(const std::uint64_t depth, parse_count("--max-depth", depth_max_));
    options.scope.depth_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, 1'000'000));
  }
  if (!pages_max_.empty()) {
    ASSIGN_OR_RETURN(options.pages_max, parse_count("--max-pages", pages_max_));
  }
  if (!pages_per_host_max_.empty()) {
    ASSIGN_OR_RETURN(options.pages_per_host_max,
                     parse_count("--max-pages-per-host", pages_per_host_max_));
  }
  const auto read_ms = [](std::string_view option, const std::string& text,
                          std::uint32_t* ms) -> base::Status {
    if (text.empty()) return {};
    ASSIGN_OR_RETURN(const Duration duration, parse_duration(option, text));
    *ms = static_cast<std::uint32_t>(std::min<std::int64_t>(duration.ms(), 86'400'000));
    return {};
  };
  RETURN_IF_ERROR(read_ms("--min-delay", delay_, &options.access.host_wait_ms_min));
  RETURN_IF_ERROR(read_ms("--server-gap", server_gap_, &options.access.server_gap_ms));
  options.user_agent = network_.user_agent();
  options.warc.series.dir = archive + "/warc";
  options.warc.info.software = fmt::format("meguri/{}", version());
  options.warc.info.robots = "RFC 9309";
  options.warc.info.user_agent = options.user_agent;
  return options;
}

base::Result<CrawlSeams> CrawlArguments::seams(const crawl::CrawlOptions& options,
                                               const env::Clock& clock,
                                               env::FileSystem& files) const {
  CrawlSeams seams;
  ASSIGN_OR_RETURN(fetch::CurlOptions http, network_.http(files));
  seams.addresses = http.policy;
  http.in_flight_max = options.connections_max;
  const fetch::AresOptions names = network_.names();
  // Made once to find what is wrong with the options; a module cannot say it so well.
  ASSIGN_OR_RETURN(const auto tried_http, fetch::make_curl_http_client(clock, http));
  ASSIGN_OR_RETURN(const auto tried_names, fetch::make_ares_dns(clock, names));
  seams.make_http = [http](const env::Clock& own) {
    return fetch::make_curl_http_client(own, http).value();
  };
  seams.make_dns = [names](const env::Clock& own) {
    return fetch::make_ares_dns(own, names).value();
  };
  return seams;
}

}  // namespace meguri::app
