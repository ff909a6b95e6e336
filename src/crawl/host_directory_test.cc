#include "crawl/host_directory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "crawl/host_testing.h"
#include "crawl/retry_policy.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Ticks;
using fetch::FetchOutcome;
using fetch::IpAddress;
using testing::Access;
using testing::add_site;
using testing::answer_with;
using testing::count_of;
using testing::EngineKind;
using testing::kRobotsUrl;
using testing::Rig;
using testing::RobotsReply;
using testing::some_rules;

void check_rules(EngineKind kind, std::uint64_t seed) {
  Rig rig(kind, seed);
  add_site(rig, "a.example.org", 1);
  add_site(rig, "b.example.org", 1);
  add_site(rig, "c.example.org", 2);
  answer_with(rig, some_rules());
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 6U);
  EXPECT_EQ(count_of(rig, "robots"), 3U);
  EXPECT_EQ(rig.world.visits_to("https://a.example.org/private/page"), 0U);
  EXPECT_EQ(rig.counts().robots_asked, 3U) << "one visit for a site, however many pages wait";
  EXPECT_EQ(rig.counts().names_asked, 3U);
  std::map<std::string, bool> has_robots;
  for (const Access& access : rig.world.accesses) {
    const std::string origin = web::Url::parse(access.url)->origin();
    if (access.purpose == Purpose::kRobots) has_robots[origin] = true;
    EXPECT_TRUE(has_robots[origin]) << access.url << " before its robots.txt";
  }
}

TEST(HostDirectory, ObeysRobots) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    check_rules(EngineKind::kSimulation, seed);
  }
}

TEST(HostDirectoryThreads, ObeyRobots) { check_rules(EngineKind::kThreads, 1); }

TEST(HostDirectory, DoesWithoutRobotsWhenItIsToldTo) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  answer_with(rig, some_rules());
  rig.options.obeys_robots = false;
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 3U);
  EXPECT_EQ(rig.world.visits_to(kRobotsUrl), 0U);
}

TEST(HostDirectory, AllowsEverythingWhereThereIsNoRobots) {
  for (const int status : {400, 401, 403, 404, 410, 451}) {
    SCOPED_TRACE(status);
    Rig rig(EngineKind::kSimulation);
    add_site(rig);
    answer_with(rig, {status, "User-agent: *\nDisallow: /\n"});
    rig.run();
    EXPECT_EQ(count_of(rig, "visited"), 3U);
    EXPECT_EQ(rig.world.visits_to(kRobotsUrl), 1U);
  }
}

TEST(HostDirectory, ParksAHostWhoseRobotsCannotBeHad) {
  for (const RobotsReply& reply :
       {RobotsReply{500}, RobotsReply{503}, RobotsReply{429}, RobotsReply{304},
        RobotsReply{0, "", "", FetchOutcome::kConnectRefused},
        RobotsReply{200, "", "", FetchOutcome::kReset}}) {
    SCOPED_TRACE(reply.status);
    Rig rig(EngineKind::kSimulation);
    add_site(rig);
    answer_with(rig, reply);
    rig.run();
    EXPECT_EQ(count_of(rig, "parked"), 3U);
    ASSERT_EQ(rig.world.accesses.size(), rig.options.tries_max);
    EXPECT_GE(rig.world.accesses[1].started, rig.world.accesses[0].ended + Duration::seconds(30));
    EXPECT_GE(rig.world.accesses[2].started, rig.world.accesses[1].ended + Duration::minutes(2));
    EXPECT_GE(rig.world.accesses[3].started, rig.world.accesses[2].ended + Duration::minutes(10));
  }
}

void check_recovery(EngineKind kind) {
  Rig rig(kind);
  add_site(rig);
  rig.world.robots = [](const std::string&, std::size_t n) {
    return n < 2 ? RobotsReply{503} : some_rules();
  };
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 2U);
  EXPECT_EQ(count_of(rig, "robots"), 1U);
}

TEST(HostDirectory, WaitsForRobotsThatFailForAWhile) { check_recovery(EngineKind::kSimulation); }
TEST(HostDirectoryThreads, WaitForRobotsThatFailForAWhile) { check_recovery(EngineKind::kThreads); }

