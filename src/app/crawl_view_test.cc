#include "app/crawl_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/crawl_summary.h"
#include "app/figures.h"
#include "base/text.h"

namespace meguri::app {
namespace {

using base::Duration;
using base::Ticks;

CrawlSnapshot at_second(std::int64_t second, std::uint64_t done, std::uint64_t known) {
  CrawlSnapshot now;
  now.real_now = Ticks::from_ms(second * 1000);
  now.crawl_now = Ticks::from_ms(1'000'000);
  now.running = Duration::seconds(second);
  now.standing.done = done;
  now.standing.known = known;
  now.standing.waiting = known - done;
  now.standing.visited[0] = done;
  now.visits.bytes_received = done * 1000;
  return now;
}

void hold(CrawlSnapshot& now, const std::string& module, std::uint64_t backlog) {
  now.graph.instances.push_back({.name = module, .backlog = backlog});
}

TEST(Figures, AreReadable) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(12'340), "12.3 kB");
  EXPECT_EQ(bytes_text(999'960), "1.0 MB");
  EXPECT_EQ(bytes_text(4'500'000'000), "4.5 GB");
  EXPECT_EQ(rate_text(0.25), "0.2");
  EXPECT_EQ(rate_text(99.96), "100");
  EXPECT_EQ(rate_text(1234.5), "1,235");
  EXPECT_EQ(counted(1, "host", "hosts"), "1 host");
}

TEST(WhatItWaitsFor, NamesTheReasons) {
  CrawlSnapshot now = at_second(1, 0, 100);
  now.schedule.hosts_delayed = 214;
  now.schedule.next_ready = now.crawl_now + Duration::from_ms(3100);
  EXPECT_EQ(what_it_waits_for(now), "214 hosts wait for their delay; next in 3.1s");
  now.directory.robots_awaited = 1;
  hold(now, "resolver", 2);
  EXPECT_EQ(what_it_waits_for(now),
            "214 hosts wait for their delay, 1 host for its robots.txt, 2 hosts for their "
            "addresses; next in 3.1s");
  hold(now, "fetcher#0", 1);
  EXPECT_EQ(what_it_waits_for(now),
            "1 request waits for its answer, 214 hosts for their delay, 1 host for its "
            "robots.txt, 2 hosts for their addresses");
  now.held = "paused";
  EXPECT_EQ(what_it_waits_for(now), "paused");
}

TEST(WhatItWaitsFor, AlwaysSaysSomething) {
  CrawlSnapshot now = at_second(1, 0, 3);
  EXPECT_EQ(what_it_waits_for(now), "3 pages are about to be visited");
  hold(now, "writer", 1);
  EXPECT_EQ(what_it_waits_for(now), "1 visit waits to be safe on disk");
  EXPECT_EQ(what_it_waits_for(at_second(1, 3, 3)), "nothing is left to visit");
}

TEST(CrawlView, RatesAreOfTheLastTenSeconds) {
  CrawlView view;
  for (std::int64_t second = 0; second <= 20; ++second) {
    view.add(
        at_second(second, static_cast<std::uint64_t>(second <= 10 ? 0 : (second - 10) * 5), 500));
    if (second <= 10) {
      EXPECT_EQ(view.pages_per_second(), 0);
    }
  }
  EXPECT_DOUBLE_EQ(view.pages_per_second(), 5);
  EXPECT_DOUBLE_EQ(view.bytes_per_second(), 5000);
}

TEST(CrawlView, EstimatesOnlyWhereThatSaysSomething) {
  CrawlView steady;
  CrawlView growing;
  for (std::int64_t second = 0; second <= 60; ++second) {
    const auto done = static_cast<std::uint64_t>(second * 2);
    steady.add(at_second(second, done, 1000));
    growing.add(at_second(second, done, 1000 + done * 3));
    if (second == 10) {
      EXPECT_FALSE(steady.least_remaining()) << "too young";
    }
  }
  ASSERT_TRUE(steady.least_remaining());
  EXPECT_EQ(*steady.least_remaining(), Duration::seconds(440));
  EXPECT_FALSE(growing.least_remaining());
  for (std::int64_t second = 61; second < 200; ++second) steady.add(at_second(second, 120, 1000));
  EXPECT_FALSE(steady.least_remaining()) << "it stands still";
}

CrawlView busy_view() {
  CrawlSnapshot now = at_second(192, 1234, 5678);
  now.standing.visited[4] = 31;
  now.standing.refused[0] = 12;
  now.hosts = 214;
  now.schedule.hosts_delayed = 200;
  now.visits.by_fetch[static_cast<std::size_t>(fetch::FetchOutcome::kConnectTimeout)] = 15;
  now.visits.by_status[5] = 16;
  now.visits.last.push_back({.url = "http://example.org/\x1b[2J" + std::string(300, 'x'),
                             .status = 200,
                             .bytes = 12'345,
                             .duration = Duration::from_ms(83)});
  now.visits.last.push_back({.url = "http://example.org/late",
                             .fetch = fetch::FetchOutcome::kConnectTimeout,
                             .duration = Duration::seconds(10)});
  hold(now, "fetcher", 3);
  CrawlView view;
  view.add(now);
  return view;
}

std::vector<std::string> texts(const std::vector<base::LiveLine>& lines) {
  std::vector<std::string> result;
  for (const base::LiveLine& line : lines) result.push_back(line.text);
  return result;
}

TEST(CrawlView, ShowsWhatThereIs) {
  const std::vector<std::string> lines = texts(busy_view().lines(100));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0], "1,234 of 5,678 pages done · 21 % · running for 3m12s");
  EXPECT_EQ(lines[1], "0.0 pages/s · 0 B/s · 3 requests open · 4,444 pages left · 214 hosts known");
  EXPECT_EQ(lines[2], "1,234 changed · 31 errors · 12 refused (robots)");
  EXPECT_EQ(lines[3], "16 status 5xx · 15 connect_timeout");
  EXPECT_EQ(lines[4], "3 requests wait for their answers, 200 hosts for their delay");
  EXPECT_TRUE(lines[5].contains("200   12.3 kB")) << lines[5];
  EXPECT_TRUE(lines[6].contains("connect_timeout")) << lines[6];
}

TEST(CrawlView, FoldsPartsWhereTheTerminalIsNarrow) {
  for (const std::size_t columns : {24U, 40U, 60U}) {
    const std::vector<std::string> lines = texts(busy_view().lines(columns));
    EXPECT_EQ(lines[0].substr(0, 24), "1,234 of 5,678 pages don");
    std::size_t folded = 0;
    for (const std::string& line : lines) {
      folded += line.contains("request") && line.contains("open") ? 1 : 0;
      EXPECT_FALSE(line.ends_with(" · ")) << line;
      const bool is_visit = line.contains("http://");
      EXPECT_TRUE(is_visit || base::display_columns(line) <= std::max<std::size_t>(columns, 31))
          << line;
    }
    EXPECT_EQ(folded, 1U) << "no part is cut in two";
  }
}

TEST(CrawlView, ThePlainLineIsForPrograms) {
  EXPECT_EQ(busy_view().plain(),
            "progress done=1234 known=5678 waiting=4444 in_flight=0 again=0 revisits=0 "
            "open=3 pages_per_second=0.0 bytes_per_second=0 errors=31 refused=12 seconds=192 "
            "waits=\"3 requests wait for their "
            "answers, 200 hosts for their delay\"");
}

TEST(CrawlSummary, TellsHowItWentAndHowToGoOn) {
  CrawlSummary summary;
  summary.end = at_second(100, 250, 400);
  summary.end.visits.pages = 250;
  summary.end.visits.robots = 7;
  summary.end.visits.by_fetch[static_cast<std::size_t>(fetch::FetchOutcome::kReset)] = 3;
  summary.end.visits.failing = {{"bad.test", 3}};
  summary.end.visits.slowest = {{"slow.test", Duration::seconds(12)}};
  summary.dir = "here";
  summary.warc_files = 1;
  summary.warc_bytes = 1'500'000;
  EXPECT_EQ(summary.to_string(),
            "250 of 400 pages done, 250 changed\n"
            "  visits    250 pages and 7 robots.txt in 1m40s, 2.5 pages/s\n"
            "  received  250.0 kB, 0 B in the archive\n"
            "  failures  3 reset\n"
            "  failing   bad.test (3)\n"
            "  slowest   slow.test (12s)\n"
            "  archive   here/warc: 1 WARC file, 1.5 MB\n"
            "  log       here/logs/crawl.jsonl\n"
            "stopped before the end, 150 pages are left; the same command goes on\n");
  summary.is_finished = true;
  EXPECT_FALSE(summary.to_string().contains("goes on"));
}

}  // namespace
}  // namespace meguri::app
