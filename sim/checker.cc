#include "sim/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/leads.h"
#include "web/canonical.h"
#include "web/robots.h"
#include "web/url.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

// Requests to one host or server that have not ended, and the last that has.
struct Traffic {
  std::vector<Instant> open;  // when they end
  std::optional<Instant> last_end;
  Duration last_duration;
  bool is_page_asked = false;  // anything but robots.txt

  // Forgets what has ended by `now`.
  void advance(Instant now) {
    std::erase_if(open, [&](Instant end) { return end <= now; });
  }
};

struct HostFacts {
  std::optional<HostNumber> number;
  web::Robots robots;
  Duration crawl_delay;
  bool is_hostile = false;  // where it leads is not known, nor what of it is worth another visit
};

class Judge {
 public:
  Judge(const World& world, std::span<const Access> log, const CheckOptions& options)
      : world_(world), log_(log), options_(options) {
    for (const std::string& seed : options.seeds) learn_url(seed);
  }

  CheckReport run() {
    std::vector<std::size_t> order(log_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(log_[i].arrival, i); });
    for (const std::size_t i : order) {
      finish_until(log_[i].arrival);
      judge(i);
      endings_.emplace(log_[i].end, i);
    }
    report_.accesses = log_.size();
    return std::move(report_);
  }

 private:
  using Ending = std::pair<Instant, std::size_t>;

  void say(BreachKind kind, std::size_t access, std::string why) {
    ++report_.counts[static_cast<std::size_t>(kind)];
    if (report_.breaches.size() < options_.breaches_max) {
      report_.breaches.push_back({kind, access, std::move(why)});
    }
  }

  static std::string key_of(std::string_view host, std::string_view target) {
    return fmt::format("{}{}", host, target);
  }

  const HostFacts& facts_of(const std::string& host) {
    const auto [found, is_new] = facts_.try_emplace(host);
    HostFacts& facts = found->second;
    if (!is_new) return facts;
    if (const HostileHabit* habit = world_.hostile().of_host(host)) {
      facts.is_hostile = true;
      return read_robots(HostileWeb::robots_of(*habit, world_.start()), &facts);
    }
    facts.number = world_.census().host_of_name(host);
    if (!facts.number) return facts;
    const Site site(world_.census(), *facts.number);
    return read_robots(world_.robots_of(site, {.host = host}), &facts);
  }

  const HostFacts& read_robots(std::string_view text, HostFacts* read) const {
    HostFacts& facts = *read;
    facts.robots = web::Robots::parse(text, options_.agent);
    facts.crawl_delay = facts.robots.crawl_delay().value_or(Duration());
    return facts;
  }

  // What fails for now may be tried again.
  static bool is_answered(const Access& access) {
    const bool is_busy = access.status == 408 || access.status == 429 || access.status >= 500;
    return access.bytes > 0 && !is_busy;
  }

  void judge(std::size_t i) {
    const Access& access = log_[i];
    const HostFacts& facts = facts_of(access.host);
    judge_host(i, facts);
    judge_server(i);
    if (const auto verdict = facts.robots.check(access.target); !verdict.allowed) {
      say(BreachKind::kRobots, i,
          fmt::format("line {} of robots.txt forbids {}", verdict.line, access.target));
    }
    const std::string key = key_of(access.host, access.target);
    const bool is_robots = access.target == "/robots.txt";
    if (facts.is_hostile) return;
    if (!options_.seeds.empty() && !is_robots && !known_.contains(key)) {
      say(BreachKind::kUnlinked, i, fmt::format("nothing fetched before leads to {}", key));
    }
    if (!options_.once || is_robots) return;
    if (answered_.contains(key)) {
      say(BreachKind::kRepeated, i, fmt::format("{} was fetched before", key));
    }
    if (is_answered(access)) answered_.insert(key);
  }

  void judge_host(std::size_t i, const HostFacts& facts) {
    const Access& access = log_[i];
    Traffic& traffic = hosts_[access.host];
    traffic.advance(access.arrival);
    if (!traffic.open.empty()) {
      say(BreachKind::kHostOverlap, i,
          fmt::format("another request to {} had not ended", access.host));
    } else if (traffic.last_end) {
      const Duration gap = access.arrival - *traffic.last_end + options_.tolerance;
      const auto scaled = Duration::from_ms(static_cast<std::int64_t>(
          static_cast<double>(traffic.last_duration.ms()) * options_.host_gap_factor));
      const Duration asked = std::max(options_.host_gap, scaled);
      if (gap < asked) {
        say(BreachKind::kHostGap, i,
            fmt::format("{} s after the last answer of {}, not {} s", gap.in_seconds(), access.host,
                        asked.in_seconds()));
      }
      // Who asks for robots.txt again before any page, as after a crash, cannot know of it yet.
      const bool is_known = traffic.is_page_asked || access.target != "/robots.txt";
      if (is_known && gap < facts.crawl_delay) {
        say(BreachKind::kCrawlDelay, i,
            fmt::format("{} s after the last answer of {}, which asks for {} s", gap.in_seconds(),
                        access.host, facts.crawl_delay.in_seconds()));
      }
    }
    note(access, &traffic);
  }

  void judge_server(std::size_t i) {
    const Access& access = log_[i];
    Traffic& traffic = servers_[access.server];
    traffic.advance(access.arrival);
    if (traffic.open.size() >= options_.server_parallel) {
      say(BreachKind::kServerOverlap, i,
          fmt::format("{} requests to {} had not ended", traffic.open.size(), access.server));
    } else if (traffic.open.empty() && traffic.last_end) {
      const Duration gap = access.arrival - *traffic.last_end + options_.tolerance;
      if (gap < options_.server_gap) {
        say(BreachKind::kServerGap, i,
            fmt::format("{} s after the last answer of {}, not {} s", gap.in_seconds(),
                        access.server, options_.server_gap.in_seconds()));
      }
    }
    note(access, &traffic);
  }

  static void note(const Access& access, Traffic* traffic) {
    traffic->open.push_back(access.end);
    if (access.target != "/robots.txt") traffic->is_page_asked = true;
    if (!traffic->last_end || access.end > *traffic->last_end) {
      traffic->last_end = access.end;
      traffic->last_duration = access.end - access.arrival;
    }
  }

  // What was answered by `now` may be followed.
  void finish_until(Instant now) {
    while (!endings_.empty() && endings_.top().first <= now) {
      const std::size_t i = endings_.top().second;
      endings_.pop();
      if (!options_.seeds.empty()) learn(log_[i]);
    }
  }

  void learn_url(std::string_view text) {
    const auto url = web::Url::parse(text);
    if (!url || !url->is_http()) return;
    const web::Url canonical = web::canonical(*url);
    std::string target(canonical.path());
    if (canonical.has_query()) target.append("?").append(canonical.query());
    known_.insert(key_of(canonical.host(), target));
  }

  // Adds where an answer leads. It was made some time between arrival and end, so both count.
  void learn(const Access& access) {
    if (!has_leads(access)) return;
    for (const Instant moment : {access.arrival, access.end}) {
      for (const Lead& lead : leads_of(world_, access.host, access.target, moment)) {
        known_.insert(key_of(lead.host, lead.target));
      }
    }
  }

  const World& world_;
  std::span<const Access> log_;
  const CheckOptions& options_;
  CheckReport report_;
  std::unordered_map<std::string, HostFacts> facts_;
  std::unordered_map<std::string, Traffic> hosts_;
  std::unordered_map<std::string, Traffic> servers_;
  std::unordered_set<std::string> known_;
  std::unordered_set<std::string> answered_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
};

}  // namespace

std::string_view name_of(BreachKind kind) {
  constexpr std::array<std::string_view, kBreachKinds> kNames = {
      "host-overlap", "server-overlap", "host-gap", "server-gap",
      "crawl-delay",  "robots",         "unlinked", "repeated"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::size_t CheckReport::total() const {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

CheckReport check_log(const World& world, std::span<const Access> log,
                      const CheckOptions& options) {
  return Judge(world, log, options).run();
}

}  // namespace meguri::sim
