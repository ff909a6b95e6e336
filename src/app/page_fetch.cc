#include "app/page_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "app/output.h"
#include "base/console.h"
#include "base/text.h"
#include "crawl/fetcher.h"
#include "crawl/link_offers.h"
#include "crawl/messages.h"
#include "web/canonical.h"
#include "web/content_decoder.h"
#include "web/http_head.h"
#include "web/redirect.h"

namespace meguri::app {
namespace {

using base::Duration;
using base::ErrorCode;
using fetch::DnsOutcome;
using fetch::FetchOutcome;

constexpr int kHopsMax = 10;
constexpr std::size_t kAddressesMax = 4;  // tried
constexpr Duration kDelayMin = Duration::seconds(1);
constexpr Duration kDelayMax = Duration::seconds(30);
constexpr Duration kSaidFrom = Duration::seconds(3);  // longer waits are said
constexpr Duration kPoll = Duration::from_ms(100);

std::string target_of(const web::Url& url) {
  std::string target(url.path());
  if (url.has_query()) target.append("?").append(url.query());
  return target;
}

std::string origin_of(const web::Url& url) {
  return fmt::format("{}://{}{}", url.scheme(), url.host(),
                     url.port() ? fmt::format(":{}", *url.port()) : "");
}

base::Error error_of_name(const std::string& host, const fetch::Resolved& resolved) {
  const auto error = [](std::string text) {
    return base::Error(ErrorCode::kFailed, std::move(text));
  };
  switch (resolved.outcome) {
    case DnsOutcome::kNoSuchName:
      return error(fmt::format("the name server knows no host {}; check how it is spelt",
                               base::quoted(host)));
    case DnsOutcome::kNoAddress:
      return error(fmt::format("the host {} has no address", base::quoted(host)));
    default:
      return error(
          fmt::format("the address of {} cannot be asked for ({}); check the network, and the name "
                      "server in /etc/resolv.conf or of --dns",
                      base::quoted(host), resolved.error));
  }
}

bool may_try_next(FetchOutcome outcome) {
  return outcome == FetchOutcome::kConnectRefused || outcome == FetchOutcome::kUnreachable ||
         outcome == FetchOutcome::kConnectTimeout;
}

std::optional<web::Url> redirect_target_of(const web::Url& url, const fetch::Fetched& answer) {
  if (answer.outcome != FetchOutcome::kAnswered) return std::nullopt;
  const auto parsed = web::parse_head(web::HeadKind::kResponse, answer.response_head);
  const auto location = web::redirect_target(parsed.head);
  return location ? crawl::redirect_of(url, *location) : std::nullopt;
}

std::string body_of(const fetch::Fetched& answer) {
  const auto parsed = web::parse_head(web::HeadKind::kResponse, answer.response_head);
  return web::decode_content(answer.body.memory(), parsed.head.fields.combined("Content-Encoding"))
      .bytes;
}

}  // namespace

base::Result<std::vector<fetch::IpAddress>> PageFetch::addresses_of(const std::string& host) {
  seams_.names.start(host, 0);
  std::vector<fetch::Resolved> results;
  while (results.empty()) {
    seams_.names.poll(kPoll);
    results = seams_.names.take();
  }
  const fetch::Resolved& resolved = results.front();
  if (resolved.outcome != DnsOutcome::kFound) {
    return std::unexpected(error_of_name(host, resolved));
  }
  std::vector<fetch::IpAddress> allowed;
  for (const fetch::IpAddress& address : resolved.addresses) {
    if (seams_.addresses.allows(address) && allowed.size() < kAddressesMax) {
      allowed.push_back(address);
    }
  }
  if (!allowed.empty()) return allowed;
  const fetch::IpAddress& first = resolved.addresses.front();
  return base::fail(ErrorCode::kDenied,
                    "the host {} has the address {}, which is not public ({}); --allow-network "
                    "{} allows it",
                    base::quoted(host), first.to_string(), fetch::name_of(fetch::range_of(first)),
                    first.to_string());
}

void PageFetch::wait_for(const std::string& host) {
  const auto access = accesses_.find(host);
  if (access == accesses_.end()) return;
  const base::Ticks ready = access->second.ended + access->second.delay;
  if (access->second.delay >= kSaidFrom) {
    base::Console::standard_error().write_line(fmt::format(
        "waiting {:.0f} s, as robots.txt of {} asks for", access->second.delay.in_seconds(), host));
  }
  for (base::Ticks now = seams_.clock.ticks(); now < ready; now = seams_.clock.ticks()) {
    seams_.http.poll(ready - now);
  }
}

fetch::Fetched PageFetch::fetch_from(const fetch::FetchRequest& request) {
  seams_.http.start(request);
  std::vector<fetch::Fetched> results;
  while (results.empty()) {
    seams_.http.poll(kPoll);
    results = seams_.http.take();
  }
  return std::move(results.front());
}

base::Result<fetch::Fetched> PageFetch::fetch(const web::Url& url, bool is_robots) {
  crawl::Visit visit;
  visit.page.candidate.url = url.href();
  visit.purpose = is_robots ? crawl::Purpose::kRobots : crawl::Purpose::kPage;
  std::optional<fetch::FetchRequest> request = crawl::request_of(visit, options_);
  if (!request) {
    return base::fail(ErrorCode::kInvalid, "{} is no http or https URL", base::quoted(url.href()));
  }
  const std::string host(url.host());
  ASSIGN_OR_RETURN(const std::vector<fetch::IpAddress> addresses, addresses_of(host));
  wait_for(host);
  fetch::Fetched answer;
  for (const fetch::IpAddress& address : addresses) {
    request->address = {address, request->port};
    answer = fetch_from(*request);
    if (!may_try_next(answer.outcome)) break;
  }
  Access& access = accesses_.try_emplace(host, base::Ticks(), kDelayMin).first->second;
  access.ended = seams_.clock.ticks();
  return answer;
}

base::Result<const PageFetch::Site*> PageFetch::site_of(const web::Url& url) {
  const auto [found, is_new] = sites_.try_emplace(origin_of(url));
  Site& site = found->second;
  if (!is_new) return &site;
  std::optional<web::Url> target = web::Url::parse(origin_of(url) + "/robots.txt");
  int status = 0;
  std::string text;
  for (int hop = 0; target && hop <= kHopsMax; ++hop) {
    ASSIGN_OR_RETURN(const fetch::Fetched answer, fetch(*target, true));
    status = answer.status;
    target = redirect_target_of(*target, answer);
    if (!target && answer.outcome == FetchOutcome::kAnswered) text = body_of(answer);
    if (answer.outcome != FetchOutcome::kAnswered) {
      return base::fail(ErrorCode::kFailed, "{} does not answer: {}", origin_of(url),
                        printable(answer.error));
    }
  }
  switch (web::robots_for_status(status)) {
    case web::RobotsPolicy::kParse:
      site.robots = web::Robots::parse(text, options_.agent);
      site.standing = "allows it";
      break;
    case web::RobotsPolicy::kAllowAll: site.standing = "there is none"; break;
    default:
      site.robots = web::Robots::disallow_all();
      site.standing = fmt::format("answered with {}, which forbids everything for now", status);
  }
  if (const auto delay = site.robots.view().crawl_delay()) {
    accesses_[std::string(url.host())].delay = std::clamp(*delay, kDelayMin, kDelayMax);
  }
  return &site;
}

base::Result<std::string> PageFetch::verdict_of(const web::Url& url) {
  if (!options_.obeys_robots) return "was not asked";
  ASSIGN_OR_RETURN(const Site* const site, site_of(url));
  const web::RobotsVerdict verdict = site->robots.view().check(target_of(url));
  const std::string where = fmt::format("in line {}", verdict.line);
  if (verdict.allowed) return verdict.line == 0 ? site->standing : "allows it " + where;
  return base::fail(
      ErrorCode::kDenied, "robots.txt of {} {}, so {} was not fetched; --ignore-robots fetches it",
      origin_of(url), verdict.line == 0 ? site->standing : "forbids it " + where, url.href());
}

base::Result<std::vector<FetchedHop>> PageFetch::get(const web::Url& url) {
  std::vector<FetchedHop> hops;
  std::optional<web::Url> next = web::canonical(url);
  while (next && hops.size() <= kHopsMax) {
    FetchedHop hop;
    hop.url = next->href();
    ASSIGN_OR_RETURN(hop.robots, verdict_of(*next));
    ASSIGN_OR_RETURN(hop.answer, fetch(*next, false));
    if (hop.answer.outcome != FetchOutcome::kAnswered) {
      return base::fail(ErrorCode::kFailed, "{} cannot be fetched: {}", hop.url,
                        printable(hop.answer.error));
    }
    next = redirect_target_of(*next, hop.answer);
    hops.push_back(std::move(hop));
  }
  return hops;
}

}  // namespace meguri::app
