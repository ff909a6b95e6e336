#include "crawl/scheduler.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "crawl/host_testing.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Ticks;
using testing::EngineKind;
using testing::Rig;

// Pages on hosts of which three share a server. Robots.txt is left out: it has its own tests.
void add_pages(Rig& rig, std::uint32_t hosts, std::uint32_t pages) {
  rig.options.obeys_robots = false;
  for (std::uint32_t h = 0; h < hosts; ++h) {
    const std::string host = "h" + std::to_string(h) + ".example.org";
    rig.world.add_host(host, h / 3);
    for (std::uint32_t p = 0; p < pages; ++p) {
      rig.add_page("https://" + host + "/" + std::to_string(p), Offer::kLink, p);
    }
  }
}

TEST(Scheduler, KnowsServersByTheirAddress) {
  const auto key = [](const char* text) { return server_key_of(*fetch::IpAddress::parse(text)); };
  EXPECT_EQ(key("1.2.3.4"), 0x01020304U);
  EXPECT_EQ(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
  EXPECT_NE(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
}

void check_politeness(EngineKind kind, std::uint64_t seed) {
  Rig rig(kind, seed);
  add_pages(rig, 7, 5);
  rig.run();
  EXPECT_EQ(rig.world.accesses.size(), 35U);
  for (const auto& [url, outcome] : rig.outcomes()) EXPECT_EQ(outcome, "visited") << url;
}

TEST(Scheduler, KeepsBothGatesThroughAWholeGraph) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    check_politeness(EngineKind::kSimulation, seed);
  }
}

TEST(SchedulerThreads, KeepBothGatesThroughAWholeGraph) {
  check_politeness(EngineKind::kThreads, 1);
}

TEST(Scheduler, GivesBackWhatItHasNoRoomFor) {
  Rig rig(EngineKind::kSimulation);
  add_pages(rig, 2, 6);
  rig.options.access.jobs_per_host_max = 2;
  rig.options.in_flight_max = 8;
  rig.run();
  EXPECT_EQ(rig.world.accesses.size(), 12U);
  EXPECT_GT(rig.engine->module(rig.registry).given_back["full"], 0U);
}

TEST(Scheduler, LosesNoVisitToRobotsWhenItIsFull) {
  Rig rig(EngineKind::kSimulation);
  add_pages(rig, 9, 2);
  rig.options.obeys_robots = true;
  rig.options.access.jobs_max = 1;
  rig.run();
  EXPECT_EQ(rig.counts().robots_asked, 9U);
  EXPECT_EQ(rig.world.accesses.size(), 27U);
}

TEST(Scheduler, LetsSeedsGoFirst) {
  Rig rig(EngineKind::kSimulation);
  rig.options.obeys_robots = false;
  rig.world.add_host("a.example.org", 1);
  for (int i = 0; i < 5; ++i) rig.add_page("https://a.example.org/" + std::to_string(i));
  rig.add_page("https://a.example.org/seed", Offer::kSeed, 0);
  rig.run();
  ASSERT_EQ(rig.world.accesses.size(), 6U);
  EXPECT_EQ(rig.world.accesses.front().url, "https://a.example.org/seed");
}

void check_drain(EngineKind kind) {
  Rig rig(kind);
  add_pages(rig, 4, 200);
  rig.start();
  ASSERT_TRUE(rig.engine->run_for(Duration::seconds(20)));
  ASSERT_TRUE(rig.engine->drain());
  const auto& registry = rig.engine->module(rig.registry);
  EXPECT_EQ(registry.due.in_flight(), 0U);
  EXPECT_GT(registry.given_back.at("interrupted"), 700U);
  EXPECT_EQ(registry.outcomes.size(), rig.world.accesses.size());
  for (const testing::Access& access : rig.world.accesses) {
    EXPECT_NE(access.ended, Ticks::never()) << "what was under way is finished";
  }
  rig.check_gates();
}

TEST(Scheduler, GivesEverythingBackAtTheEnd) { check_drain(EngineKind::kSimulation); }
TEST(SchedulerThreads, GiveEverythingBackAtTheEnd) { check_drain(EngineKind::kThreads); }

// Cut off with answers under way, before or after the first checkpoint.
TEST(Scheduler, WaitsTheFullDelayAfterARestart) {
  for (const std::int64_t seconds : {1, 4, 17}) {
    SCOPED_TRACE(seconds);
    Rig rig(EngineKind::kSimulation);
    rig.epoch_every = Duration::seconds(3);
    add_pages(rig, 6, 4);
    rig.start();
    ASSERT_TRUE(rig.engine->run_for(Duration::seconds(seconds)));
    ASSERT_TRUE(rig.engine->stop());
    rig.disk.crash();
    const std::size_t before = rig.world.accesses.size();
    ASSERT_GT(before, 0U);
    rig.run();
    ASSERT_GT(rig.world.accesses.size(), before);
    EXPECT_GE(rig.world.accesses[before].started, rig.started.back() + Duration::seconds(5));
  }
}

TEST(Scheduler, WaitsAfterARestartForALongAnswerBeforeIt) {
  Rig rig(EngineKind::kSimulation);
  add_pages(rig, 1, 2);
  rig.options.in_flight_max = 1;
  rig.world.access_ms_min = 6000;
  rig.world.access_ms_max = 6000;
  rig.start();
  ASSERT_TRUE(rig.engine->run_for(Duration::seconds(10)));
  ASSERT_TRUE(rig.engine->stop());
  rig.disk.crash();
  rig.run();
  ASSERT_EQ(rig.world.accesses.size(), 3U);
  EXPECT_GE(rig.world.accesses[1].started, rig.world.accesses[0].ended + Duration::minutes(1));
}

TEST(Scheduler, SaysWhatItWaitsFor) {
  Rig rig(EngineKind::kSimulation);
  add_pages(rig, 3, 10);
  rig.start();
  ASSERT_TRUE(rig.engine->run_for(Duration::seconds(8)));
  const Scheduler& scheduler = rig.engine->module(rig.scheduler);
  EXPECT_GT(scheduler.summary().jobs_waiting, 20U);
  EXPECT_EQ(scheduler.summary().servers, 1U);
  EXPECT_EQ(scheduler.counts().added, 30U);
  EXPECT_GT(scheduler.counts().left, 3U);
  ASSERT_TRUE(rig.engine->drain());
}

TEST(Scheduler, KeepsAHostAtItsServerWhileItHasVisits) {
  Rig rig(EngineKind::kSimulation);
  add_pages(rig, 1, 30);
  rig.options.in_flight_max = 3;  // so that later pages find a new address
  rig.world.dns_ttl = {};
  rig.start();
  ASSERT_TRUE(rig.engine->run_for(Duration::seconds(30)));
  rig.world.addresses.clear();
  rig.world.add_host("h0.example.org", 77);
  ASSERT_TRUE(rig.engine->run_until_quiet());
  ASSERT_TRUE(rig.engine->drain());
  EXPECT_EQ(rig.outcomes().size(), 30U);
  rig.check_gates();
}

}  // namespace
}  // namespace meguri::crawl
