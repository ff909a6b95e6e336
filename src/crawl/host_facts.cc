#include "crawl/host_facts.h"

#include <algorithm>
#include <utility>

#include "crawl/robots_policy.h"

namespace meguri::crawl {

namespace {

RobotsStanding standing_of(const SiteRecord& site) {
  if (site.is_asking) return RobotsStanding::kAsking;
  if (site.robots.failures > 0) return RobotsStanding::kFailing;
  return site.robots.is_known ? RobotsStanding::kKnown : RobotsStanding::kUnknown;
}

// What of a host is worth knowing first.
int urgency_of(RobotsStanding standing) {
  switch (standing) {
    case RobotsStanding::kFailing: return 3;
    case RobotsStanding::kAsking: return 2;
    case RobotsStanding::kKnown: return 1;
    case RobotsStanding::kUnknown: return 0;
  }
  return 0;
}

}  // namespace

HostFacts host_facts(const HostTable& table, const HostRecord& host) {
  HostFacts facts;
  facts.name = host.name;
  facts.address_state = host.address_state;
  if (host.address_state == AddressState::kFound) facts.address = host.address.to_string();
  facts.crawl_delay_ms = host.crawl_delay_ms;
  facts.last_access = host.last_access;
  facts.download = host.mean_duration;
  facts.errors = host.errors;
  facts.waiting_for_address = host.waiting.size();
  for (const SiteIndex i : host.sites) {
    const SiteRecord& site = table.site(i);
    facts.waiting_for_robots += site.waiting.size();
    const RobotsStanding standing = standing_of(site);
    if (urgency_of(standing) > urgency_of(facts.robots)) facts.robots = standing;
  }
  return facts;
}

SiteFacts site_facts(const SiteRecord& site, std::string_view target) {
  SiteFacts facts;
  facts.origin = site.origin;
  facts.robots = standing_of(site);
  facts.has_rules = site.robots.is_known;
  if (facts.has_rules) {
    const web::RobotsVerdict verdict = site.robots.rules.check(target);
    facts.fetched = site.robots.fetched;
    facts.is_allowed = verdict.allowed;
    facts.line = verdict.line;
    facts.rule = verdict.rule;
  }
  facts.failures = site.robots.failures;
  if (facts.failures > 0) {
    facts.failed = site.robots.failed;
    facts.retry_after = robots_wait(facts.failures);
  }
  return facts;
}

std::vector<HostFacts> first_hosts(const HostTable& table, HostOrder order, std::size_t limit) {
  std::vector<std::pair<std::uint64_t, HostIndex>> all;
  all.reserve(table.hosts());
  for (HostIndex i = 0; i < table.hosts(); ++i) {
    const HostRecord& host = table.host(i);
    all.emplace_back(order == HostOrder::kDelay ? host.crawl_delay_ms : host.errors, i);
  }
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
  std::ranges::partial_sort(all, end, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<HostFacts> first;
  for (auto it = all.begin(); it != end; ++it) {
    first.push_back(host_facts(table, table.host(it->second)));
  }
  return first;
}

}  // namespace meguri::crawl
