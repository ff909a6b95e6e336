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

// While the crawl runs time goes by; the truth, adverts and their images with it, stays.
TEST(Leads, OfAStillWorldAllThatIsReachableIsKnownExactly) {
  WorldOptions still = small_world(2).options();
  still.is_still = true;
  const World world(still);
  const std::string first =
      "http://" + world.census().name_of(world.census().host_of_rank(0)) + "/";
  Instant now = kNow;
  std::set<std::string> crawled;
  crawl_politely(world, first, [&](const std::string& host, const std::string& target) {
    Request request;
    request.origin.host = host;
    request.target = target;
    now = now + Duration::hours(7);
    Answer answer = world.answer(request, now);
    crawled.insert(std::to_string(answer.status) + " " + host + target);
    return answer;
  });
  ReachOptions options;
  options.seeds = {first};
  options.hints = true;
  std::set<std::string> reached;
  for (const Reached& one : reachable(world, options)) {
    reached.insert(std::to_string(one.status) + " " + one.host + one.target);
  }
  EXPECT_GT(crawled.size(), 400U);
  EXPECT_EQ(reached, crawled);
  // Sitemaps name pages that no link leads to, but never fewer.
  options.sitemaps = true;
  std::set<std::string> more;
  for (const Reached& one : reachable(world, options)) {
    more.insert(std::to_string(one.status) + " " + one.host + one.target);
  }
  EXPECT_TRUE(std::ranges::includes(more, reached));
  EXPECT_TRUE(std::ranges::any_of(
      more, [](const std::string& one) { return one.find("/sitemap.xml") != std::string::npos; }));
  // Where none is named, it is looked for.
  EXPECT_TRUE(std::ranges::any_of(more, [](const std::string& one) {
    return one.starts_with("404 ") && one.ends_with("/sitemap.xml");
  }));
}

TEST(Leads, AreOfWhatIsThereAndOfARobotsTxtThatIsNot) {
  Access access;
  access.target = "/robots.txt";
  for (const int status : {200, 301, 404}) {
    access.status = status;
    EXPECT_TRUE(has_leads(access)) << status;
  }
  access.status = 503;
  EXPECT_FALSE(has_leads(access));
  access.target = "/";
  access.status = 404;
  EXPECT_FALSE(has_leads(access));
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

// A page that says so leads to what it shows within itself, as it leads to its images.
TEST(Leads, NofollowLeavesFramesAndEmbeds) {
  WorldOptions options = small_world().options();
  options.census.pages = 30'000;
  options.is_still = true;
  const World world(options);
  int frames = 0;
  for (HostNumber host = 0; host < world.census().hosts(); ++host) {
    const Site site(world.census(), host);
    const std::string name = world.census().name_of(host);
    for (PageNumber page = 0; page < site.pages(); ++page) {
      if (!world.page(site, page).robots().nofollow) continue;
      for (const Lead& lead : leads_of(world, name, site.address_of(page), kNow)) {
        EXPECT_TRUE(lead.kind == LeadKind::kEmbed || lead.kind == LeadKind::kFrame);
        if (lead.kind == LeadKind::kFrame) ++frames;
      }
    }
  }
  EXPECT_GT(frames, 0);
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
