// The Registry of a crawl that goes on for ever: when pages are handed out again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "crawl/registry_testing.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;
using testing::expect_sums;
using testing::RevisitWorld;
using testing::Script;
using testing::seed_of;

TEST(RegistryRevisits, GoOnForEverAtEachPagesPace) {
  RevisitWorld world;
  for (const char* path : {"fast", "slow", "gone", "closed"}) {
    world.candidates.push_back(seed_of(fmt::format("http://a.example/{}", path)));
  }
  world.answer = [](Script& self, DuePage&& page) {
    const std::string& url = page.candidate.url;
    if (url.ends_with("closed")) {
      self.refused.emit({.id = page.id, .reason = Refusal::kRobots});
      return;
    }
    Report report;
    report.id = page.id;
    report.date = self.now();
    report.status = url.ends_with("gone") ? 404 : 200;
    report.outcome = url.ends_with("fast")   ? VisitOutcome::kChanged
                     : url.ends_with("slow") ? VisitOutcome::kUnchanged
                                             : VisitOutcome::kGone;
    self.reports.emit(std::move(report));
  };
  for (int life = 0; life < 4; ++life) {
    world.run_for(Duration::days(30), [&](Registry& registry) {
      expect_sums(registry.counts());
      EXPECT_EQ(registry.counts().known, 4U);
      EXPECT_EQ(registry.counts().done, 4U);
      const auto record = registry.find(page_id_of("http://a.example/slow")).value().value();
      EXPECT_EQ(record.changes.visits, world.visits["http://a.example/slow"].size());
    });
  }
  const auto times = [&](const std::string& path) {
    return world.visits.at("http://a.example/" + path).size();
  };
  EXPECT_GT(times("fast"), 500U);
  EXPECT_LT(times("slow"), 12U);
  EXPECT_GE(times("slow"), 3U);
  EXPECT_LT(times("gone"), 12U);
  EXPECT_GE(times("closed"), 4U);  // every 30 days
  EXPECT_LE(times("closed"), 5U);
  EXPECT_LE(world.longest_between("http://a.example/closed"), Duration::days(30) * 2);
}

// A restart forgets nothing, and does not make pages due before their time.
TEST(RegistryRevisits, KeepTheirTimesOverRestarts) {
  CrawlOptions options;
  options.revisit.pace.first_min = Duration::days(5);
  options.revisit.pace.first_max = Duration::days(5);
  RevisitWorld world(options);
  for (int i = 0; i < 100; ++i)
    world.candidates.push_back(seed_of(fmt::format("http://a.example/{}", i)));
  world.answer = [](Script& self, DuePage&& page) {
    Report report;
    report.id = page.id;
    report.date = self.now();
    report.outcome = VisitOutcome::kChanged;
    self.reports.emit(std::move(report));
  };
  for (int life = 0; life < 6; ++life) {
    world.run_for(Duration::days(1), [&](Registry& registry) { expect_sums(registry.counts()); });
  }
  for (const auto& [url, times] : world.visits) {
    ASSERT_EQ(times.size(), 2U) << url;
    EXPECT_GE(times[1] - times[0], Duration::days(5));
    EXPECT_LE(times[1] - times[0], Duration::days(5) + Duration::minutes(5));
  }
}

// New pages do not wait for known ones, nor the other way round.
TEST(RegistryRevisits, TakeTurnsWithNewPages) {
  CrawlOptions options;
  options.revisit.pace.first_min = Duration::hours(1);
  options.revisit.pace.first_max = Duration::hours(1);
  options.per_host_max = 1;
  RevisitWorld world(options);
  for (int i = 0; i < 400; ++i)
    world.candidates.push_back(seed_of(fmt::format("http://a.example/{}", i)));
  std::vector<bool> is_new;
  std::map<std::string, int> seen;
  // A page a minute: when the first come due again, most are still new.
  world.answer = [&](Script& self, DuePage&& page) {
    is_new.push_back(seen[page.candidate.url]++ == 0);
    Report report;
    report.id = page.id;
    report.date = self.now();
    report.outcome = VisitOutcome::kUnchanged;
    self.answer_later(Duration::minutes(1), std::move(report));
  };
  world.run_for(Duration::hours(6), [](Registry& registry) { expect_sums(registry.counts()); });
  const auto from = is_new.begin() + 90;  // from an hour and a half on
  const auto until = is_new.begin() + 300;
  const auto fresh = std::count(from, until, true);
  EXPECT_NEAR(static_cast<double>(fresh), 105, 15);
}

// All ask for a visit an hour, which is ten times what their host bears: those of small templates
// get it, also after a restart.
TEST(RegistryRevisits, GroupsKeepAFewPagesOfEachTemplateAtTheirPace) {
  CrawlOptions options;
  options.revisit.remedy = Remedy::kGroup;
  options.revisit.pace.interval_min = Duration::hours(1);
  options.revisit.pace.first_max = Duration::hours(1);
  RevisitWorld world(options);
  for (int i = 0; i < 600; ++i) {
    world.candidates.push_back(seed_of(fmt::format("http://a.example/item/{}", i)));
  }
  const std::vector<std::string> few = {"http://a.example/", "http://a.example/news"};
  for (const std::string& url : few) world.candidates.push_back(seed_of(url));
  world.answer = [](Script& self, DuePage&& page) {
    Report report;
    report.id = page.id;
    report.date = self.now();
    report.outcome = VisitOutcome::kChanged;
    report.host = pace_of({page.host_load, page.host_pages, Duration::minutes(1)}, Remedy::kGroup);
    self.reports.emit(std::move(report));
  };
  for (int life = 0; life < 3; ++life) {
    if (life == 2) world.visits.clear();
    world.run_for(Duration::days(5), [&](Registry& registry) { expect_sums(registry.counts()); });
  }
  std::size_t all = 0;
  std::size_t kept = 0;
  for (const auto& [url, times] : world.visits) {
    all += times.size();
    if (times.size() > 100) ++kept;  // of the 120 that it asks for
  }
  for (const std::string& url : few) EXPECT_GT(world.visits[url].size(), 100U) << url;
  EXPECT_GT(kept, 4U);
  EXPECT_LT(kept, 40U);
  EXPECT_EQ(world.visits.size(), 602U);  // nobody is forgotten
  EXPECT_NEAR(static_cast<double>(all), 5 * 1440, 0.15 * 5 * 1440);
}

}  // namespace
}  // namespace meguri::crawl
