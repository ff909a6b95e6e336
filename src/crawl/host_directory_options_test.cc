// What may be set for some hosts only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "crawl/host_directory.h"
#include "crawl/host_testing.h"
#include "crawl/server_key.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using testing::Access;
using testing::add_site;
using testing::answer_with;
using testing::count_of;
using testing::EngineKind;
using testing::kRobotsUrl;
using testing::Rig;
using testing::some_rules;

HostRule rule_for(const std::string& match) {
  HostRule rule;
  rule.matches = {match};
  return rule;
}

// Longest rest between two accesses of the same run.
Duration longest_rest(const Rig& rig) {
  Duration longest;
  for (std::size_t i = 1; i < rig.world.accesses.size(); ++i) {
    const Access& last = rig.world.accesses[i - 1];
    const Access& access = rig.world.accesses[i];
    if (last.run == access.run) longest = std::max(longest, access.started - last.ended);
  }
  return longest;
}

TEST(HostDirectory, AHostMayHaveAShorterDelayThanAllOthers) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.options.obeys_robots = false;
  rig.options.access.host_wait_ms_min = 60'000;
  rig.world.access_ms_min = rig.world.access_ms_max = 3000;
  rig.options.hosts = {rule_for("*.example.org")};
  rig.options.hosts[0].wait_ms = 2000;
  rig.own_wait = Duration::seconds(2);
  rig.run();
  ASSERT_EQ(rig.world.accesses.size(), 3U);
  EXPECT_LT(longest_rest(rig), Duration::seconds(5)) << "nor ten times as long as an answer took";
}

TEST(HostDirectory, ALongerDelayOfAHostIsHeldWithTheDurationRule) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.options.hosts = {rule_for("a.example.org")};
  rig.options.hosts[0].wait_ms = 20'000;
  rig.world.access_ms_min = rig.world.access_ms_max = 3000;
  rig.own_wait = Duration::seconds(30);
  answer_with(rig, {404, ""});
  rig.run();
  EXPECT_EQ(rig.world.accesses.size(), 4U);
}

TEST(HostDirectory, RobotsMayAskForMoreThanTheOwnDelay) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.options.hosts = {rule_for("a.example.org")};
  rig.options.hosts[0].wait_ms = 0;
  rig.own_wait = Duration::seconds(40);
  answer_with(rig, {200, "User-agent: *\nCrawl-delay: 40\n"});
  rig.run();
  EXPECT_EQ(rig.world.accesses.size(), 4U);
}

TEST(HostDirectory, AnOwnDelayIsWaitedForInFullAfterARestart) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.options.obeys_robots = false;
  rig.options.hosts = {rule_for("a.example.org")};
  rig.options.hosts[0].wait_ms = 30'000;
  rig.own_wait = Duration::seconds(30);
  rig.start();
  ASSERT_TRUE(rig.engine->run_for(Duration::seconds(10)));
  ASSERT_TRUE(rig.engine->stop());
  ASSERT_EQ(rig.world.accesses.size(), 1U);
  rig.disk.crash();
  rig.options.hosts[0].wait_ms = 3000;
  rig.own_wait = Duration::seconds(3);
  rig.run();
  EXPECT_GT(rig.world.accesses.size(), 2U);
  EXPECT_LT(longest_rest(rig), Duration::seconds(5));
}

TEST(HostDirectory, LargeHostsMayBeAskedMoreOften) {
  for (const std::uint64_t pages : {3U, 4U}) {
    Rig rig(EngineKind::kSimulation);
    add_site(rig);
    rig.options.obeys_robots = false;
    rig.options.access.host_wait_ms_min = 60'000;
    rig.options.large_host_pages = pages;
    rig.own_wait = pages == 3 ? Duration::seconds(5) : Duration::minutes(1);
    rig.run();
    EXPECT_EQ(longest_rest(rig) < Duration::minutes(1), pages == 3);
  }
}

TEST(HostDirectory, OneHostMayDoWithoutRobots) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  add_site(rig, "b.example.org", 2);
  answer_with(rig, some_rules());
  rig.options.hosts = {rule_for("b.example.org")};
  rig.options.hosts[0].obeys_robots = false;
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 5U);
  EXPECT_EQ(rig.world.visits_to(kRobotsUrl), 1U);
  EXPECT_EQ(rig.world.visits_to("https://b.example.org/robots.txt"), 0U);
}

TEST(HostDirectory, SkipsHosts) {
  Rig rig(EngineKind::kSimulation);
  add_site(rig);
  rig.options.hosts = {rule_for("a.example.org")};
  rig.options.hosts[0].is_skipped = true;
  rig.run();
  EXPECT_EQ(count_of(rig, "skipped"), 3U);
  EXPECT_TRUE(rig.world.accesses.empty());
}

TEST(HostDirectory, HostsBehindAProxyNeedNoAddress) {
  Rig rig(EngineKind::kSimulation);
  rig.options.proxy = "http://proxy:3128";
  rig.add_page("https://a.example.org/");  // which no name server knows here
  rig.add_page("https://b.example.org/");
  rig.add_page("https://10.0.0.1/");
  rig.add_page("https://[::1]/");
  rig.run();
  EXPECT_EQ(count_of(rig, "visited"), 2U);
  EXPECT_EQ(count_of(rig, "forbidden"), 2U);
  EXPECT_EQ(rig.counts().names_asked, 0U);
  std::set<std::uint64_t> servers;
  for (const Access& access : rig.world.accesses) servers.insert(access.server);
  EXPECT_EQ(servers.size(), 2U) << "each host is a server of its own";
}

TEST(ServerKey, WhatStandsForAHostMayNotBeConnectedTo) {
  const fetch::IpAddress one = stand_in_of(host_hash_of("a.example.org"));
  EXPECT_FALSE(fetch::AddressPolicy().allows(one));
  EXPECT_NE(server_key_of(one), server_key_of(stand_in_of(host_hash_of("b.example.org"))));
}

}  // namespace
}  // namespace meguri::crawl
