// The Registry and pages that come with a history.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "archive/sha1.h"
#include "crawl/page_history.h"
#include "crawl/registry_testing.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;
using testing::expect_sums;
using testing::RevisitWorld;
using testing::run_script;
using testing::Script;
using testing::seed_of;

enum class Habit : std::uint8_t { kChanges, kStands };

// As the Seeder brings it: visited `visits` times, `every` so long, the last time at `last`.
Candidate known_page(const std::string& url, Habit habit, int visits, Duration every,
                     Instant last) {
  RevisitOptions options;
  options.is_on = true;
  const RevisitPlan plan = RevisitPlan::make(options).value();
  PageHistory history(plan, options.counts_from);
  for (int i = visits - 1; i >= 0; --i) {
    HistoryVisit visit{.url = url, .date = last - every * i};
    visit.status = 200;
    visit.digest = archive::Sha1().of(habit == Habit::kChanges ? std::to_string(i) : "same");
    history.take(visit);
  }
  const PageRecord record = history.end().value();
  Candidate candidate = record.candidate;
  flow::Codec<PageRecord>::encode(record, candidate.history);
  return candidate;
}

void answer_unchanged(Script& self, DuePage&& page) {
  Report report;
  report.id = page.id;
  report.date = self.now();
  report.status = 200;
  report.outcome = VisitOutcome::kUnchanged;
  self.reports.emit(std::move(report));
}

TEST(RegistryHistory, IsWhatThePageBeginsWith) {
  RevisitWorld world;
  const Instant begin = world.now();
  const std::string url = "http://a.example/slow";
  world.candidates = {
      known_page(url, Habit::kStands, 5, Duration::days(5), begin - Duration::days(3))};
  const Candidate candidate = world.candidates[0];
  PageRecord before;
  ASSERT_TRUE(flow::Codec<PageRecord>::decode(candidate.history, before));
  ASSERT_GT(before.next_visit, begin);
  world.answer = answer_unchanged;
  world.run_for(Duration::hours(1), [&](Registry& registry) {
    expect_sums(registry.counts());
    EXPECT_EQ(registry.counts().known, 1U);
    EXPECT_EQ(registry.counts().done, 1U);
    EXPECT_EQ(registry.counts().waiting, 0U);
    EXPECT_EQ(registry.counts().from_history, 1U);
    const PageRecord record = registry.find(page_id_of(url)).value().value();
    EXPECT_EQ(record.changes, before.changes);
    EXPECT_EQ(record.next_visit, before.next_visit);
    EXPECT_EQ(record.prior, before.prior);
    EXPECT_EQ(record.candidate.history, "");
    EXPECT_EQ(record.host, host_hash_of("a.example"));
  });
  EXPECT_EQ(world.visits.size(), 0U);  // it is not due
  world.run_for(before.next_visit - world.now() + Duration::days(1), [&](Registry& registry) {
    expect_sums(registry.counts());
    const PageRecord record = registry.find(page_id_of(url)).value().value();
    EXPECT_EQ(record.visits, 1U);
    EXPECT_EQ(record.changes.visits, 6U);
  });
  ASSERT_EQ(world.visits[url].size(), 1U);
  EXPECT_GE(world.visits[url][0], before.next_visit);
}

// Those whose time is over long since do not all come at once, and the fast ones come first.
TEST(RegistryHistory, IsSpreadWhereVisitsAreOverdue) {
  RevisitWorld world;
  const Instant begin = world.now();
  for (int i = 0; i < 100; ++i) {
    world.candidates.push_back(known_page(fmt::format("http://a.example/fast/{}", i),
                                          Habit::kChanges, 10, Duration::hours(2),
                                          begin - Duration::days(300)));
    world.candidates.push_back(known_page(fmt::format("http://a.example/slow/{}", i),
                                          Habit::kStands, 3, Duration::days(20),
                                          begin - Duration::days(300)));
  }
  world.answer = answer_unchanged;
  const auto visited = [&world](const std::string& kind) {
    return std::ranges::count_if(world.visits, [&](const auto& page) {
      return page.first.starts_with("http://a.example/" + kind);
    });
  };
  world.run_for(Duration::hours(4), [](Registry& registry) { expect_sums(registry.counts()); });
  EXPECT_GE(visited("fast"), 90);
  EXPECT_LE(visited("slow"), 40);
  world.run_for(Duration::days(1), [](Registry& registry) { expect_sums(registry.counts()); });
  EXPECT_EQ(visited("fast"), 100);
  EXPECT_EQ(visited("slow"), 100);
}

TEST(RegistryHistory, DoesNotKeepASeedWaiting) {
  RevisitWorld world;
  const std::string url = "http://a.example/";
  world.candidates = {
      known_page(url, Habit::kStands, 10, Duration::days(20), world.now() - Duration::days(3))};
  world.candidates[0].offer = Offer::kSeed;
  world.answer = answer_unchanged;
  world.run_for(Duration::hours(1), [&](Registry& registry) {
    EXPECT_EQ(registry.find(page_id_of(url)).value().value().changes.visits, 11U);
  });
  EXPECT_EQ(world.visits[url].size(), 1U);
}

// What the crawl knows by itself is better.
TEST(RegistryHistory, ComesTooLateForAKnownPage) {
  RevisitWorld world;
  const std::string url = "http://a.example/";
  world.candidates = {seed_of(url), known_page(url, Habit::kStands, 10, Duration::days(20),
                                               world.now() - Duration::days(3))};
  world.answer = answer_unchanged;
  for (int life = 0; life < 2; ++life) {
    world.run_for(Duration::hours(1), [&](Registry& registry) {
      expect_sums(registry.counts());
      EXPECT_EQ(registry.counts().known, 1U);
      EXPECT_EQ(registry.counts().from_history, 0U);
      const PageRecord record = registry.find(page_id_of(url)).value().value();
      EXPECT_EQ(record.changes.visits, 1U);
      EXPECT_EQ(record.candidate.history, "");
    });
    world.candidates = {
        known_page(url, Habit::kStands, 5, Duration::days(20), world.now() - Duration::days(3))};
  }
}

TEST(RegistryHistory, CountsForNothingWherePagesAreVisitedOnce) {
  const std::string url = "http://a.example/";
  const Instant now = Instant::from_ms(1'767'225'600'000);
  run_script({known_page(url, Habit::kStands, 10, Duration::days(20), now)}, CrawlOptions(),
             answer_unchanged, [&](Registry& registry, Script& script) {
               EXPECT_EQ(script.handed.size(), 1U);
               EXPECT_EQ(registry.counts().from_history, 0U);
               expect_sums(registry.counts());
             });
}

}  // namespace
}  // namespace meguri::crawl
