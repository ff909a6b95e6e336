#include "app/crawl_judgement.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace meguri::app {
namespace {

using base::Duration;

constexpr std::string_view kRobots = "/robots.txt";

sim::ReachOptions reach_options(const std::string& seed, base::Instant at) {
  sim::ReachOptions options;
  options.seeds = {seed};
  options.at = at;
  return options;
}

void read_log(std::span<const sim::Access> log, CrawlJudgement& judgement) {
  std::vector<const sim::Access*> order;
  order.reserve(log.size());
  for (const sim::Access& access : log) order.push_back(&access);
  std::ranges::sort(order, {}, [](const sim::Access* access) { return access->arrival; });

  std::map<std::string_view, base::Instant> last_end;  // by host
  std::set<std::pair<std::string_view, std::string_view>> seen;
  Duration least = Duration::max();
  for (const sim::Access* access : order) {
    const auto [last, is_first] = last_end.try_emplace(access->host, access->end);
    if (!is_first) {
      least = std::min(least, access->arrival - last->second);
      last->second = std::max(last->second, access->end);
    }
    const bool is_new = seen.emplace(access->host, access->target).second;
    if (!is_new && access->target != kRobots) ++judgement.asked_again;
  }
  judgement.requests = log.size();
  judgement.hosts = last_end.size();
  judgement.least_gap = least == Duration::max() ? Duration() : least;
  if (!order.empty()) judgement.span = order.back()->arrival - order.front()->arrival;
}

}  // namespace

std::vector<sim::Reached> truth_of(const sim::World& world, const std::string& seed,
                                   base::Instant at) {
  return sim::reachable(world, reach_options(seed, at));
}

std::string url_of(const sim::Reached& one, std::string_view port) {
  return sim::Origin{"http", one.host, port}.text().append(one.target);
}

CrawlJudgement judge(const JudgedCrawl& crawl) {
  CrawlJudgement judgement;
  const auto& embeds = crawl.archive.embeds;
  for (const sim::Reached& one : crawl.truth) {
    std::string url = url_of(one, crawl.port);
    if (one.kind == sim::Place::Kind::kImage && !embeds.contains(url)) continue;
    ++judgement.expected;
    if (!crawl.archive.visits.contains(url)) judgement.missing.push_back(std::move(url));
  }
  for (const auto& [url, answers] : crawl.archive.answers) {
    if (answers > 1) judgement.twice.push_back(url);
  }
  for (const sim::Lead& lead :
       sim::left_out(crawl.world, crawl.log, reach_options(crawl.seed, base::Instant()))) {
    const std::string url = sim::Origin{"http", lead.host, crawl.port}.text() + lead.target;
    if (lead.kind != sim::LeadKind::kEmbed || embeds.contains(url)) ++judgement.unfollowed;
  }

  sim::CheckOptions options;
  options.seeds = {crawl.seed};
  judgement.politeness = sim::check_log(crawl.world, crawl.log, options);
  read_log(crawl.log, judgement);
  return judgement;
}

}  // namespace meguri::app
