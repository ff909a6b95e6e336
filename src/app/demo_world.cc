#include "app/demo_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "web/robots.h"

namespace meguri::app {
namespace {

constexpr std::uint64_t kPagesPerHost = 25;
constexpr base::Duration kDelayMean = base::Duration::from_ms(300);
constexpr std::array<std::string_view, 6> kLanguages = {"English", "Japanese", "German",
                                                        "French",  "Spanish",  "Russian"};

sim::WorldOptions options_of(std::uint64_t pages, base::Instant origin) {
  sim::WorldOptions options;
  options.census.hosts = std::max<std::uint64_t>(pages / kPagesPerHost, 6);
  options.census.servers = options.census.hosts / 2;
  options.census.pages = pages;
  options.start = origin;
  options.delay_mean = kDelayMean;
  return options;
}

}  // namespace

DemoWorld::DemoWorld(std::uint64_t pages, base::Instant origin)
    : origin_(origin), world_(options_of(pages, origin)) {}

base::Instant DemoWorld::time_at(base::Instant real) const {
  return origin_ + (real - origin_) * kSpeed;
}

std::vector<std::string> DemoWorld::world_arguments() const {
  const sim::WorldOptions& options = world_.options();
  return {"--hosts",   fmt::format("{}", options.census.hosts),
          "--pages",   fmt::format("{}", options.census.pages),
          "--servers", fmt::format("{}", options.census.servers),
          "--seed",    fmt::format("{}", options.census.seed),
          "--start",   options.start.to_rfc3339_ms(),
          "--delay",   fmt::format("{}ms", options.delay_mean.ms())};
}

std::vector<std::string> DemoWorld::clock_arguments() const {
  return {"--speed", fmt::format("{}", kSpeed), "--clock-origin", origin_.to_rfc3339_ms()};
}

WorldFacts DemoWorld::facts() const {
  WorldFacts facts;
  std::array<std::size_t, kLanguages.size()> hosts_by_language{};
  const sim::Census& census = world_.census();
  for (sim::HostNumber host = 0; host < census.hosts(); ++host) {
    const sim::Site site(census, host);
    ++hosts_by_language[static_cast<std::size_t>(site.language())];
    facts.charsets.emplace(web::name_of(site.charset()));
    if (site.charset_hint() == sim::CharsetHint::kWrong) ++facts.hosts_with_wrong_charset;
    const std::string name = census.name_of(host);
    const std::string text = world_.robots_of(site, {"http", name, ""});
    if (text.empty()) continue;
    ++facts.hosts_with_robots;
    const auto delay = web::Robots::parse(text, "meguri").view().crawl_delay();
    if (!delay) continue;
    ++facts.hosts_with_delay;
    facts.delay_max = std::max(facts.delay_max, *delay);
  }
  std::vector<std::pair<std::size_t, std::string_view>> order;
  for (std::size_t i = 0; i < kLanguages.size(); ++i) {
    if (hosts_by_language[i] > 0) order.emplace_back(hosts_by_language[i], kLanguages[i]);
  }
  std::ranges::sort(order, std::ranges::greater());
  for (const auto& [hosts, language] : order) facts.languages.emplace_back(language);
  return facts;
}

TruthFacts facts_of(const std::vector<sim::Reached>& truth) {
  TruthFacts facts;
  for (const sim::Reached& one : truth) {
    if (one.status == 404 || one.status == 410) {
      ++facts.dead;
    } else if (one.status >= 500) {
      ++facts.failing;
    } else if (one.kind == sim::Place::Kind::kPage) {
      ++facts.pages;
    } else if (one.kind == sim::Place::Kind::kRedirect) {
      ++facts.redirects;
    } else {
      ++facts.embeds;
    }
  }
  return facts;
}

}  // namespace meguri::app
