#include <cmath>
#include <nlohmann/json.hpp>

#include "app/crawl_report.h"
#include "crawl/host_load.h"

namespace meguri::app {

namespace {

using Json = nlohmann::ordered_json;

Json time_of(const std::optional<base::Instant>& time) {
  return time ? Json(time->to_rfc3339()) : Json();
}

// Null: there is nothing to divide by.
Json share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

// An edge of the bins; null where they are open.
Json edge(std::span<const double> edges, std::size_t i) {
  return i < edges.size() ? Json(edges[i]) : Json();
}

Json json_of(const PageFigures& pages) {
  Json bins = Json::array();
  for (std::size_t i = 0; i < pages.paces.size(); ++i) {
    const PaceBin& bin = pages.paces[i];
    bins.push_back({{"from_s", i == 0 ? Json(0) : edge(interval_edges(), i - 1)},
                    {"to_s", edge(interval_edges(), i)},
                    {"pages", bin.pages},
                    {"visits", bin.visits},
                    {"versions", bin.versions},
                    {"rate_mean", bin.pages == 0 ? Json() : Json(bin.rate_mean())},
                    {"rate_deviation", bin.pages == 0 ? Json() : Json(bin.rate_deviation())}});
  }
  Json reasons = Json::object();
  for (const auto& [reason, count] : pages.reasons) {
    reasons[std::string(revisit::name_of(reason))] = count;
  }
  return {{"visits", pages.visits},
          {"versions", pages.versions},
          {"first_visit", time_of(pages.first_visit)},
          {"last_visit", time_of(pages.last_visit)},
          {"seen_once", pages.seen_once},
          {"seen_again", pages.seen_again},
          {"reasons", std::move(reasons)},
          {"intervals", std::move(bins)}};
}

// Where a value lies below each edge.
Json json_of(const Distribution& values, const char* unit) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < values.edges().size(); ++i) {
    rows.push_back({{unit, values.edges()[i]}, {"below", values.below(i)}});
  }
  return {{"count", values.total()}, {"cumulative", std::move(rows)}};
}

Json json_of(const HostBurden& host) {
  const double ratio = crawl::feasibility(host.visits_a_day, host.download);
  return {{"host", host.name},
          {"pages", host.pages},
          {"visits_a_day_wanted", host.visits_a_day},
          {"seconds_between", host.seconds_between()},
          {"access_ms", host.access.ms()},
          {"download_ms", host.download.ms()},
          {"feasibility", std::isfinite(ratio) ? Json(ratio) : Json()},
          {"feasible", host.is_feasible()}};
}

Json json_of(const HostFigures& hosts) {
  Json tightest = Json::array();
  for (const HostBurden& host : hosts.tightest) tightest.push_back(json_of(host));
  return {{"hosts", hosts.hosts},
          {"loaded", hosts.loaded},
          {"feasible", hosts.feasible},
          {"visits_a_day_wanted", hosts.visits_a_day},
          {"hosts_per_connection", hosts.hosts_per_connection},
          {"ratio_below_one", hosts.ratio_below_one},
          {"ratio_below_hosts_per_connection", hosts.ratio_below_share},
          {"between", json_of(hosts.between, "s")},
          {"downloads", json_of(hosts.downloads, "s")},
          {"ratios", json_of(hosts.ratios, "ratio")},
          {"tightest", std::move(tightest)}};
}

Json json_of(const VisitFigures& visits) {
  Json outcomes = Json::object();
  for (std::size_t i = 0; i < visits.outcomes.size(); ++i) {
    outcomes[std::string(crawl::name_of(static_cast<crawl::VisitOutcome>(i)))] = visits.outcomes[i];
  }
  const std::uint64_t answered = visits.downloads.total();
  return {{"pages", visits.pages},
          {"robots", visits.robots},
          {"refusals", visits.refusals},
          {"unanswered", visits.unanswered},
          {"not_modified", visits.not_modified},
          {"not_modified_share", share(visits.not_modified, visits.pages)},
          {"bytes", visits.bytes},
          {"outcomes", std::move(outcomes)},
          {"download_mean_s",
           answered == 0 ? Json() : Json(visits.duration.in_seconds() / double(answered))},
          {"downloads", json_of(visits.downloads, "s")}};
}

}  // namespace

nlohmann::ordered_json CrawlReport::to_json() const {
  Json json = {{"archive", archive},
               {"made", made.to_rfc3339()},
               {"running", is_running},
               {"epoch", epoch},
               {"host_wait_s", host_wait.in_seconds()},
               {"connections", connections},
               {"standing", standing.to_json()}};
  json["pages"] = pages ? json_of(*pages) : Json();
  json["hosts"] = json_of(hosts);
  json["visits"] = visits ? json_of(*visits) : Json();
  json["notes"] = notes;
  return json;
}

}  // namespace meguri::app
