// The whole crawl on the virtual web, in virtual time: every order of events has a seed.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "app/crawl_simulation_testing.h"

namespace meguri::app {
namespace {

using base::Duration;
using base::Instant;
using testing::Crawl;
using testing::first_breaches;

TEST(CrawlSimulation, VisitsAllThatIsReachableOnceAndPolitely) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed);
    crawl.start();
    ASSERT_TRUE(crawl.engine().start());
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    EXPECT_EQ(crawl.counts().waiting, 0U);
    EXPECT_EQ(crawl.counts().in_flight, 0U);
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    ASSERT_TRUE(crawl.engine().drain());

    EXPECT_GT(crawl.log().size(), 80U);
    sim::CheckOptions rules = crawl.rules();
    rules.once = true;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
    EXPECT_EQ(crawl.left_out(), std::vector<std::string>{});

    // Every page that a server was asked for is in the archive once.
    std::map<std::string, int> asked;
    for (const sim::Access& access : crawl.log()) {
      if (access.target != "/robots.txt") ++asked["http://" + access.host + access.target];
    }
    EXPECT_EQ(crawl.archived(), asked);
    EXPECT_EQ(crawl.logged_visits(), crawl.stored_visits());
  }
}

TEST(CrawlSimulation, EqualSeedsMakeEqualRuns) {
  std::set<std::uint64_t> traces;
  for (int i = 0; i < 2; ++i) {
    Crawl crawl(7);
    crawl.start();
    ASSERT_TRUE(crawl.engine().start());
    ASSERT_TRUE(crawl.engine().run_until_quiet());
    traces.insert(crawl.engine().trace());
  }
  EXPECT_EQ(traces.size(), 1U);
}

