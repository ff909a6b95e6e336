#include "app/crawl_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "app/build_info.h"
#include "base/text.h"
#include "crawl/exclusion_file.h"
#include "crawl/revisit_plan.h"
#include "fetch/address.h"
#include "fetch/address_policy.h"
#include "web/ascii.h"
#include "web/canonical.h"
#include "web/domain.h"
#include "web/url.h"

namespace meguri::app {

namespace {

using base::ErrorCode;

constexpr std::uint32_t kGentleWaitMs = 60'000;
constexpr std::uint64_t kLargeHostPages = 10'000;

constexpr std::string_view kHead =
    R"(
# What this crawl is told. Every key is here with its default: to change one, take the '#' before
# it away. The command line counts more than this file; seeds of both are joined, and with those of
# seeds.txt beside this file, one URL a line, to which `meguri add` appends.
# Durations are "250ms", "5s", "10m", "24h" or "7d"; sizes are "100MB" or "1GiB".
)";

constexpr std::string_view kHostHead = R"(
# What holds for some hosts only. There may be many such blocks; where several match a host, the
# last one that says something counts.
#[[host]]
)";

// Whether there may be somebody who wants to know who visits: not at addresses that are not public,
// nor at names that no public suffix ends.
bool is_public_host(std::string_view host) {
  if (const auto address = fetch::IpAddress::parse(host)) {
    return fetch::range_of(*address) == fetch::AddressRange::kPublic;
  }
  return host.find('.') != host.npos && web::has_known_suffix(host);
}

std::string user_agent_of(const CrawlConfig& config) {
  const std::string own = fmt::format("meguri/{}", version());
  const std::string& agent = config.crawl.agent;
  const std::string who = agent == "meguri" ? own : fmt::format("{}; {}", agent, own);
  const std::string contact = config.contact.empty() ? "" : fmt::format("; +{}", config.contact);
  return fmt::format("Mozilla/5.0 (compatible; {}{})", who, contact);
}

bool holds_contact(std::string_view user_agent) {
  return user_agent.find('@') != user_agent.npos || user_agent.find("http") != user_agent.npos;
}

base::Result<std::string> canonical_seed(const std::string& seed) {
  const auto url = web::Url::parse(seed);
  if (!url || !url->is_http()) {
    // What people type first.
    const bool lacks_scheme = !url && web::Url::parse("https://" + seed).has_value();
    return base::fail(ErrorCode::kInvalid, "{} is no http or https URL{}", base::quoted(seed),
                      lacks_scheme ? "; write https:// or http:// before it" : "");
  }
  return web::canonical(*url).href();
}

template <typename T>
void append_key(const ConfigKey<T>& key, std::string_view value, std::string& text) {
  text += fmt::format("\n# {}.\n#{} = {}\n", key.help, key.name, value);
}

void append_seeds(const std::vector<std::string>& seeds, std::string_view help, std::string& text) {
  text += fmt::format("\n# {}.\n", help);
  if (seeds.empty()) {
    text += "#seeds = []\n";
    return;
  }
  text += "seeds = [\n";
  for (const std::string& seed : seeds) text += fmt::format("  {},\n", toml_quoted(seed));
  text += "]\n";
}

}  // namespace

std::string config_example(const std::vector<std::string>& seeds) {
  CrawlConfig defaults;
  std::string text(kHead.substr(1));
  std::string_view table;
  for (const auto& key : crawl_keys()) {
    if (key.table != table) text += fmt::format("\n[{}]\n", key.table);
    table = key.table;
    if (key.table.empty() && key.name == "seeds") {
      append_seeds(seeds, key.help, text);
    } else {
      append_key(key, toml_of(key.field(defaults)).value_or(std::string(key.sample)), text);
    }
  }
  text += kHostHead;
  for (const auto& key : host_keys()) append_key(key, key.sample, text);
  return text;
}

base::Result<std::vector<std::string>> read_seeds(std::string_view text, const std::string& file) {
  std::vector<std::string> seeds;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = web::trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    auto seed = canonical_seed(std::string(line));
    if (!seed) {
      return base::fail(ErrorCode::kInvalid, "{}:{}: {}", file, number, seed.error().message());
    }
    seeds.push_back(*std::move(seed));
  }
  return seeds;
}

