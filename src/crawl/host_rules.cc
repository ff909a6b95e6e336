#include "crawl/host_rules.h"

#include <algorithm>
#include <utility>

#include "web/ascii.h"
#include "web/url.h"

namespace meguri::crawl {

namespace {

constexpr std::string_view kBelow = "*.";

std::optional<std::string> canonical_host(std::string_view name) {
  const std::string text = "http://" + std::string(name) + "/";
  const auto url = web::Url::parse(text);
  if (!url || url->host().empty() || url->path() != "/") return std::nullopt;
  const bool has_port = name.starts_with('[') ? !name.ends_with(']') : name.find(':') != name.npos;
  if (has_port) return std::nullopt;
  if (name.find_first_of("/@?#*") != name.npos) return std::nullopt;
  return std::string(url->host());
}

void apply(const HostRule& rule, HostPolicy& policy) {
  if (rule.wait_ms) policy.wait_ms = rule.wait_ms;
  if (rule.pages_max) policy.pages_max = *rule.pages_max;
  if (rule.obeys_robots) policy.obeys_robots = *rule.obeys_robots;
  if (rule.proxy) policy.proxy = *rule.proxy;
  if (rule.user_agent) policy.user_agent = *rule.user_agent;
  if (rule.is_skipped) policy.is_skipped = *rule.is_skipped;
  if (rule.is_paused) policy.is_paused = *rule.is_paused;
  for (const fetch::RequestField& field : rule.fields) {
    std::erase_if(policy.fields, [&field](const fetch::RequestField& other) {
      return web::equals_ignoring_case(other.name, field.name);
    });
    policy.fields.push_back(field);
  }
}

}  // namespace

std::optional<std::string> canonical_match(std::string_view match) {
  if (match == "*") return std::string(match);
  const bool is_below = match.starts_with(kBelow);
  if (is_below) match.remove_prefix(kBelow.size());
  auto host = canonical_host(match);
  if (!host || !is_below) return host;
  return std::string(kBelow) + *host;
}

HostRules::HostRules(const CrawlOptions& options) {
  common_.pages_max = options.pages_per_host_max;
  common_.obeys_robots = options.obeys_robots;
  common_.proxy = options.proxy;
  common_.user_agent = options.user_agent;
  if (!options.no_proxy.empty()) {
    HostRule direct;
    direct.matches = options.no_proxy;
    direct.proxy = "";
    add(std::move(direct));
  }
  for (const HostRule& rule : options.hosts) add(rule);
}

void HostRules::add(HostRule rule) {
  const auto index = static_cast<std::uint32_t>(rules_.size());
  for (const std::string& text : rule.matches) {
    const auto match = canonical_match(text);
    if (!match) continue;  // whoever read the configuration has said so
    if (*match == "*") {
      below_[""].push_back(index);
    } else if (match->starts_with(kBelow)) {
      below_[match->substr(kBelow.size())].push_back(index);
    } else {
      exact_[*match].push_back(index);
    }
  }
  rules_.push_back(std::move(rule));
}

const HostPolicy& HostRules::of(std::string_view host) {
  if (rules_.empty()) return common_;
  RuleIndices found;
  const auto take = [&found](const ByName& names, std::string_view name) {
    const auto at = names.find(name);
    if (at != names.end()) found.insert(found.end(), at->second.begin(), at->second.end());
  };
  take(exact_, host);
  take(below_, "");
  for (std::string_view rest = host; !rest.empty();) {
    take(below_, rest);
    const std::size_t dot = rest.find('.');
    rest.remove_prefix(dot == rest.npos ? rest.size() : dot + 1);
  }
  if (found.empty()) return common_;
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  const auto [at, is_new] = policies_.try_emplace(std::move(found), common_);
  if (is_new) {
    for (const std::uint32_t index : at->first) apply(rules_[index], at->second);
  }
  return at->second;
}

}  // namespace meguri::crawl
