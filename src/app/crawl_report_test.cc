#include "app/crawl_report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/report_figures.h"

namespace meguri::app {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

crawl::PageRecord visited(Duration interval, std::uint32_t visits, std::uint32_t versions) {
  crawl::PageRecord record;
  record.state = crawl::PageState::kVisited;
  record.outcome = crawl::VisitOutcome::kUnchanged;
  record.reason = revisit::Reason::kEstimate;
  record.visits = visits;
  record.visited = kStart + Duration::days(visits);
  record.changes.first_visit = kStart;
  record.changes.last_visit = record.visited;
  record.changes.interval = interval;
  record.changes.visits = visits;
  record.changes.versions = versions;
  return record;
}

const PaceBin& bin_of(const PageFigures& pages, Duration interval) {
  return pages.paces[Distribution::bin_of(interval_edges(), interval.in_seconds())];
}

TEST(PageFigures, CountsPagesByTheirIntervals) {
  PageFigures pages;
  pages.add(visited(Duration::hours(1), 4, 4));
  pages.add(visited(Duration::minutes(90), 4, 2));
  pages.add(visited(Duration::days(3), 10, 1));
  EXPECT_EQ(pages.pages, 3U);
  EXPECT_EQ(pages.visits, 18U);
  EXPECT_EQ(pages.versions, 7U);
  EXPECT_EQ(pages.seen_again, 3U);
  const PaceBin& hours = bin_of(pages, Duration::hours(1));
  EXPECT_EQ(hours.pages, 2U);
  EXPECT_EQ(hours.visits, 8U);
  EXPECT_EQ(hours.versions, 6U);
  EXPECT_DOUBLE_EQ(hours.rate_mean(), 0.75);
  EXPECT_DOUBLE_EQ(hours.rate_deviation(), 0.25);
  EXPECT_EQ(bin_of(pages, Duration::days(3)).pages, 1U);
  EXPECT_DOUBLE_EQ(bin_of(pages, Duration::days(3)).rate_deviation(), 0);
  EXPECT_EQ(*pages.first_visit, kStart);
  EXPECT_EQ(*pages.last_visit, kStart + Duration::days(10));
}

TEST(PageFigures, LeaveOutWhatWasSeenOnceAsThePaperDoes) {
  PageFigures pages;
  pages.add(visited(Duration::hours(1), 1, 1));
  crawl::PageRecord waiting;
  pages.add(waiting);
  crawl::PageRecord refused;
  refused.state = crawl::PageState::kRefused;
  refused.reason = revisit::Reason::kFixed;
  refused.next_visit = kStart;
  pages.add(refused);
  EXPECT_EQ(pages.pages, 3U);
  EXPECT_EQ(pages.seen_once, 1U);
  EXPECT_EQ(pages.seen_again, 0U);
  for (const PaceBin& bin : pages.paces) EXPECT_EQ(bin.pages, 0U);
  EXPECT_EQ(pages.reasons[revisit::Reason::kFixed], 1U);
}

// A page that fails is left alone for longer than its own pace, and that counts, as in its load.
TEST(PageFigures, GoByTheNextVisitOfAPageThatFails) {
  PageFigures pages;
  crawl::PageRecord record = visited(Duration::hours(1), 3, 1);
  record.changes.failures = 2;
  record.next_visit = record.changes.last_visit + Duration::days(8);
  pages.add(record);
  EXPECT_EQ(bin_of(pages, Duration::days(8)).pages, 1U);
  EXPECT_EQ(bin_of(pages, Duration::hours(1)).pages, 0U);
}

HostBurden burden(const std::string& name, double visits_a_day, Duration access,
                  Duration download) {
  return {.name = name,
          .pages = 10,
          .visits_a_day = visits_a_day,
          .access = access,
          .download = download};
}

TEST(HostFigures, TellWhichHostsBearTheirPages) {
  HostFigures hosts(3, 2);
  EXPECT_DOUBLE_EQ(hosts.hosts_per_connection, 1.5);
  hosts.add(burden("idle", 0, Duration::seconds(5), Duration::seconds(1)));
  hosts.add(burden("rounding", 1e-12, Duration::seconds(5), Duration()));
  hosts.add(burden("calm", 24, Duration::seconds(5), Duration::seconds(1)));           // 1/L = 1 h
  hosts.add(burden("busy", 86'400, Duration::seconds(5), Duration::from_ms(900)));     // 1 s
  hosts.add(burden("hopeless", 172'800, Duration::seconds(5), Duration::seconds(1)));  // 0.5 s
  EXPECT_EQ(hosts.hosts, 5U);
  EXPECT_EQ(hosts.loaded, 3U);
  EXPECT_EQ(hosts.feasible, 1U);
  EXPECT_EQ(hosts.ratio_below_one, 1U);
  EXPECT_EQ(hosts.ratio_below_share, 2U);
  EXPECT_EQ(hosts.between.total(), 3U);
  EXPECT_EQ(hosts.downloads.total(), 4U);
  EXPECT_EQ(hosts.ratios.total(), 3U);
  ASSERT_EQ(hosts.tightest.size(), 3U);
  EXPECT_EQ(hosts.tightest[0].name, "hopeless");
  EXPECT_EQ(hosts.tightest[1].name, "busy");
  EXPECT_EQ(hosts.tightest[2].name, "calm");
}

TEST(HostFigures, KeepTheTightestOfMany) {
  HostFigures hosts(1000, 1);
  for (int i = 0; i < 1000; ++i) {
    const int rank = (i * 387) % 1000;  // each once
    hosts.add(burden(std::to_string(rank), 1000.0 - rank, Duration::seconds(5), Duration()));
  }
  ASSERT_EQ(hosts.tightest.size(), HostFigures::kTightestMax);
  for (std::size_t i = 0; i < hosts.tightest.size(); ++i) {
    EXPECT_EQ(hosts.tightest[i].name, std::to_string(i));
  }
}

TEST(VisitFigures, CountWhatTheLogTells) {
  using Kind = crawl::LoggedVisit::Kind;
  VisitFigures visits;
  crawl::LoggedVisit visit{.time = kStart, .kind = Kind::kPage, .status = 200};
  visit.outcome = crawl::VisitOutcome::kChanged;
  visit.bytes = 100;
  visit.duration = Duration::from_ms(30);
  visits.add(visit);
  visit.status = 304;
  visit.outcome = crawl::VisitOutcome::kUnchanged;
  visits.add(visit);
  visit.status = 0;
  visit.outcome = crawl::VisitOutcome::kError;
  visits.add(visit);
  visits.add({.time = kStart, .kind = Kind::kRobots, .status = 200});
  visits.add({.time = kStart, .kind = Kind::kRefusal});
  EXPECT_EQ(visits.pages, 3U);
  EXPECT_EQ(visits.robots, 1U);
  EXPECT_EQ(visits.refusals, 1U);
  EXPECT_EQ(visits.not_modified, 1U);
  EXPECT_EQ(visits.unanswered, 1U);
  EXPECT_EQ(visits.downloads.total(), 2U);
  EXPECT_EQ(visits.duration, Duration::from_ms(60));
}

TEST(CrawlReport, HasTheSameNumbersAsJson) {
  CrawlReport report;
  report.archive = "a";
  report.pages.emplace().add(visited(Duration::hours(1), 4, 4));
  report.hosts = HostFigures(1, 10);
  report.hosts.add(burden("h", 24, Duration::seconds(5), Duration::seconds(1)));
  const auto json = report.to_json();
  std::uint64_t pages = 0;
  for (const auto& bin : json["pages"]["intervals"]) pages += bin["pages"].get<std::uint64_t>();
  EXPECT_EQ(pages, 1U);
  EXPECT_EQ(json["hosts"]["between"]["cumulative"].back()["below"], 1);
  EXPECT_DOUBLE_EQ(json["hosts"]["tightest"][0]["feasibility"].get<double>(), 3600);
  EXPECT_TRUE(json["visits"].is_null());
}

TEST(DurationName, UsesTheUnitThatReadsBest) {
  EXPECT_EQ(duration_name(0.05), "50 ms");
  EXPECT_EQ(duration_name(1), "1 s");
  EXPECT_EQ(duration_name(90), "1.5 min");
  EXPECT_EQ(duration_name(6 * 3600), "6 h");
  EXPECT_EQ(duration_name(400 * 86'400.0), "400 d");
}

}  // namespace
}  // namespace meguri::app