TEST(HostDirectory, FollowsRedirectsOfRobotsToOtherHosts) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.world.add_host("rules.example.net", 9);
  rig.world.robots = [](const std::string& url, std::size_t) {
    if (url == kRobotsUrl) return RobotsReply{301, "", "//www.a.example.org/robots.txt"};
    if (url == "https://www.a.example.org/robots.txt") {
      return RobotsReply{302, "", "http://rules.example.net:8080/all?site=a#x"};
    }
    return some_rules();
  };
  rig.world.add_host("www.a.example.org", 1);
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 2U);
  EXPECT_EQ(count_of(rig, "robots"), 1U);
  EXPECT_EQ(rig.world.visits_to("http://rules.example.net:8080/all?site=a"), 1U);
}

TEST(HostDirectory, SharesARobotsThatSeveralSitesLeadTo) {
  Rig rig(EngineKind::kSimulation);
  for (const char* host : {"a.example.org", "b.example.org", "c.example.org"}) add_site(rig, host);
  rig.epoch_every = Duration::minutes(1);  // so that all of them ask before anybody is answered
  rig.world.robots = [](const std::string& url, std::size_t) {
    return url == kRobotsUrl ? some_rules() : RobotsReply{301, "", kRobotsUrl};
  };
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 6U);
  EXPECT_EQ(count_of(rig, "robots"), 3U);
}

TEST(HostDirectory, AllowsEverythingAfterTooManyRedirects) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.world.robots = [](const std::string& url, std::size_t) {
    return RobotsReply{301, "", url + "x"};
  };
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 3U);
  EXPECT_EQ(rig.counts().robots_asked, 1U + kRobotsHopsMax);
}

TEST(HostDirectory, TakesARedirectToNowhereForAFailure) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  answer_with(rig, {301, "", "https://no-such-host.example.net/robots.txt"});
  rig.run();
  EXPECT_EQ(count_of(rig, "parked"), 3U);
}

TEST(HostDirectory, AsksEverySiteOfAHostForItsOwnRobots) {
  Rig rig(EngineKind::kSimulation);
  rig.world.add_host("a.example.org", 1);
  rig.add_page("https://a.example.org/x");
  rig.add_page("http://a.example.org/x");
  rig.add_page("https://a.example.org:8443/x");
  rig.world.robots = [](const std::string& url, std::size_t) {
    const bool forbids = url == "http://a.example.org/robots.txt";
    return RobotsReply{200, forbids ? "User-agent: *\nDisallow: /x\n" : ""};
  };
  rig.run();
  EXPECT_EQ(rig.outcomes().at("http://a.example.org/x"), "robots");
  EXPECT_EQ(rig.outcomes().at("https://a.example.org/x"), "visited");
  EXPECT_EQ(rig.outcomes().at("https://a.example.org:8443/x"), "visited");
  EXPECT_EQ(rig.counts().robots_asked, 3U);
  EXPECT_EQ(rig.counts().hosts, 1U);
}

void check_unresolved(EngineKind kind) {
  Rig rig(kind);
  add_site(rig, "a.example.org");
  add_site(rig, "gone.example.org");
  add_site(rig, "inside.example.org");
  add_site(rig, "half.example.org");
  rig.world.addresses.erase("gone.example.org");
  rig.world.addresses["inside.example.org"] = {IpAddress::v4(0x7f000001),
                                               IpAddress::v4(0x0a000001)};
  rig.world.addresses["half.example.org"] = {IpAddress::v4(0x7f000001), IpAddress::v4(0x5db80101)};
  rig.add_page("https://" + std::string(300, 'x') + ".org/");
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 6U);
  EXPECT_EQ(count_of(rig, "unresolved"), 4U);
  EXPECT_EQ(count_of(rig, "forbidden"), 3U);
  EXPECT_EQ(rig.counts().names_asked, 4U);
  for (const Access& access : rig.world.accesses) EXPECT_NE(access.server >> 24U, 0x7fU);
}

TEST(HostDirectory, RefusesHostsWithoutAnAddressWeMayUse) {
  check_unresolved(EngineKind::kSimulation);
}
TEST(HostDirectoryThreads, RefuseHostsWithoutAnAddressWeMayUse) {
  check_unresolved(EngineKind::kThreads);
}

