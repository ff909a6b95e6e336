#include "sim/checker.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/polite_crawl.h"
#include "sim/world_testing.h"
#include "web/robots.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = kTestStart;

World small_world() { return World(test_world(40, 800)); }

Instant at(double seconds) {
  return kStart + Duration::from_ms(static_cast<std::int64_t>(seconds * 1000));
}

// A request that takes a second.
Access access(double arrival, std::string host, std::string target, std::string server = "s") {
  return {at(arrival), at(arrival + 1), std::move(server), std::move(host), std::move(target), 200,
          100};
}

std::string name_of_host_with(const World& world, bool robots) {
  for (HostNumber host = 0; host < world.census().hosts(); ++host) {
    const Site site(world.census(), host);
    if (site.has_robots() == robots && world.census().content_of(host) == host) {
      return world.census().name_of(host);
    }
  }
  return "";
}

std::vector<std::string> kinds_of(const CheckReport& report) {
  std::vector<std::string> kinds;
  for (const Breach& breach : report.breaches) kinds.emplace_back(name_of(breach.kind));
  return kinds;
}

using Kinds = std::vector<std::string>;

class Checker : public testing::Test {
 protected:
  Kinds check(const std::vector<Access>& log) { return kinds_of(check_log(world_, log, options_)); }

  World world_ = small_world();
  CheckOptions options_;
  std::string host_ = name_of_host_with(world_, false);
};

TEST_F(Checker, APoliteLogHasNoBreach) {
  EXPECT_EQ(check({}), Kinds{});
  EXPECT_EQ(check({access(0, host_, "/"), access(6, host_, "/"), access(20, host_, "/x")}),
            Kinds{});
}

TEST_F(Checker, TwoRequestsAtOnceToAHost) {
  EXPECT_EQ(check({access(0, host_, "/", "a"), access(0.5, host_, "/", "b")}),
            (Kinds{"host-overlap"}));
}

TEST_F(Checker, TwoRequestsAtOnceToAServer) {
  const std::vector<Access> log = {access(0, "x.test", "/"), access(0.5, "y.test", "/")};
  EXPECT_EQ(check(log), (Kinds{"server-overlap"}));
  options_.server_parallel = 2;
  EXPECT_EQ(check(log), Kinds{});
}

TEST_F(Checker, GapsAreMeasuredFromTheEndOfAnAnswer) {
  EXPECT_EQ(check({access(0, host_, "/"), access(5.9, host_, "/")}), (Kinds{"host-gap"}));
  EXPECT_EQ(check({access(0, "x.test", "/"), access(1.9, "y.test", "/")}), (Kinds{"server-gap"}));
  EXPECT_EQ(check({access(0, "x.test", "/"), access(2, "y.test", "/")}), Kinds{});
  options_.tolerance = Duration::from_ms(200);
  EXPECT_EQ(check({access(0, host_, "/"), access(5.9, host_, "/")}), Kinds{});
}

TEST_F(Checker, SlowAnswersMayAskForLongerGaps) {
  options_.host_gap_factor = 10;
  EXPECT_EQ(check({access(0, host_, "/"), access(10.9, host_, "/")}), (Kinds{"host-gap"}));
  EXPECT_EQ(check({access(0, host_, "/"), access(11, host_, "/")}), Kinds{});
}

TEST_F(Checker, TheOrderOfTheLogDoesNotMatter) {
  EXPECT_EQ(check({access(20, host_, "/"), access(0, host_, "/"), access(19.5, host_, "/")}),
            (Kinds{"host-overlap", "server-overlap"}));
}

TEST_F(Checker, ForbiddenTargetsAndDelaysOfRobots) {
  int forbidden = 0;
  int delays = 0;
  for (HostNumber host = 0; host < world_.census().hosts(); ++host) {
    const Site site(world_.census(), host);
    const std::string name = world_.census().name_of(host);
    const web::Robots robots = web::Robots::parse(world_.robots_of(site, {.host = name}), "meguri");
    if (const auto delay = robots.crawl_delay(); delay && *delay > Duration::seconds(5)) {
      EXPECT_EQ(check({access(0, name, "/"), access(6.5, name, "/")}), (Kinds{"crawl-delay"}));
      EXPECT_EQ(check({access(0, name, "/robots.txt"), access(6.5, name, "/")}),
                (Kinds{"crawl-delay"}));
      EXPECT_EQ(check({access(0, name, "/robots.txt"), access(6.5, name, "/robots.txt")}), Kinds{});
      ++delays;
    }
    for (PageNumber page = 1; page < site.pages(); ++page) {
      const std::string address = site.address_of(page);
      if (robots.check(address).allowed) continue;
      EXPECT_EQ(check({access(0, name, address)}), (Kinds{"robots"}));
      ++forbidden;
      break;
    }
  }
  EXPECT_GT(forbidden, 0);
  EXPECT_GT(delays, 0);
}

