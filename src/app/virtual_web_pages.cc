#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/values.h"
#include "app/virtual_web.h"
#include "base/text.h"
#include "env/posix_file_system.h"
#include "sim/leads.h"
#include "web/url.h"

namespace meguri::app {
namespace {

using base::Instant;

constexpr std::size_t kVersionsMax = 1'000'000;  // of one page; more is a mistake in the period

class Lister {
 public:
  Lister(const sim::World& world, Instant from, Instant until, sim::Origin origin, bool json,
         Output& out)
      : world_(world), from_(from), until_(until), origin_(origin), json_(json), out_(out) {}

  void list_host(sim::HostNumber host) {
    const sim::Site site(world_.census(), host);
    const std::string name = world_.census().name_of(host);
    for (sim::PageNumber page = 0; page < site.pages(); ++page) list_page(name, site, page);
  }

  void list_reached(const sim::Reached& one, bool everything) {
    const sim::Site site(world_.census(), *world_.census().host_of_name(one.host));
    const sim::Place place = world_.place_of(site, one.target);
    if (place.kind == sim::Place::Kind::kPage && list_page(one.host, site, place.page)) return;
    if (!everything) return;
    const std::string url = url_of(one.host, one.target);
    if (json_) {
      out_.print("{}\n", nlohmann::json{{"url", url}, {"status", one.status}}.dump());
    } else {
      out_.print("{}\t{}\t\t\n", url, one.status);
    }
  }

 private:
  std::string url_of(std::string_view host, std::string_view target) const {
    return sim::Origin{origin_.scheme, host, origin_.port}.text().append(target);
  }

  // False: it was not there in the whole period.
  bool list_page(const std::string& name, const sim::Site& site, sim::PageNumber number) {
    const sim::Page page = world_.page(site, number);
    // Up to and with the last moment.
    const Instant end = until_ + base::Duration::from_ms(1);
    const auto versions = page.history().versions(from_, end, kVersionsMax);
    if (versions.empty()) return false;
    const std::string url = url_of(name, site.address_of(number));
    const int status = world_.status_of(site, number, until_);
    if (!json_) {
      for (const sim::Version& version : versions) {
        out_.print("{}\t{}\t{}\t{:016x}\n", url, status, version.since.to_rfc3339_ms(), version.id);
      }
      return true;
    }
    nlohmann::json list = nlohmann::json::array();
    for (const sim::Version& version : versions) {
      list.push_back(
          {{"since", version.since.to_rfc3339_ms()}, {"id", fmt::format("{:016x}", version.id)}});
    }
    out_.print("{}\n", nlohmann::json{{"url", url},
                                      {"status", status},
                                      {"language", sim::code_of(site.language())},
                                      {"interval_s", page.history().traits().interval.in_seconds()},
                                      {"versions", std::move(list)}}
                           .dump());
    return true;
  }

  const sim::World& world_;
  Instant from_;
  Instant until_;
  sim::Origin origin_;
  bool json_;
  Output& out_;
};

}  // namespace

void VirtualWebPages::declare(Options options) {
  world_.declare(options);
  speed_.declare(options);
  options.option("--from", "TIME", from_,
                 "Versions that were there from then on (default: --start)");
  options.option("--until", "TIME", until_, "Up to then (default: now, by the web's clock)");
  options.list("--host", "NAME", hosts_, "Only this host; may be given more than once");
  options.list("--reachable-from", "URL", reachable_from_,
               "Only what a polite crawler reaches from there at the time of --until");
  options.option("--agent", "NAME", agent_,
                 "Whose robots rules it obeys (default: meguri; 'none' for no rules)");
  options.flag("--same-host", same_host_, "It does not leave the hosts that it begins with");
  options.flag("--everything", everything_,
               "Redirects, images, styles, scripts and what is gone too");
  options.flag("--hints", hints_, "It reads feeds, and sitemaps that are linked to");
  options.flag("--sitemaps", sitemaps_, "It reads those too, and the sitemaps of robots.txt");
  options.option("--port", "P", port_, "Write URLs with this port");
  options.flag("--https", https_, "Write https URLs");
  options.flag("--json", json_, "Print one JSON object for each page");
}

base::Status VirtualWebPages::run(Output& out) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const sim::WorldOptions options, world_.read(files));
  ASSIGN_OR_RETURN(const std::unique_ptr<env::Clock> clock, speed_.make());
  Instant from = options.start;
  Instant until = clock->utc();
  if (!from_.empty()) {
    ASSIGN_OR_RETURN(from, parse_time("--from", from_, until));
  }
  if (!until_.empty()) {
    ASSIGN_OR_RETURN(until, parse_time("--until", until_, until));
  }
  std::string port;
  if (!port_.empty()) {
    ASSIGN_OR_RETURN(const std::uint16_t number, parse_port("--port", port_));
    if (number != (https_ ? 443 : 80)) port = fmt::format(":{}", number);
  }
  const sim::World world(options);
  Lister lister(world, from, until, {https_ ? "https" : "http", {}, port}, json_, out);

  std::set<std::string, std::less<>> names;
  for (const std::string& name : hosts_) {
    const auto host = world.census().host_of_name(name);
    if (!host) {
      return base::fail(base::ErrorCode::kInvalid, "this web has no host {}", base::quoted(name));
    }
    names.insert(world.census().name_of(*host));
  }
  if (reachable_from_.empty()) {
    for (sim::HostNumber host = 0; host < world.census().hosts(); ++host) {
      if (names.empty() || names.contains(world.census().name_of(host))) lister.list_host(host);
    }
    return {};
  }
  sim::ReachOptions reach;
  reach.at = until;
  reach.seeds = reachable_from_;
  reach.embeds = everything_;
  reach.hints = hints_ || sitemaps_;
  reach.sitemaps = sitemaps_;
  if (!agent_.empty()) reach.agent = agent_ == "none" ? "" : agent_;
  std::set<std::string, std::less<>> scope;
  for (const std::string& seed : reachable_from_) {
    const auto url = web::Url::parse(seed);
    if (!url || !url->is_http() || !world.census().host_of_name(url->host())) {
      return base::fail(base::ErrorCode::kInvalid, "{} is no URL of this web", base::quoted(seed));
    }
    scope.insert(std::string(url->host()));
  }
  if (same_host_) reach.in_scope = [&](std::string_view host) { return scope.contains(host); };
  for (const sim::Reached& one : sim::reachable(world, reach)) {
    if (!everything_ && one.kind != sim::Place::Kind::kPage) continue;
    if (names.empty() || names.contains(one.host)) lister.list_reached(one, everything_);
  }
  return {};
}

}  // namespace meguri::app