TEST(HostDirectory, AsksAgainWhenNameServersFail) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.world.dns_fails = [](const std::string&, std::size_t n) { return n < 3; };
  const base::Ticks start = rig.clock.ticks();
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 3U);
  EXPECT_EQ(rig.counts().names_asked, 4U);
  EXPECT_GE(rig.world.accesses[0].started, start + Duration::minutes(21));
  EXPECT_LE(rig.world.accesses[0].started, start + Duration::minutes(22));
}

TEST(HostDirectory, GivesANameUpThatNobodyAnswersFor) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.world.dns_fails = [](const std::string&, std::size_t) { return true; };
  rig.run();
  EXPECT_EQ(count_of(rig, "unresolved"), 3U);
  EXPECT_EQ(rig.counts().names_asked, rig.options.tries_max);
}

// No page of it is tried for long, nor holds a credit meanwhile.
TEST(HostDirectory, ParksAHostThatNeverAnswers) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  for (int i = 0; i < 60; ++i) rig.add_page("https://a.example.org/p" + std::to_string(i));
  rig.world.page = [](const std::string&, std::size_t) {
    return RobotsReply{.status = 0, .fetch = FetchOutcome::kConnectTimeout};
  };
  rig.run();
  EXPECT_GT(count_of(rig, "parked"), 50U);
  const std::size_t visits = rig.world.accesses.size() - 1;
  EXPECT_GE(visits, kErrorsBeforeRest + rig.options.tries_max - 1);
  EXPECT_LE(visits, kErrorsBeforeRest + rig.options.tries_max + 1);
  EXPECT_GE(rig.world.accesses.back().started,
            rig.world.accesses.front().ended + Duration::minutes(21));
}

TEST(HostDirectory, GoesOnWithAHostThatAnswersAgain) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  for (int i = 0; i < 20; ++i) rig.add_page("https://a.example.org/p" + std::to_string(i));
  std::size_t visits = 0;
  rig.world.page = [&](const std::string&, std::size_t) {
    return ++visits <= 5 ? RobotsReply{.status = 0, .fetch = FetchOutcome::kReset}
                         : RobotsReply{.status = 200};
  };
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 23U);
}

TEST(HostDirectory, LeavesAHostAloneThatAsksForIt) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.world.hold = Duration::minutes(7);
  rig.world.page = [](const std::string& url, std::size_t) {
    return RobotsReply{.status = url == "https://a.example.org/" ? 503 : 200};
  };
  rig.run();
  ASSERT_EQ(rig.world.accesses.size(), 4U);
  EXPECT_EQ(rig.world.accesses[1].url, "https://a.example.org/");
  EXPECT_GE(rig.world.accesses[2].started, rig.world.accesses[1].ended + Duration::minutes(7));
  EXPECT_EQ(count_of(rig, "visited"), 3U);
}

TEST(HostDirectory, ParksAHostThatAsksForTooLongAHold) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.world.hold = Duration::hours(3);
  rig.world.page = [](const std::string&, std::size_t) { return RobotsReply{.status = 503}; };
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 1U);
  EXPECT_EQ(count_of(rig, "parked"), 2U);
}

TEST(HostDirectory, VisitsNothingThatIsOnTheExclusionList) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig, "a.example.org", 1);
  add_site(rig, "b.example.org", 2);
  rig.options.scope.exclusion_file = "exclude";
  ASSERT_TRUE(env::write_file_atomically(rig.disk, "exclude",
                                         "b.example.org\nhttp://a.example.org/private/\n"));
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 2U);
  EXPECT_EQ(count_of(rig, "excluded"), 4U);
  EXPECT_EQ(rig.world.visits_to("https://b.example.org/robots.txt"), 0U);
}

