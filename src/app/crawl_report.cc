#include "app/crawl_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/svg_plot.h"
#include "base/text.h"
#include "crawl/host_load.h"
#include "crawl/revisit_plan.h"

namespace meguri::app {

namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kDay = 86'400;

constexpr std::array kIntervalEdges = {
    kMinute,    2 * kMinute, 5 * kMinute, 10 * kMinute, 20 * kMinute, 30 * kMinute,
    kHour,      2 * kHour,   3 * kHour,   6 * kHour,    12 * kHour,   kDay,
    2 * kDay,   4 * kDay,    7 * kDay,    14 * kDay,    30 * kDay,    60 * kDay,
    100 * kDay, 200 * kDay,  300 * kDay,  400 * kDay};

constexpr std::array kBetweenEdges = {
    0.01,        0.02,         0.05,         0.1,          0.2,        0.5,        1.0,
    2.0,         5.0,          10.0,         20.0,         30.0,       kMinute,    2 * kMinute,
    5 * kMinute, 10 * kMinute, 20 * kMinute, 30 * kMinute, kHour,      2 * kHour,  3 * kHour,
    6 * kHour,   12 * kHour,   kDay,         2 * kDay,     4 * kDay,   7 * kDay,   14 * kDay,
    30 * kDay,   60 * kDay,    100 * kDay,   200 * kDay,   400 * kDay, 1000 * kDay};

constexpr std::array kDownloadEdges = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,  0.2,   0.5,
                                       1.0,   2.0,   5.0,   10.0, 20.0, 30.0, 60.0, 120.0, 300.0};

constexpr std::array kRatioEdges = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
                                    10.0, 20.0, 50.0, 1e2, 2e2, 5e2, 1e3, 2e3, 5e3,
                                    1e4,  2e4,  5e4,  1e5, 2e5, 5e5, 1e6, 1e7, 1e8};

void widen(std::optional<base::Instant>& first, std::optional<base::Instant>& last,
           base::Instant from, base::Instant to) {
  first = first ? std::min(*first, from) : from;
  last = last ? std::max(*last, to) : to;
}

}  // namespace

double PaceBin::rate_mean() const { return pages == 0 ? 0 : rates / static_cast<double>(pages); }

double PaceBin::rate_deviation() const {
  if (pages == 0) return 0;
  const double mean = rate_mean();
  return std::sqrt(std::max(0.0, rate_squares / static_cast<double>(pages) - mean * mean));
}

std::span<const double> interval_edges() { return kIntervalEdges; }
std::span<const double> download_edges() { return kDownloadEdges; }

PageFigures::PageFigures() : paces(kIntervalEdges.size() + 1) {}

void PageFigures::add(const crawl::PageRecord& record) {
  ++pages;
  visits += record.visits;
  const revisit::ChangeState& changes = record.changes;
  versions += changes.versions;
  if (record.is_done()) ++reasons[record.reason];
  if (record.visits > 0) {
    widen(first_visit, last_visit, changes.visits > 0 ? changes.first_visit : record.visited,
          record.visited);
  }
  const base::Duration interval = crawl::interval_of(record);
  if (interval == base::Duration() || changes.visits == 0) return;
  if (changes.visits == 1) {
    ++seen_once;
    return;
  }
  ++seen_again;
  const double rate = static_cast<double>(changes.versions) / changes.visits;
  PaceBin& bin = paces[Distribution::bin_of(kIntervalEdges, interval.in_seconds())];
  ++bin.pages;
  bin.visits += changes.visits;
  bin.versions += changes.versions;
  bin.rates += rate;
  bin.rate_squares += rate * rate;
}

HostFigures::HostFigures(std::uint64_t loaded_hosts, std::uint64_t connections)
    : hosts_per_connection(static_cast<double>(loaded_hosts) /
                           static_cast<double>(std::max<std::uint64_t>(1, connections))),
      between(kBetweenEdges),
      downloads(kDownloadEdges),
      ratios(kRatioEdges) {}

void HostFigures::add(const HostBurden& host) {
  ++hosts;
  if (host.download > base::Duration()) downloads.add(host.download.in_seconds());
  if (!host.is_loaded()) return;
  ++loaded;
  visits_a_day += host.visits_a_day;
  between.add(host.seconds_between());
  if (host.is_feasible()) ++feasible;
  if (host.download > base::Duration()) {
    const double ratio = crawl::feasibility(host.visits_a_day, host.download);
    ratios.add(ratio);
    if (ratio < 1) ++ratio_below_one;
    if (ratio < hosts_per_connection) ++ratio_below_share;
  }
  const auto room = [](const HostBurden& one) {
    return one.seconds_between() / std::max(one.access.in_seconds(), 1e-3);
  };
  const auto place = std::ranges::upper_bound(tightest, room(host), {}, room);
  if (place == tightest.end() && tightest.size() == kTightestMax) return;
  tightest.insert(place, host);
  if (tightest.size() > kTightestMax) tightest.pop_back();
}

VisitFigures::VisitFigures() : downloads(kDownloadEdges) {}

void VisitFigures::add(const crawl::LoggedVisit& visit) {
  using Kind = crawl::LoggedVisit::Kind;
  if (visit.kind == Kind::kRefusal) {
    ++refusals;
    return;
  }
  bytes += visit.bytes;
  if (visit.kind == Kind::kRobots) {
    ++robots;
    return;
  }
  ++pages;
  if (visit.outcome) ++outcomes[static_cast<std::size_t>(*visit.outcome)];
  if (visit.status == 304) ++not_modified;
  if (visit.status == 0) {
    ++unanswered;
    return;
  }
  duration = duration + visit.duration;
  downloads.add(visit.duration.in_seconds());
}

std::string duration_name(double seconds) {
  if (seconds < 1) return plot_number(seconds * 1000) + " ms";
  if (seconds < kMinute) return plot_number(seconds) + " s";
  if (seconds < kHour) return plot_number(seconds / kMinute) + " min";
  if (seconds < kDay) return plot_number(seconds / kHour) + " h";
  return plot_number(seconds / kDay) + " d";
}

}  // namespace meguri::app
