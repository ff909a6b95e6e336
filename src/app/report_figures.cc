#include "app/report_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "app/figures.h"

namespace meguri::app {

namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3600;
constexpr double kDay = 86'400;

constexpr auto kFineTicks = std::to_array<double>(
    {0.001,        0.002,      0.005,      0.01,        0.02,        0.05,
     0.1,          0.2,        0.5,        1,           2,           5,
     10,           30,         kMinute,    2 * kMinute, 5 * kMinute, 10 * kMinute,
     30 * kMinute, kHour,      3 * kHour,  6 * kHour,   12 * kHour,  kDay,
     2 * kDay,     4 * kDay,   7 * kDay,   14 * kDay,   30 * kDay,   60 * kDay,
     100 * kDay,   200 * kDay, 400 * kDay, 1000 * kDay});
constexpr auto kMiddleTicks =
    std::to_array<double>({0.001, 0.01, 0.1, 1, 10, kMinute, 10 * kMinute, kHour, 6 * kHour, kDay,
                           7 * kDay, 30 * kDay, 100 * kDay, 400 * kDay, 1000 * kDay});
constexpr auto kCoarseTicks =
    std::to_array<double>({0.001, 0.1, 10, 10 * kMinute, kHour, kDay, 30 * kDay, 1000 * kDay});

// The ticks of `all` from the last at or below `low` to the first at or above `high`.
std::vector<double> ticks_between(std::span<const double> all, double low, double high) {
  auto first = std::ranges::upper_bound(all, low);
  if (first != all.begin()) --first;
  auto last = std::ranges::lower_bound(all, high);
  if (last != all.end()) ++last;
  return {first, std::max(first, last)};
}

// A logarithmic axis of times, with as many ticks as can be told apart.
PlotAxis duration_axis(std::string label, double low, double high) {
  constexpr std::size_t kTicksMax = 10;
  PlotAxis axis{.label = std::move(label), .is_log = true};
  for (const std::span<const double> all :
       {std::span<const double>(kFineTicks), std::span<const double>(kMiddleTicks),
        std::span<const double>(kCoarseTicks)}) {
    axis.ticks = ticks_between(all, low, high);
    if (axis.ticks.size() <= kTicksMax) break;
  }
  for (const double tick : axis.ticks) axis.tick_names.push_back(duration_name(tick));
  return axis;
}

std::string edge_name(double seconds) { return duration_name(seconds); }

// --- Figures 3 and 4.

// Bins from the first that has pages to the last; first > last: none has.
struct BinRange {
  std::size_t first = 1;
  std::size_t last = 0;
};

BinRange filled_bins(const PageFigures& pages) {
  const auto is_filled = [](const PaceBin& bin) { return bin.pages > 0; };
  const auto first = std::ranges::find_if(pages.paces, is_filled);
  if (first == pages.paces.end()) return {};
  std::size_t last = pages.paces.size() - 1;
  while (!is_filled(pages.paces[last])) --last;
  return {static_cast<std::size_t>(first - pages.paces.begin()), last};
}

// Where a bin is drawn; those that are open end where they would if edges went on.
double begin_of(std::size_t bin) {
  const auto edges = interval_edges();
  return bin == 0 ? edges.front() / 2 : edges[bin - 1];
}
double end_of(std::size_t bin) {
  const auto edges = interval_edges();
  return bin == edges.size() ? edges.back() * 1.25 : edges[bin];
}

std::string bin_name(std::size_t bin) {
  const auto edges = interval_edges();
  if (bin == 0) return "below " + edge_name(edges.front());
  if (bin == edges.size()) return edge_name(edges.back()) + " and more";
  return edge_name(edges[bin - 1]) + " to " + edge_name(edges[bin]);
}

PlotAxis pace_axis(const BinRange& bins) {
  if (bins.first > bins.last) return duration_axis("interval between visits", kHour, kDay);
  return duration_axis("interval between visits", begin_of(bins.first), end_of(bins.last));
}

ReportFigure interval_figure(const PageFigures& pages) {
  ReportFigure figure;
  figure.name = "intervals";
  figure.text = fmt::format(
      "How long each page is left alone between visits, as it stands now. {} seen only once {} "
      "left out: when those come again is chance.",
      counted(pages.seen_once, "page", "pages"), pages.seen_once == 1 ? "is" : "are");
  const BinRange bins = filled_bins(pages);
  figure.plot.title = "Revisit intervals";
  figure.plot.x = pace_axis(bins);
  figure.plot.y = {.label = "pages"};
  figure.table = {"Pages by their interval", {"interval", "pages", "share"}};
  PlotSeries bars{"pages", {}};
  for (std::size_t i = bins.first; i <= bins.last; ++i) {
    bars.points.emplace_back(begin_of(i), static_cast<double>(pages.paces[i].pages));
    bars.ends.push_back(end_of(i));
    figure.table.rows.push_back({bin_name(i), grouped(pages.paces[i].pages),
                                 percent(pages.paces[i].pages, pages.seen_again)});
  }
  if (!bars.points.empty()) figure.plot.series.push_back(std::move(bars));
  return figure;
}

ReportFigure rate_figure(const PageFigures& pages) {
  ReportFigure figure;
  figure.name = "changes";
  figure.text =
      "Of a page's visits, the share that found a new version, its first included: the mean over "
      "the pages of about one interval, and by how much pages differ from it. Near 1 hardly a "
      "visit is in vain, and versions may be missed between them; near 0 visits could be rarer. "
      "Pages that were never there, at any visit, count with none.";
  const BinRange bins = filled_bins(pages);
  figure.plot.title = "Visits that found a change, by interval";
  figure.plot.x = pace_axis(bins);
  figure.plot.y = {.label = "versions per visit", .ticks = {0, 0.2, 0.4, 0.6, 0.8, 1}};
  figure.table = {"Versions per visit",
                  {"interval", "pages", "visits", "versions", "mean", "deviation"}};
  PlotSeries mean{"mean of pages, deviation", {}};
  PlotSeries pooled{"all their visits together", {}};
  for (std::size_t i = bins.first; i <= bins.last; ++i) {
    const PaceBin& bin = pages.paces[i];
    if (bin.pages == 0) continue;
    const double x = std::sqrt(begin_of(i) * end_of(i));
    mean.points.emplace_back(x, bin.rate_mean());
    mean.spreads.push_back(bin.rate_deviation());
    pooled.points.emplace_back(x,
                               static_cast<double>(bin.versions) / static_cast<double>(bin.visits));
    figure.table.rows.push_back({bin_name(i), grouped(bin.pages), grouped(bin.visits),
                                 grouped(bin.versions), fmt::format("{:.3f}", bin.rate_mean()),
                                 fmt::format("{:.3f}", bin.rate_deviation())});
  }
  if (!mean.points.empty()) figure.plot.series = {std::move(mean), std::move(pooled)};
  return figure;
}

// --- Figures 5 to 7: how many lie below each edge.

std::vector<std::pair<double, double>> counts_below(const Distribution& values) {
  std::vector<std::pair<double, double>> points;
  const auto range = values.telling_edges();
  for (std::size_t i = range.first; i <= range.last; ++i) {
    points.emplace_back(values.edges()[i], static_cast<double>(values.below(i)));
  }
  return points;
}

template <typename NameOf>
void add_rows(const Distribution& values, NameOf name_of, ReportTable& table) {
  const auto range = values.telling_edges();
  for (std::size_t i = range.first; i <= range.last; ++i) {
    table.rows.push_back({name_of(values.edges()[i]), grouped(values.below(i)),
                          percent(values.below(i), values.total())});
  }
}

struct Span {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;

