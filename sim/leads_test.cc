#include "sim/leads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/polite_crawl.h"
#include "sim/world_testing.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kNow = kTestNow;

World small_world(std::uint64_t seed = 1) { return World(test_world(40, 800, seed)); }

bool is_shown_by_chance(const std::string& target) { return target.starts_with("/img/"); }

TEST(Leads, WhatIsReachableIsWhatACrawlerFinds) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const World world = small_world(seed);
    const Census& census = world.census();
    const std::string first = "http://" + census.name_of(census.host_of_rank(0)) + "/";
    std::set<std::string> crawled;
    crawl_politely(world, first, [&](const std::string& host, const std::string& target) {
      Request request;
      request.origin.host = host;
      request.target = target;
      Answer answer = world.answer(request, kNow);
      if (!is_shown_by_chance(target)) {
        crawled.insert(std::to_string(answer.status) + " " + host + target);
      }
      return answer;
    });
    ReachOptions options;
    options.seeds = {first};
    options.at = kNow;
    options.hints = true;  // the crawler follows the links to feeds
    std::set<std::string> reached;
    for (const Reached& one : reachable(world, options)) {
      if (is_shown_by_chance(one.target)) continue;
      EXPECT_TRUE(reached.insert(std::to_string(one.status) + " " + one.host + one.target).second);
    }
    EXPECT_GT(crawled.size(), 400U);
    EXPECT_EQ(reached, crawled);
  }
}

TEST(Leads, ScopeRobotsEmbedsAndHintsCanBeChosen) {
  const World world = small_world();
  const Census& census = world.census();
  const std::string host = census.name_of(census.host_of_rank(0));
  ReachOptions options;
  options.seeds = {"http://" + host + "/"};
  options.at = kNow;
  options.in_scope = [&](std::string_view name) { return name == host; };
  options.embeds = false;
  const std::vector<Reached> own = reachable(world, options);
  EXPECT_TRUE(std::ranges::all_of(own, [&](const Reached& one) {
    return one.host == host &&
           (one.kind == Place::Kind::kPage || one.kind == Place::Kind::kRedirect);
  }));
  options.embeds = true;
  EXPECT_GT(reachable(world, options).size(), own.size());
  options.agent = "badbot";
  const std::size_t bad = reachable(world, options).size();
  options.agent = "";
  const std::size_t any = reachable(world, options).size();
  EXPECT_GE(any, own.size());
  const Site site(census, census.host_of_rank(0));
  if (site.has_robots()) {
    EXPECT_EQ(bad, 0U);
  } else {
    EXPECT_EQ(bad, any);
  }
}

TEST(Leads, WhatACrawlLeavesOutIsFound) {
  const World world = small_world();
  const std::string first =
      "http://" + world.census().name_of(world.census().host_of_rank(0)) + "/";
  ReachOptions options;
  options.seeds = {first};
  options.hints = true;
  std::vector<Access> log;
  Instant now = kNow;
  crawl_politely(world, first, [&](const std::string& host, const std::string& target) {
    Request request;
    request.origin.host = host;
    request.target = target;
    Answer answer = world.answer(request, now);
    log.push_back({now, now, "s", host, target, answer.status, 1});
    now = now + Duration::seconds(10);
    return answer;
  });
  // Adverts: which images they show is chance.
  const auto missing = [&] {
    std::vector<std::string> targets;
    for (const Lead& lead : left_out(world, log, options)) {
      if (!is_shown_by_chance(lead.target)) targets.push_back(lead.host + lead.target);
    }
    return targets;
  };
  EXPECT_EQ(missing(), std::vector<std::string>{});
  const auto gone = std::ranges::find_if(log, [](const Access& access) {
    return access.status == 200 && access.target.ends_with(".html");
  });
  ASSERT_NE(gone, log.end());
  const std::string left = gone->host + gone->target;
  log.erase(gone);
  EXPECT_EQ(missing(), std::vector<std::string>{left});
  log.clear();
  EXPECT_EQ(missing().size(), 1U);  // the seed
}

TEST(Leads, ErrorsAndStrangersLeadNowhere) {
  const World world = small_world();
  const std::string host = world.census().name_of(0);
  EXPECT_TRUE(leads_of(world, "example.com", "/", kNow).empty());
  EXPECT_TRUE(leads_of(world, host, "/missing", kNow).empty());
  EXPECT_TRUE(leads_of(world, host, "", kNow).empty());
  ReachOptions options;
  options.seeds = {"not a url", "ftp://x.test/", "http://example.com/"};
  options.at = kNow;
  EXPECT_TRUE(reachable(world, options).empty());
}

}  // namespace
}  // namespace meguri::sim