// Pages that wait at the Scheduler when their rule comes are not fetched.
TEST(HostDirectory, RefusesAtTheLastLookWhatWasExcludedMeanwhile) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  for (int i = 0; i < 20; ++i) rig.add_page("https://a.example.org/p" + std::to_string(i));
  rig.options.scope.exclusion_file = "exclude";
  ASSERT_TRUE(env::write_file_atomically(rig.disk, "exclude", "# nothing yet\n"));
  rig.start();
  auto& engine = dynamic_cast<flow::SimulationEngine&>(*rig.engine);
  ASSERT_TRUE(engine.run_for(Duration::seconds(30)));
  ASSERT_TRUE(env::write_file_atomically(rig.disk, "exclude", "a.example.org\n"));
  ASSERT_TRUE(engine.run_for(ExclusionWatch::kEvery + Duration::seconds(10)));
  const std::size_t visits = rig.world.accesses.size();
  EXPECT_GT(visits, 2U);
  EXPECT_LT(visits, 15U);
  ASSERT_TRUE(engine.run_until_quiet());
  EXPECT_EQ(rig.world.accesses.size(), visits);
  EXPECT_EQ(count_of(rig, "excluded"), 24U - visits);
}

TEST(HostDirectory, HoldsACrawlDelayInFull) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.epoch_every = Duration::seconds(20);  // the schedule has forgotten the visit to robots.txt
  answer_with(rig, {200, "User-agent: *\nCrawl-delay: 40\n"});
  rig.run();
  ASSERT_EQ(rig.world.accesses.size(), 4U);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_GE(rig.world.accesses[i].started,
              rig.world.accesses[i - 1].ended + Duration::seconds(40));
  }
}

TEST(HostDirectory, ParksAHostThatAsksForTooLongADelay) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  answer_with(rig, {200, "User-agent: *\nCrawl-delay: 3601\n"});
  rig.run();
  EXPECT_EQ(count_of(rig, "parked"), 3U);
  EXPECT_EQ(rig.world.accesses.size(), 1U);
}

// Pages wait at the Scheduler for hours; meanwhile robots.txt becomes too old, and has changed.
TEST(HostDirectory, RefusesAtTheLastLookWhatRobotsForbidsByThen) {
  Rig rig(EngineKind::kSimulation);
  rig.world.add_host("a.example.org", 1);
  for (int i = 0; i < 40; ++i) rig.add_page("https://a.example.org/" + std::to_string(i));
  rig.options.robots_age_max = Duration::hours(2);
  rig.world.robots = [](const std::string&, std::size_t n) {
    return RobotsReply{
        200, n == 0 ? "User-agent: *\nCrawl-delay: 600\n" : "User-agent: *\nDisallow: /\n"};
  };
  rig.run();
  const Ticks old = rig.world.accesses.front().ended + Duration::hours(2);
  EXPECT_GT(count_of(rig, "visited"), 8U);
  EXPECT_LT(count_of(rig, "visited"), 13U);
  EXPECT_GT(count_of(rig, "robots"), 25U);
  for (const Access& access : rig.world.accesses) {
    if (access.purpose == Purpose::kPage) {
      EXPECT_LT(access.started, old + Duration::minutes(1));
    }
  }
  EXPECT_EQ(rig.world.visits_to(kRobotsUrl), 2U);
}

TEST(HostDirectory, AsksForRobotsAgainAndGoesOn) {
  Rig rig(EngineKind::kSimulation);
  rig.world.add_host("a.example.org", 1);
  for (int i = 0; i < 40; ++i) rig.add_page("https://a.example.org/" + std::to_string(i));
  rig.options.robots_age_max = Duration::minutes(30);
  answer_with(rig, {200, "User-agent: *\nCrawl-delay: 300\n"});
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 40U);
  EXPECT_GT(rig.world.visits_to(kRobotsUrl), 4U);
}

void check_drain(EngineKind kind, Duration after) {
  Rig rig(kind);
  for (int h = 0; h < 20; ++h) {
    add_site(rig, "h" + std::to_string(h) + ".example.org", static_cast<std::uint32_t>(h / 4));
  }
  rig.world.addresses.erase("h3.example.org");
  rig.world.robots = [](const std::string& url, std::size_t) {
    return url.starts_with("https://h1") ? RobotsReply{503} : some_rules();
  };
  rig.start();
  ASSERT_TRUE(rig.engine->run_for(after));
  const auto status = rig.engine->drain();
  ASSERT_TRUE(status) << status.error().message();
  EXPECT_EQ(rig.engine->module(rig.registry).due.in_flight(), 0U);
  EXPECT_LT(rig.outcomes().size(), rig.pages.size());
  rig.check_gates();
}

