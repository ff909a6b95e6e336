#include "crawl/fetcher.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "crawl/retry_policy.h"
#include "crawl/server_key.h"
#include "web/ascii.h"
#include "web/http_head.h"
#include "web/url.h"

namespace meguri::crawl {

using fetch::FetchOutcome;

namespace {

constexpr std::string_view kAcceptPages =
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
constexpr std::string_view kAcceptRobots = "text/plain,*/*;q=0.8";
constexpr std::string_view kAcceptEncoding = "gzip, br";

// A connection is kept for the next request if that may come so soon. Many servers close it after
// five seconds, and until then it takes a place there.
constexpr std::uint32_t kKeptWaitMs = 2000;

std::vector<fetch::RequestField> fields_of(const Visit& visit, const CrawlOptions& options) {
  const bool is_robots = visit.purpose == Purpose::kRobots;
  std::vector<fetch::RequestField> fields;
  fields.reserve(5);
  const auto add = [&fields](std::string_view name, std::string_view value) {
    if (!value.empty()) fields.push_back({std::string(name), std::string(value)});
  };
  add("Accept", is_robots ? kAcceptRobots : kAcceptPages);
  add("Accept-Encoding", kAcceptEncoding);
  add("Accept-Language", options.accept_language);
  if (visit.page.prior) {
    add("If-None-Match", visit.page.prior->etag);
    add("If-Modified-Since", visit.page.prior->last_modified);
  }
  return fields;
}

// The least time until the host is asked again.
std::uint32_t wait_ms_after(const Visit& visit, const AccessLimits& limits) {
  const std::uint32_t host =
      visit.is_wait_whole ? visit.wait_ms : std::max(visit.wait_ms, limits.host_wait_ms_min);
  return std::max(host, limits.server_gap_ms);
}

// Heads are read in the Extractor; this one too, because the host must not be asked meanwhile.
base::Duration hold_of(const fetch::Fetched& fetched) {
  if (fetched.status != 429 && fetched.status != 503) return {};
  const auto parsed = web::parse_head(web::HeadKind::kResponse, fetched.response_head);
  return crawl::hold_of(fetched.status, parsed.head.fields, fetched.times.finished_utc);
}

}  // namespace

std::optional<fetch::FetchRequest> request_of(const Visit& visit, const CrawlOptions& options) {
  const auto url = web::Url::parse(visit.page.candidate.url);
  if (!url || !url->is_http()) return std::nullopt;
  fetch::FetchRequest request;
  request.is_https = url->scheme() == "https";
  request.host = url->host();
  request.port = url->port().value_or(request.is_https ? 443 : 80);
  request.target = url->path();
  if (url->has_query()) request.target.append("?").append(url->query());
  request.address = visit.address;
  request.user_agent = options.user_agent;
  request.fields = fields_of(visit, options);
  request.limits = options.fetch;
  request.keeps_alive =
      options.keeps_connections && wait_ms_after(visit, options.access) <= kKeptWaitMs;
  if (visit.purpose == Purpose::kRobots) {
    request.limits.body_bytes_max = std::min(request.limits.body_bytes_max, kRobotsBytesMax);
    request.limits.html_bytes_max = std::min(request.limits.html_bytes_max, kRobotsBytesMax);
  }
  return request;
}

void set_policy(const HostPolicy& policy, fetch::FetchRequest& request) {
  request.user_agent = policy.user_agent;
  request.proxy = policy.proxy;
  for (const fetch::RequestField& field : policy.fields) {
    std::erase_if(request.fields, [&](const fetch::RequestField& other) {
      return web::equals_ignoring_case(other.name, field.name);
    });
    request.fields.push_back(field);
  }
}

bool has_happened(const fetch::Fetched& fetched) {
  switch (fetched.outcome) {
    case FetchOutcome::kBadRequest:
    case FetchOutcome::kForbiddenAddress: return false;
    case FetchOutcome::kCancelled: return fetched.connected.has_value();
    default: return true;
  }
}

Fetcher::Fetcher(const CrawlOptions& options, MakeClient make)
    : options_(options), rules_(options), make_(std::move(make)) {}

base::Status Fetcher::start() {
  client_ = make_(clock());
  CHECK(client_ != nullptr && client_->capacity() > 0, "a client that can fetch nothing");
  return {};
}

void Fetcher::on_visit(Visit&& visit) {
  if (has_room()) {
    begin(std::move(visit));
  } else {
    waiting_.push_back(std::move(visit));
  }
}

void Fetcher::begin(Visit&& visit) {
  auto request = request_of(visit, options_);
  if (!request) {
    fetch::Fetched fetched;
    fetched.outcome = FetchOutcome::kBadRequest;
    fetched.error = "its URL cannot be asked for";
    fetched.times.started = fetched.times.finished = clock().ticks();
    fetched.times.started_utc = fetched.times.finished_utc = clock().utc();
    end(std::move(visit), std::move(fetched));
    return;
  }
  set_policy(rules_.of(request->host), *request);
  request->tag = next_tag_++;
  under_way_.emplace(request->tag, std::move(visit));
  client_->start(*std::move(request));
}

void Fetcher::begin_waiting() {
  while (!waiting_.empty() && has_room()) {
    Visit visit = std::move(waiting_.front());
    waiting_.pop_front();
    begin(std::move(visit));
  }
}

void Fetcher::poll(base::Duration wait) {
  begin_waiting();
  client_->poll(wait);
  for (fetch::Fetched& fetched : client_->take()) {
    auto visit = under_way_.extract(fetched.tag);
    CHECK(!visit.empty(), "an answer to a request that was not made, or answered before");
    end(std::move(visit.mapped()), std::move(fetched));
  }
  begin_waiting();
}

// Other visits of the host that wait at the Scheduler are let go after crawl_delay_max at the
// latest, and sent back at their last look: they would hold their credits for as long as a host
// that asks for years likes.
void Fetcher::end(Visit&& visit, fetch::Fetched&& fetched) {
  ends.emit({.host = visit.host,
             .server = server_key_of(visit.address.address),
             .duration = fetched.times.finished - fetched.times.started,
             .happened = has_happened(fetched),
             .hold = std::min(hold_of(fetched), options_.crawl_delay_max)});
  answers.emit({.visit = std::move(visit), .fetched = std::move(fetched)});
}

base::Ticks Fetcher::next_poll() const {
  if (!waiting_.empty() && has_room()) return clock().ticks();
  return client_->next_event();
}

}  // namespace meguri::crawl