namespace {

// What was not told follows the bounds that were.
base::Status complete_revisits(CrawlConfig& config) {
  crawl::RevisitOptions& revisit = config.crawl.revisit;
  revisit.is_on = !config.once;
  revisit::PolicyOptions& pace = revisit.pace;
  if (pace.interval_min <= pace.interval_max) {
    const auto within = [&](base::Duration& time) {
      time = std::clamp(time, pace.interval_min, pace.interval_max);
    };
    pace.far_min = std::min(pace.far_min, pace.interval_max / 4 * 3);
    within(pace.first_min);
    within(pace.first_max);
  }
  const auto plan = crawl::RevisitPlan::make(revisit);
  if (!plan) return std::unexpected(plan.error().with_context("[revisit]"));
  return {};
}

}  // namespace

base::Status complete(CrawlConfig& config, const std::string& archive) {
  crawl::CrawlOptions& crawl = config.crawl;
  std::vector<std::string> seeds;
  std::unordered_set<std::string> known;
  for (const std::string& seed : crawl.seeds) {
    ASSIGN_OR_RETURN(std::string canonical, canonical_seed(seed));
    if (known.insert(canonical).second) seeds.push_back(std::move(canonical));
  }
  crawl.seeds = std::move(seeds);
  crawl.scope.own_exclusion_file = fmt::format("{}/{}", archive, crawl::kOwnExclusionsName);
  if (config.politeness == Politeness::kGentle) {
    crawl.large_host_pages = kLargeHostPages;
    crawl.access.host_wait_ms_min = kGentleWaitMs;
  }
  crawl.access.host_wait_ms_min = config.delay_ms.value_or(crawl.access.host_wait_ms_min);
  crawl.large_host_wait_ms = std::min(crawl.large_host_wait_ms, crawl.access.host_wait_ms_min);
  RETURN_IF_ERROR(complete_revisits(config));
  if (config.once && !config.history.empty()) {
    return base::fail(base::ErrorCode::kInvalid,
                      "--from-archive tells when pages are to be visited again, and --once visits "
                      "none again; leave out one of them");
  }
  const bool is_bare_address = config.contact.find('@') != std::string::npos &&
                               config.contact.find(':') == std::string::npos;
  if (is_bare_address) config.contact = "mailto:" + config.contact;
  if (crawl.user_agent.empty()) crawl.user_agent = user_agent_of(config);
  crawl.warc.series.dir = archive + "/warc";
  crawl.warc.info.software = fmt::format("meguri/{}", version());
  crawl.warc.info.robots = crawl.obeys_robots ? "RFC 9309" : "ignored";
  crawl.warc.info.user_agent = crawl.user_agent;
  crawl.warc.info.contact = config.contact;
  crawl.log.dir = archive + "/logs";
  return {};
}

std::vector<std::string> warnings_of(const CrawlConfig& config) {
  std::vector<std::string> warnings;
  const crawl::CrawlOptions& crawl = config.crawl;
  const bool is_public = std::ranges::any_of(crawl.seeds, [](const std::string& seed) {
    const auto url = web::Url::parse(seed);
    return url && is_public_host(url->host());
  });
  if (is_public && config.contact.empty() && !holds_contact(crawl.user_agent)) {
    warnings.emplace_back(
        "nobody can tell whose crawl this is; name somebody who answers for it, by --contact "
        "mailto:me@example.org or as contact in meguri.toml");
  }
  if (!crawl.obeys_robots) {
    warnings.emplace_back("robots.txt is not obeyed, as the configuration says");
  }
  for (const crawl::HostRule& rule : crawl.hosts) {
    if (crawl.obeys_robots && rule.obeys_robots == false) {
      warnings.push_back(fmt::format("robots.txt of {} is not obeyed, as the configuration says",
                                     fmt::join(rule.matches, ", ")));
    }
  }
  return warnings;
}

}  // namespace meguri::app