  void add(double value) {
    if (!(value > 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void add(const Distribution& values) {
    const auto range = values.telling_edges();
    if (range.first > range.last) return;
    add(values.edges()[range.first]);
    add(values.edges()[range.last]);
  }
};

PlotAxis duration_axis(std::string label, const Span& span) {
  if (span.low > span.high) return duration_axis(std::move(label), 1, 60);
  return duration_axis(std::move(label), span.low, span.high);
}

ReportFigure between_figure(const CrawlReport& report) {
  const HostFigures& hosts = report.hosts;
  ReportFigure figure;
  figure.name = "hosts";
  figure.text = fmt::format(
      "1/L is how much time may pass between two visits of a host if all its pages are to be "
      "visited in time: L adds up how often each of them wants to be. {} of {} bear that: their "
      "1/L is not less than their wait, which is at least {}, and the time of an answer. The "
      "others have their pages' intervals stretched. That hosts of one address take turns is not "
      "counted here.",
      grouped(hosts.feasible), counted(hosts.loaded, "host", "hosts"),
      duration_name(report.host_wait.in_seconds()));
  figure.plot.title = "What hosts are asked for: 1/L, cumulative";
  Span span;
  span.add(hosts.between);
  if (hosts.loaded > 0) span.add(0.8 * report.host_wait.in_seconds());  // off the edge
  figure.plot.x = duration_axis("1/L: time between two visits of a host", span);
  figure.plot.y = {.label = "hosts with less", .is_log = true};
  if (hosts.loaded > 0) figure.plot.series.push_back({"hosts", counts_below(hosts.between)});
  const double wait = report.host_wait.in_seconds();
  if (wait > 0) {
    figure.plot.lines.push_back({PlotLine::Kind::kAtX, "least wait, " + duration_name(wait), wait});
  }
  figure.table = {"Hosts with a 1/L below", {"1/L below", "hosts", "share"}};
  add_rows(hosts.between, edge_name, figure.table);
  return figure;
}

void add_shares(const std::string& name, const Distribution& values, Plot& plot) {
  if (values.total() == 0) return;
  PlotSeries series{name, counts_below(values)};
  for (auto& [x, y] : series.points) y *= 100 / static_cast<double>(values.total());
  plot.series.push_back(std::move(series));
}

ReportFigure download_figure(const CrawlReport& report) {
  ReportFigure figure;
  figure.name = "downloads";
  figure.text =
      "How long answers take, from the request to their last byte: of each host the mean of late, "
      "and each visit of the crawl log that was answered by itself.";
  const Distribution& hosts = report.hosts.downloads;
  figure.plot.title = "Download times, cumulative";
  Span span;
  span.add(hosts);
  if (report.visits) span.add(report.visits->downloads);
  figure.plot.x = duration_axis("download time", span);
  figure.plot.y = {.label = "share below (%)", .ticks = {0, 20, 40, 60, 80, 100}};
  add_shares("hosts, their means", hosts, figure.plot);
  if (report.visits) add_shares("visits", report.visits->downloads, figure.plot);
  figure.table = {"Download times below", {"below", "hosts", "share", "visits", "share"}};
  const auto edges = download_edges();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i] < span.low || edges[i] > span.high) continue;
    std::vector<std::string> row = {edge_name(edges[i]), grouped(hosts.below(i)),
                                    percent(hosts.below(i), hosts.total()), "–", "–"};
    if (report.visits) {
      const Distribution& visits = report.visits->downloads;
      row[3] = grouped(visits.below(i));
      row[4] = percent(visits.below(i), visits.total());
    }
    figure.table.rows.push_back(std::move(row));
  }
  return figure;
}

ReportFigure ratio_figure(const CrawlReport& report) {
  const HostFigures& hosts = report.hosts;
  ReportFigure figure;
  figure.name = "ratios";
  figure.text = fmt::format(
      "R = (1/L) / e: how many times as long as an answer the time between two visits of a host "
      "is. "
      "Below 1 its pages cannot be visited in time one after another, however short the waits are: "
      "{}. Below S/C, the {} that are asked for something over {} connections, these connections "
      "are too few: {}.",
      counted(hosts.ratio_below_one, "host", "hosts"), counted(hosts.loaded, "host", "hosts"),
      grouped(report.connections), counted(hosts.ratio_below_share, "host", "hosts"));
  figure.plot.title = "Whether the schedule can be met: R, cumulative";
  figure.plot.x = {.label = "R = (1/L) / mean download time", .is_log = true};
  figure.plot.y = {.label = "hosts with less", .is_log = true};
  if (hosts.ratios.total() > 0) figure.plot.series.push_back({"hosts", counts_below(hosts.ratios)});
  figure.plot.lines.push_back({PlotLine::Kind::kAtX, "R = 1", 1});
  if (hosts.hosts_per_connection > 0) {
    figure.plot.lines.push_back({PlotLine::Kind::kAtX,
                                 "S/C = " + plot_number(hosts.hosts_per_connection),
                                 hosts.hosts_per_connection});
  }
  figure.table = {"Hosts with an R below", {"R below", "hosts", "share"}};
  add_rows(hosts.ratios, plot_number, figure.table);
  return figure;
}

}  // namespace

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "–";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::vector<ReportFigure> report_figures(const CrawlReport& report) {
  std::vector<ReportFigure> figures;
  if (report.pages) {
    figures.push_back(interval_figure(*report.pages));
    figures.push_back(rate_figure(*report.pages));
  }
  figures.push_back(between_figure(report));
  figures.push_back(download_figure(report));
  figures.push_back(ratio_figure(report));
  return figures;
}

}  // namespace meguri::app