// Crashes at random moments, with and without loss of power: the same pages in the end, nothing
// that was durable lost, and no host troubled.
TEST(CrawlSimulation, GoesOnAfterCrashesAndLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed, 6, 40);
    env::Random random(seed);
    for (int life = 0;; ++life) {
      crawl.start();
      const auto started = crawl.engine().start();
      ASSERT_TRUE(started) << started.error().message();
      if (life == 4) break;
      const auto time = Duration::from_ms(static_cast<std::int64_t>(random.below(60'000)));
      const auto ran = crawl.engine().run_for(time);
      ASSERT_TRUE(ran) << ran.error().message();
      crawl.end(random.below(2) == 0 ? nullptr : &random);
      crawl.clock().advance(Duration::from_ms(static_cast<std::int64_t>(random.below(3'000))));
    }
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    ASSERT_TRUE(crawl.engine().drain());
    EXPECT_EQ(crawl.left_out(), std::vector<std::string>{});
    // A page that was in flight is fetched again, but only one visit of it counts; and one for each
    // answer that says that the server is not well.
    std::set<std::string> asked;
    std::map<std::string, int> ill;
    for (const sim::Access& access : crawl.log()) {
      const std::string url = "http://" + access.host + access.target;
      if (access.target != "/robots.txt") asked.insert(url);
      if (access.status >= 500) ++ill[url];
    }
    // So is one that took too long, whatever it would have been.
    for (const archive::StoredVisit& visit : crawl.visits()) {
      if (visit.kind == archive::StoredVisitKind::kFailure) ++ill[visit.target_uri];
    }
    std::set<std::string> held;
    for (const auto& [url, count] : crawl.archived()) {
      EXPECT_LE(count, 1 + ill[url]) << url;
      held.insert(url);
    }
    EXPECT_EQ(held, asked);
    // The log tells of the same visits, and of refusals once.
    EXPECT_EQ(crawl.logged_visits(), crawl.stored_visits());
    EXPECT_GT(crawl.log_files(), 1U);
    const std::multiset<std::string> refusals = crawl.logged_refusals();
    EXPECT_EQ(refusals.size(), std::set<std::string>(refusals.begin(), refusals.end()).size());
    EXPECT_EQ(refusals.size(), std::accumulate(crawl.counts().refused.begin(),
                                               crawl.counts().refused.end(), std::uint64_t{0}));
    // How long an answer took is lost with its epoch, and so is the rest that depends on it. The
    // least delay and that of robots.txt are kept.
    sim::CheckOptions rules = crawl.rules();
    rules.host_gap_factor = 0;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

// Questions, pauses and further seeds at random moments, with crashes between them: everything is
// answered or fails with its crawl, and the crawl is none the worse for it.
TEST(CrawlSimulation, AnswersQuestionsAtAnyMoment) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed, 6, 40);
    env::Random random(seed);
    const auto& census = crawl.world().census();
    std::vector<std::string> added;
    int begun = 0;
    int ended = 0;
    int failed = 0;
    const auto ask = [&] {
      const std::string host = census.name_of(census.host_of_rank(random.below(6)));
      crawl::ControlRequest request = crawl::AskWhy{"http://" + host + "/"};
      const std::uint64_t what = random.below(6);
      if (what == 0) request = crawl::AskHosts{};
      if (what == 1) request = crawl::AskHosts{.order = crawl::HostOrder::kErrors, .hosts = {}};
      if (what == 2) {
        request = crawl::AddSeeds{{"http://" + host + "/"}};
        added.push_back("http://" + host + "/");
      }
      if (what == 3) request = crawl::ChangePause{.is_paused = true, .hosts = {host}};
      if (what == 4) request = crawl::ChangePause{.is_paused = false, .hosts = {host}};
      ++begun;
      crawl.mailbox().post(std::move(request), [&](const auto& reply) {
        ++ended;
        if (!reply) ++failed;
      });
    };
    for (int life = 0; life < 3; ++life) {
      crawl.start();
      const auto started = crawl.engine().start();
      ASSERT_TRUE(started) << started.error().message();
      for (int i = 0; i < 30; ++i) {
        ask();
        const auto time = Duration::from_ms(static_cast<std::int64_t>(random.below(4'000)));
        const auto ran = crawl.engine().run_for(time);
        ASSERT_TRUE(ran) << ran.error().message();
      }
      if (life == 2) break;
      ask();
      crawl.crash(random);
      EXPECT_EQ(ended, begun) << "what was asked has failed with the crawl";
    }
    crawl.mailbox().post(crawl::ChangePause{.is_paused = false, .hosts = {}}, [](const auto&) {});
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    ASSERT_TRUE(crawl.engine().drain());
    EXPECT_EQ(ended, begun);
    EXPECT_LE(failed, 2) << "only what a crash left without answer";
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    EXPECT_EQ(crawl.left_out(), std::vector<std::string>{});
    sim::CheckOptions rules = crawl.rules();
    rules.seeds.insert(rules.seeds.end(), added.begin(), added.end());
    rules.host_gap_factor = 0;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

// What a network loses is asked for again, until it comes: the whole web, whatever happens to
// single visits and questions, and whenever the power goes.
TEST(CrawlSimulation, ABadNetworkLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed, 6, 40);
    crawl.options().tries_max = 12;
    crawl.http().refused_chance = 0.05;
    crawl.http().silent_chance = 0.05;
    crawl.http().reset_chance = 0.05;
    crawl.http().disconnect_chance = 0.05;
    crawl.dns().server_failure_chance = 0.2;
    crawl.dns().silent_chance = 0.2;
    env::Random random(seed);
    for (int life = 0;; ++life) {
      crawl.start();
      ASSERT_TRUE(crawl.engine().start());
      if (life == static_cast<int>(seed % 3)) break;
      const auto time = Duration::from_ms(static_cast<std::int64_t>(random.below(900'000)));
      ASSERT_TRUE(crawl.engine().run_for(time));
      crawl.crash(random);
    }
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    for (const crawl::Refusal reason : {crawl::Refusal::kUnresolved, crawl::Refusal::kParked}) {
      EXPECT_EQ(crawl.counts().refused[static_cast<std::size_t>(reason)], 0U);
    }
    ASSERT_TRUE(crawl.engine().drain());
    EXPECT_EQ(crawl.left_out(), std::vector<std::string>{});
    // Of every page that a server was asked for there is an answer.
    const std::set<std::string> answered = crawl.answered();
    for (const sim::Access& access : crawl.log()) {
      const std::string url = "http://" + access.host + access.target;
      const bool is_robots = access.target == "/robots.txt";
      EXPECT_TRUE(is_robots || answered.contains(url)) << url;
    }
    sim::CheckOptions rules = crawl.rules();
    rules.host_gap_factor = 0;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

TEST(CrawlSimulation, AFullDiskHoldsTheCrawlAndLosesNothing) {
  Crawl crawl(3, 6, 60);
  crawl.options().disk_free_min = 1U << 20U;
  crawl.start();
  ASSERT_TRUE(crawl.engine().start());
  ASSERT_TRUE(crawl.engine().run_for(Duration::seconds(20)));
  const auto set_free = [&crawl](std::uint64_t bytes) {
    crawl.files().disk().set_capacity(crawl.files().disk().used() + bytes);
  };
  set_free(1U << 19U);
  ASSERT_TRUE(crawl.engine().run_for(Duration::minutes(1)));
  const std::size_t before = crawl.log().size();
  ASSERT_TRUE(crawl.engine().run_for(Duration::minutes(5)));
  EXPECT_EQ(crawl.log().size(), before);
  set_free(1U << 30U);
  const auto quiet = crawl.engine().run_until_quiet();
  ASSERT_TRUE(quiet) << quiet.error().message();
  ASSERT_TRUE(crawl.engine().drain());
  EXPECT_EQ(crawl.left_out(), std::vector<std::string>{});
}

// A seed on one host that leads to another: the crawl is of both, and of no third.
TEST(CrawlSimulation, ASeedThatRedirectsElsewhereWidensTheScope) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed);
    crawl.options().scope.scope = crawl::Scope::kHost;
    crawl.options().scope.embeds = false;  // they may be anywhere
    const std::string from = crawl.host_of_rank(3);
    const std::string to = crawl.host_of_rank(0);
    crawl.options().seeds = {"http://" + from + "/"};
    crawl.rewrite_answers([&](const std::string& host, const std::string& target, auto& fetched) {
      if (host != from || target != "/") return;
      fetched.status = 301;
      fetched.response_head = "HTTP/1.1 301 Moved\r\nLocation: http://" + to + "/\r\n\r\n";
      fetched.body = {};
    });
    env::Random random(seed);
    for (int life = 0;; ++life) {
      crawl.start();
      ASSERT_TRUE(crawl.engine().start());
      if (life == static_cast<int>(seed % 4)) break;
      const auto time = Duration::from_ms(static_cast<std::int64_t>(random.below(60'000)));
      ASSERT_TRUE(crawl.engine().run_for(time));
      crawl.crash(random);
    }
    ASSERT_TRUE(crawl.engine().run_until_quiet());
    ASSERT_TRUE(crawl.engine().drain());
    std::map<std::string, int> visits;
    for (const auto& [url, count] : crawl.archived()) {
      ++visits[url.substr(7, url.find('/', 7) - 7)];
    }
    EXPECT_GT(visits[to], 5);
    EXPECT_EQ(visits.size(), 2U);
    sim::ReachOptions reach;
    reach.seeds = {"http://" + to + "/"};
    reach.hints = true;
    reach.embeds = false;
    reach.in_scope = [&](std::string_view host) { return host == to; };
    std::vector<std::string> missing;
    for (const sim::Lead& lead : sim::left_out(crawl.world(), crawl.log(), reach)) {
      missing.push_back(lead.host + lead.target);
    }
    EXPECT_EQ(missing, std::vector<std::string>{});
  }
}

// A rule that comes while the crawl runs holds from then on, also for pages that wait, and after
// every restart.
TEST(CrawlSimulation, WhatIsExcludedMeanwhileIsNotVisited) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed);
    const std::string host = crawl.host_of_rank(0);
    crawl.options().scope.exclusion_file = "/archive/exclude.txt";
    ASSERT_TRUE(env::write_file_atomically(crawl.files(), "/archive/exclude.txt", "# none\n"));
    crawl.start();
    ASSERT_TRUE(crawl.engine().start());
    ASSERT_TRUE(crawl.engine().run_for(Duration::seconds(60)));
    ASSERT_TRUE(
        env::write_file_atomically(crawl.files(), "/archive/exclude.txt", "/a broken line\n"));
    ASSERT_TRUE(crawl.engine().run_for(Duration::seconds(5)));
    ASSERT_TRUE(env::write_file_atomically(crawl.files(), "/archive/exclude.txt", host + "\n"));
    ASSERT_TRUE(crawl.engine().run_for(Duration::seconds(3)));
    const Instant since = crawl.clock().utc() + Duration::from_ms(20);  // to connect
    if (seed % 2 == 0) {
      env::Random random(seed);
      crawl.crash(random);
      crawl.start();
      ASSERT_TRUE(crawl.engine().start());
    }
    ASSERT_TRUE(crawl.engine().run_until_quiet());
    EXPECT_GT(crawl.counts().refused[static_cast<std::size_t>(crawl::Refusal::kExcluded)], 0U);
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    ASSERT_TRUE(crawl.engine().drain());
    std::size_t visits = 0;
    for (const sim::Access& access : crawl.log()) {
      if (access.host != host || access.target == "/robots.txt") continue;
      ++visits;
      EXPECT_LE(access.arrival, since) << access.target;
    }
    EXPECT_GT(visits, 3U);
  }
}

TEST(CrawlSimulation, ABadNetworkIsData) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed);
    crawl.http().refused_chance = 0.05;
    crawl.http().silent_chance = 0.05;
    crawl.http().reset_chance = 0.05;
    crawl.http().disconnect_chance = 0.05;
    crawl.dns().server_failure_chance = 0.1;
    crawl.dns().silent_chance = 0.1;
    crawl.start();
    ASSERT_TRUE(crawl.engine().start());
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    ASSERT_TRUE(crawl.engine().drain());
    std::map<std::string, std::uint32_t> visits;
    for (const sim::Access& access : crawl.log()) {
      if (access.target == "/robots.txt") continue;
      EXPECT_LE(++visits[access.host + access.target], crawl.options().tries_max);
    }
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), crawl.rules());
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

}  // namespace
}  // namespace meguri::app