TEST(HostDirectory, GivesEverythingBackAtTheEnd) {
  for (const std::int64_t ms : {0, 40, 60, 500, 1500, 4000, 9000, 20'000}) {
    SCOPED_TRACE(ms);
    check_drain(EngineKind::kSimulation, Duration::from_ms(ms));
  }
}
TEST(HostDirectoryThreads, GiveEverythingBackAtTheEnd) {
  check_drain(EngineKind::kThreads, Duration::from_ms(9000));
}

TEST(HostDirectory, KnowsRobotsAfterARestart) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.options.access.host_wait_ms_min = 60'000;
  answer_with(rig, some_rules());
  rig.start();
  ASSERT_TRUE(rig.engine->run_for(Duration::seconds(10)));
  ASSERT_TRUE(rig.engine->stop());
  ASSERT_EQ(rig.world.accesses.size(), 1U);
  rig.disk.crash();
  rig.run();
  EXPECT_EQ(rig.world.visits_to(kRobotsUrl), 1U);
  EXPECT_EQ(count_of(rig, "robots"), 1U);
  rig.options.agent = "other";  // for whom robots.txt may say something else
  rig.run();
  EXPECT_EQ(rig.world.visits_to(kRobotsUrl), 2U);
}

// Whenever the power goes, all pages end in the next run, politely.
TEST(HostDirectory, GoesOnAfterCrashes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rig rig(EngineKind::kSimulation, seed);
    for (int h = 0; h < 6; ++h) {
      add_site(rig, "h" + std::to_string(h) + ".example.org", static_cast<std::uint32_t>(h / 2));
    }
    answer_with(rig, some_rules());
    env::Random random(seed);
    for (int crash = 0; crash < 4; ++crash) {
      rig.start();
      const auto ms = static_cast<std::int64_t>(random.below(15'000));
      ASSERT_TRUE(rig.engine->run_for(Duration::from_ms(ms)));
      ASSERT_TRUE(rig.engine->stop());
      rig.disk.crash(&random);
    }
    rig.run();
    EXPECT_EQ(count_of(rig, "robots"), 6U);
    EXPECT_EQ(count_of(rig, "visited"), 12U);
  }
}

// How long an answer took is lost with its epoch, but not how long this host's answers take.
TEST(HostDirectory, RestsForTenTimesASlowAnswerThatACrashForgot) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Rig rig(EngineKind::kSimulation, seed);
    add_site(rig);
    answer_with(rig, some_rules());
    rig.world.access_ms_min = rig.world.access_ms_max = 20'000;
    env::Random random(seed);
    rig.start();
    ASSERT_TRUE(rig.engine->run_for(Duration::seconds(22)));  // that to robots.txt is durable
    for (int crash = 0; crash < 3; ++crash) {
      const auto ms = static_cast<std::int64_t>(random.below(400'000));
      rig.epoch_every = Duration::minutes(10);  // no later one is
      ASSERT_TRUE(rig.engine->run_for(Duration::from_ms(ms)));
      ASSERT_TRUE(rig.engine->stop());
      rig.disk.crash(&random);
      rig.start();
    }
    ASSERT_TRUE(rig.engine->run_for(Duration::minutes(8)));
    ASSERT_TRUE(rig.engine->stop());
    const std::vector<Access>& accesses = rig.world.accesses;
    ASSERT_GE(accesses.size(), 3U);
    for (std::size_t i = 1; i < accesses.size(); ++i) {
      const Access& last = accesses[i - 1];
      const bool is_same_run = last.run == accesses[i].run;
      const Ticks end =
          is_same_run ? last.ended : std::min(last.ended, rig.started[accesses[i].run]);
      EXPECT_GE(accesses[i].started, end + Duration::seconds(200)) << i;
    }
  }
}

TEST(Resolver, AnswersEveryQuestionThoughItsDnsTakesFew) {
  Rig rig(EngineKind::kSimulation);
  for (int h = 0; h < 50; ++h) {
    add_site(rig, "h" + std::to_string(h) + ".example.org", static_cast<std::uint32_t>(h));
  }
  rig.run();
  EXPECT_EQ(rig.counts().names_asked, 50U);
  EXPECT_EQ(count_of(rig, "visited"), 150U);
}

}  // namespace
}  // namespace meguri::crawl
