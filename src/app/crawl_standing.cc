#include "app/crawl_standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace meguri::app {

CrawlStanding CrawlStanding::of(const crawl::RegistryCounts& counts) {
  CrawlStanding standing;
  standing.known = counts.known;
  standing.done = counts.done;
  standing.waiting = counts.waiting;
  standing.in_flight =
      counts.in_flight.load() - std::min(counts.in_flight.load(), counts.in_flight_again.load());
  standing.again = counts.due_again + counts.in_flight_again;
  standing.revisits = counts.handed_out_again;
  for (std::size_t i = 0; i < counts.visited.size(); ++i) standing.visited[i] = counts.visited[i];
  for (std::size_t i = 0; i < counts.refused.size(); ++i) standing.refused[i] = counts.refused[i];
  return standing;
}

void CrawlStanding::add(const crawl::RegistryState& registry) {
  known += registry.known;
  done += registry.done;
  waiting += registry.known - registry.done;
  for (std::size_t i = 0; i < registry.visited.size(); ++i) visited[i] += registry.visited[i];
  for (std::size_t i = 0; i < registry.refused.size(); ++i) refused[i] += registry.refused[i];
}

nlohmann::json CrawlStanding::to_json() const {
  nlohmann::json by_outcome;
  for (std::size_t i = 0; i < visited.size(); ++i) {
    by_outcome[std::string(name_of(static_cast<crawl::VisitOutcome>(i)))] = visited[i];
  }
  nlohmann::json by_refusal;
  for (std::size_t i = 0; i < refused.size(); ++i) {
    by_refusal[std::string(name_of(static_cast<crawl::Refusal>(i)))] = refused[i];
  }
  return {{"pages", known},       {"done", done},         {"waiting", left()},
          {"due_again", again},   {"revisits", revisits}, {"visited", by_outcome},
          {"refused", by_refusal}};
}

std::string CrawlStanding::to_string() const {
  std::string text = fmt::format("{} of {} pages done", done, known);
  for (std::size_t i = 0; i < visited.size(); ++i) {
    if (visited[i] == 0) continue;
    text += fmt::format(", {} {}", visited[i], name_of(static_cast<crawl::VisitOutcome>(i)));
  }
  for (std::size_t i = 0; i < refused.size(); ++i) {
    if (refused[i] == 0) continue;
    text += fmt::format(", {} refused ({})", refused[i], name_of(static_cast<crawl::Refusal>(i)));
  }
  return text;
}

nlohmann::json status_json(const crawl::RegistryCounts& counts,
                           const crawl::AccessSummary& access) {
  const CrawlStanding standing = CrawlStanding::of(counts);
  nlohmann::json json = standing.to_json();
  json["ok"] = true;
  json["running"] = true;
  json["standing"] = standing.to_string();
  json["schedule"] = access.to_string();
  json["paused"] = access.paused;
  json["hosts_paused"] = access.hosts_paused;
  return json;
}

base::Status CrawlStanding::check_visited() const {
  for (const std::uint64_t count : visited) {
    if (count > 0) return {};
  }
  if (waiting > 0) return {};  // for those who paused it
  const auto is_refused = [this](crawl::Refusal refusal) {
    return refused[static_cast<std::size_t>(refusal)] > 0;
  };
  std::string_view why =
      "no seed is a page that may be visited; 'meguri inspect --offline URL' "
      "says why";
  if (is_refused(crawl::Refusal::kParked)) {
    why = "hosts do not answer, or ask for too long a delay";
  } else if (is_refused(crawl::Refusal::kForbidden)) {
    why = "hosts have addresses that are not public; --allow-network allows them";
  } else if (is_refused(crawl::Refusal::kUnresolved)) {
    why = "hosts have no address; check how they are spelt, and the network";
  } else if (is_refused(crawl::Refusal::kRobots)) {
    why = "robots.txt forbids all of them";
  }
  return base::fail(base::ErrorCode::kFailed, "nothing was visited: {}", why);
}

}  // namespace meguri::app
