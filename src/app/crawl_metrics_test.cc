#include "app/crawl_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "app/metrics_server.h"

namespace meguri::app {
namespace {

CrawlSnapshot some_crawl() {
  CrawlSnapshot now;
  now.running = base::Duration::from_ms(12'500);
  now.standing.known = 40;
  now.standing.done = 12;
  now.standing.waiting = 20;
  now.standing.in_flight = 8;
  now.standing.visited[0] = 10;
  now.standing.refused[0] = 2;
  now.candidates_refused[static_cast<std::size_t>(crawl::UrlReason::kScope)] = 7;
  now.visits.pages = 10;
  now.visits.robots = 3;
  now.visits.by_fetch[static_cast<std::size_t>(fetch::FetchOutcome::kReset)] = 1;
  now.visits.by_status[2] = 12;
  now.visits.by_duration[0] = 4;
  now.visits.by_duration[2] = 6;
  now.visits.by_duration.back() = 3;
  now.visits.duration = base::Duration::from_ms(99'500);
  now.visits.bytes_received = 123'456;
  now.graph.instances.push_back({.name = "fetcher#0", .items_in = 5, .backlog = 4});
  now.graph.instances.push_back({.name = "fetcher#1", .backlog = 2, .busy_seconds = 0.25});
  now.graph.edges.push_back({.from = "a", .to = "b", .ports = "x\"y\\z\n", .depth = 9});
  now.graph.durable_epoch = 17;
  now.disk_free_bytes = 1'000'000;
  return now;
}

// By name with labels; what the format asks for is checked on the way.
std::map<std::string, double> parsed(const std::string& text) {
  std::map<std::string, double> samples;
  std::set<std::string> families;
  std::string family;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "#") {
      std::string kind;
      std::string name;
      words >> kind >> name;
      if (kind == "HELP") {
        EXPECT_TRUE(families.insert(name).second) << name << " is there twice";
        family = name;
      } else {
        EXPECT_EQ(kind, "TYPE");
        EXPECT_EQ(name, family);
      }
      continue;
    }
    EXPECT_TRUE(line.starts_with(family)) << line << " is not of " << family;
    const std::size_t blank = line.rfind(' ');
    EXPECT_TRUE(samples.emplace(line.substr(0, blank), std::stod(line.substr(blank + 1))).second)
        << line;
  }
  EXPECT_EQ(text.back(), '\n');
  return samples;
}

TEST(CrawlMetrics, TellTheNumbersOfACrawl) {
  const auto samples = parsed(metrics_text(some_crawl()));
  const auto at = [&](const std::string& name) {
    const auto found = samples.find(name);
    EXPECT_NE(found, samples.end()) << name;
    return found == samples.end() ? -1 : found->second;
  };
  EXPECT_EQ(at("meguri_pages{state=\"waiting\"}"), 20);
  EXPECT_EQ(at("meguri_pages_known"), 40);
  EXPECT_EQ(at("meguri_pages_visited{outcome=\"changed\"}"), 10);
  EXPECT_EQ(at("meguri_pages_refused{reason=\"robots\"}"), 2);
  EXPECT_EQ(at("meguri_candidates_refused_total{reason=\"scope\"}"), 7);
  EXPECT_EQ(at("meguri_visits_total{purpose=\"robots\"}"), 3);
  EXPECT_EQ(at("meguri_fetch_failures_total{kind=\"reset\"}"), 1);
  EXPECT_EQ(at("meguri_answers_total{status=\"2xx\"}"), 12);
  EXPECT_EQ(at("meguri_received_bytes_total"), 123'456);
  EXPECT_EQ(at("meguri_requests_open"), 6) << "of both instances";
  EXPECT_EQ(at("meguri_module_busy_seconds_total{module=\"fetcher#1\"}"), 0.25);
  EXPECT_EQ(at("meguri_edge_depth{from=\"a\",to=\"b\",ports=\"x\\\"y\\\\z\\n\"}"), 9);
  EXPECT_EQ(at("meguri_epoch"), 17);
  EXPECT_EQ(at("meguri_disk_free_bytes"), 1'000'000);
  EXPECT_EQ(at("meguri_running_seconds"), 12.5);
}

TEST(CrawlMetrics, BucketsOfTheHistogramAddUp) {
  const auto samples = parsed(metrics_text(some_crawl()));
  EXPECT_EQ(samples.at("meguri_fetch_duration_seconds_bucket{le=\"0.005\"}"), 4);
  EXPECT_EQ(samples.at("meguri_fetch_duration_seconds_bucket{le=\"0.01\"}"), 4);
  EXPECT_EQ(samples.at("meguri_fetch_duration_seconds_bucket{le=\"0.025\"}"), 10);
  EXPECT_EQ(samples.at("meguri_fetch_duration_seconds_bucket{le=\"30\"}"), 10);
  EXPECT_EQ(samples.at("meguri_fetch_duration_seconds_bucket{le=\"+Inf\"}"), 13);
  EXPECT_EQ(samples.at("meguri_fetch_duration_seconds_count"), 13);
  EXPECT_EQ(samples.at("meguri_fetch_duration_seconds_sum"), 99.5);
}

TEST(MetricsServer, TakesAFreePortAndRefusesATakenOne) {
  const auto text = [] { return std::string("x 1\n"); };
  const auto first = MetricsServer::start("127.0.0.1:0", text);
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ((*first)->page("/metrics"), "x 1\n");
  EXPECT_EQ((*first)->page("/"), "");
  const std::string url = (*first)->url();
  const std::string where = url.substr(7, url.rfind('/') - 7);
  EXPECT_TRUE(where.starts_with("127.0.0.1:")) << where;
  const auto second = MetricsServer::start(where, text);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), base::ErrorCode::kBusy);
  for (const std::string wrong : {"9090", "example.org:9090", "127.0.0.1", "127.0.0.1:99999", ""}) {
    const auto refused = MetricsServer::start(wrong, text);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code(), base::ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace meguri::app