TEST_F(Checker, WhatAServerCouldNotAnswerMayBeTriedAgain) {
  options_.once = true;
  std::vector<Access> log = {access(0, host_, "/a"), access(10, host_, "/a"),
                             access(20, host_, "/a")};
  log[0].status = 503;
  log[1].status = 429;
  EXPECT_EQ(check(log), Kinds{});
  log.push_back(access(30, host_, "/a"));
  EXPECT_EQ(check(log), (Kinds{"repeated"}));
}

TEST_F(Checker, PagesThatNobodyLinkedToAndRepetitions) {
  options_.seeds = {"http://" + host_ + "/"};
  const Site site(world_.census(), *world_.census().host_of_name(host_));
  const Page home = world_.page(site, 0);
  std::string linked;
  for (const OutLink& link : home.links(home.history().at(kStart))) {
    if (link.host == site.host()) linked = site.address_of(link.page);
  }
  ASSERT_NE(linked, "");
  EXPECT_EQ(check({access(0, host_, "/"), access(10, host_, linked)}), Kinds{});
  EXPECT_EQ(check({access(0, host_, linked)}), (Kinds{"unlinked"}));
  EXPECT_EQ(check({access(0, host_, "/"), access(10, host_, "/nothing")}), (Kinds{"unlinked"}));
  EXPECT_EQ(
      check({access(0, host_, "/robots.txt"), access(10, host_, "/"), access(20, host_, "/")}),
      Kinds{});
  options_.once = true;
  EXPECT_EQ(
      check({access(0, host_, "/robots.txt"), access(10, host_, "/"), access(20, host_, "/")}),
      (Kinds{"repeated"}));
}

TEST_F(Checker, KeepsSomeBreachesAndCountsAll) {
  options_.breaches_max = 3;
  std::vector<Access> log;
  for (int i = 0; i < 50; ++i) log.push_back(access(i * 3.0, host_, "/"));
  const CheckReport report = check_log(world_, log, options_);
  EXPECT_EQ(report.accesses, 50U);
  EXPECT_EQ(report.breaches.size(), 3U);
  EXPECT_EQ(report.total(), 49U);
}

// A crawler that does everything right, over the whole world, and knows nothing but its answers.
TEST_F(Checker, AWholePoliteCrawlHasNoBreach) {
  options_.once = true;
  const Census& census = world_.census();
  const std::string first = "http://" + census.name_of(census.host_of_rank(0)) + "/";
  options_.seeds = {first};
  std::vector<Access> log;
  double now = 0;
  crawl_politely(world_, first, [&](const std::string& host, const std::string& target) {
    Request request;
    request.origin.host = host;
    request.target = target;
    Answer answer = world_.answer(request, at(now));
    log.push_back(access(now, host, target));
    log.back().status = answer.status;
    now += 30;  // longer than any delay that a host asks for
    return answer;
  });
  EXPECT_GT(log.size(), 400U);
  const CheckReport report = check_log(world_, log, options_);
  EXPECT_EQ(kinds_of(report), Kinds{});
}

TEST(AccessLog, LinesAreReadAsTheyAreWritten) {
  const Access odd{at(1.5), at(2), "127.0.0.1", "a.test", "/x\ty\\z\n?q", 200, 12};
  const auto read = parse_access(to_line(odd));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, odd);
  EXPECT_EQ(to_line(odd),
            "1767225601500\t1767225602000\t127.0.0.1\ta.test\t/x\\ty\\\\z\\n?q\t200\t12\n");
  const auto log = parse_access_log("# remark\n\n" + to_line(odd) + to_line(odd));
  ASSERT_TRUE(log);
  EXPECT_EQ(log->size(), 2U);
}

TEST(AccessLog, BadLinesAreNamed) {
  const auto message = [](std::string_view text) {
    const auto log = parse_access_log(text);
    return log ? std::string() : log.error().message();
  };
  EXPECT_EQ(message("# x\n1\t2\n"), "line 2: it has 2 fields, not 7: \"1\\t2\"");
  EXPECT_NE(message("1\t2\ts\th\t/\tx\t3\n").find("line 1: times, status and bytes"),
            std::string::npos);
  EXPECT_NE(message("2\t1\ts\th\t/\t200\t3\n").find("ends before"), std::string::npos);
}

}  // namespace
}  // namespace meguri::sim
