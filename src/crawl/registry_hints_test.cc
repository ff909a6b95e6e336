// The Registry, and what sitemaps and feeds say of its pages.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
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

std::string url_of(int page) { return fmt::format("http://a.example/{}", page); }

Candidate hint_of(std::string url, Instant modified) {
  return {.url = std::move(url),
          .via = "http://a.example/sitemap.xml",
          .depth = 1,
          .offer = Offer::kHint,
          .modified = modified};
}

CrawlOptions visited_after(Duration first) {
  CrawlOptions options;
  options.revisit.pace.first_min = first;
  options.revisit.pace.first_max = first;
  return options;
}

// Pages 0 to n - 1 of one host, of which those in `changed` have changed since their last visit.
class HintedWorld {
 public:
  HintedWorld(int pages, const CrawlOptions& options) : world(options) {
    for (int i = 0; i < pages; ++i) world.candidates.push_back(seed_of(url_of(i)));
    world.answer = [this](Script& self, DuePage&& page) {
      const bool is_first = world.visits[page.candidate.url].size() == 1;
      Report report;
      report.id = page.id;
      report.date = self.now();
      report.status = 200;
      report.outcome = is_first || changed.erase(page.candidate.url) > 0 ? VisitOutcome::kChanged
                                                                         : VisitOutcome::kUnchanged;
      self.reports.emit(std::move(report));
    };
  }

  void run_for(Duration time) {
    world.run_for(time, [this](Registry& registry) {
      expect_sums(registry.counts());
      right += registry.counts().hints_right;
      wrong += registry.counts().hints_wrong;
      hinted += registry.counts().hinted;
    });
  }
  void say_changed(int page) { world.candidates.push_back(hint_of(url_of(page), world.now())); }
  void change(int page) {
    changed.insert(url_of(page));
    say_changed(page);
  }
  const std::vector<Instant>& visits_of(int page) { return world.visits[url_of(page)]; }
  std::size_t visits() const {
    std::size_t all = 0;
    for (const auto& [url, times] : world.visits) all += times.size();
    return all;
  }

  RevisitWorld world;
  std::set<std::string> changed;
  std::uint64_t right = 0;
  std::uint64_t wrong = 0;
  std::uint64_t hinted = 0;
};

// Each run is another life of the Registry, so that this holds over restarts too.
TEST(RegistryHints, PullPagesForwardByHowOftenTheirHostWasRight) {
  HintedWorld world(20, visited_after(Duration::days(100)));
  world.run_for(Duration::days(1));
  const Instant hinted_at = world.world.now();
  for (int i = 0; i < 3; ++i) world.change(i);
  // Nothing is known of the host: a third of the way.
  for (int life = 0; life < 4; ++life) world.run_for(Duration::days(9));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(world.visits_of(i).size(), 2U) << i;
    const Duration wait = world.visits_of(i)[1] - world.visits_of(i)[0];
    EXPECT_GT(wait, Duration::days(30));
    EXPECT_LT(wait, Duration::days(32));
  }
  EXPECT_EQ(world.visits_of(4).size(), 1U);
  EXPECT_EQ(world.right, 3U);
  // It was right: at once.
  const Instant again_at = world.world.now();
  world.change(10);
  world.run_for(Duration::hours(1));
  ASSERT_EQ(world.visits_of(10).size(), 2U);
  EXPECT_LT(world.visits_of(10)[1] - again_at, Duration::minutes(5));
  EXPECT_EQ(world.right, 4U);
  EXPECT_EQ(world.wrong, 0U);
  EXPECT_GT(again_at, hinted_at);
}

TEST(RegistryHints, TellOnlyOfChangesSinceTheLastVisit) {
  HintedWorld world(3, visited_after(Duration::days(100)));
  const Instant before = world.world.now() - Duration::days(1);
  world.run_for(Duration::days(1));
  const Instant visited = world.visits_of(0).front();
  world.world.candidates.push_back(hint_of(url_of(0), before));   // the host was not known
  world.world.candidates.push_back(hint_of(url_of(1), visited));  // it was about to be visited
  world.run_for(Duration::days(60));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(world.visits_of(i).size(), 1U) << i;
  world.run_for(Duration::days(60));
  for (int i = 0; i < 3; ++i) {  // in their own time
    ASSERT_EQ(world.visits_of(i).size(), 2U) << i;
    EXPECT_GE(world.visits_of(i)[1] - world.visits_of(i)[0], Duration::days(100));
    EXPECT_LE(world.visits_of(i)[1] - world.visits_of(i)[0],
              Duration::days(100) + Duration::hours(1));
  }
  EXPECT_EQ(world.hinted, 0U);
}

// A sitemap that says each day that all its pages have changed just now.
TEST(RegistryHints, OfALyingHostAreNotHeededForLong) {
  constexpr int kPages = 400;
  constexpr int kDays = 60;
  const auto visits_with = [](bool pulls, HintedWorld& world) {
    for (int day = 0; day < kDays; ++day) {
      world.run_for(Duration::days(1));
      for (int i = 0; i < kPages; ++i) world.say_changed(i);
    }
    EXPECT_EQ(pulls, world.wrong > 0);
    return world.visits();
  };
  CrawlOptions options = visited_after(Duration::days(10));
  HintedWorld liar(kPages, options);
  const std::size_t lied = visits_with(true, liar);
  options.hints.pulls = false;
  HintedWorld same(kPages, options);
  const std::size_t own = visits_with(false, same);
  EXPECT_EQ(liar.right, 0U);
  EXPECT_LT(liar.wrong, 60U);  // of 24,000
  EXPECT_LT(lied, own + own / 10);
  EXPECT_GE(own, kPages * 2U);
}

// What it named before it was known to lie goes back to its own time, the queue's included.
TEST(RegistryHints, AreJudgedAgainWhenTheirTimeComes) {
  constexpr int kPages = 2000;
  CrawlOptions options = visited_after(Duration::days(50));
  HintedWorld world(kPages, options);
  world.run_for(Duration::days(1));
  for (int i = 0; i < 5; ++i) world.change(i);
  world.run_for(Duration::days(20));
  EXPECT_EQ(world.right, 5U);
  // Believed, and from now on lying.
  for (int i = 100; i < kPages; ++i) world.say_changed(i);
  world.run_for(Duration::days(5));
  EXPECT_GE(world.wrong, 5U);
  EXPECT_LT(world.wrong, 150U);
  std::size_t again = 0;
  for (int i = 100; i < kPages; ++i) again += world.visits_of(i).size() - 1;
  EXPECT_LT(again, 150U);
  world.run_for(Duration::days(30));  // all in their own time, none lost
  for (int i = 100; i < kPages; ++i) EXPECT_EQ(world.visits_of(i).size(), 2U) << i;
}

TEST(RegistryHints, BringBackWhatIsGoneAndNotWhatIsRefused) {
  CrawlOptions options = visited_after(Duration::days(10));
  options.revisit.pace.hard_first = Duration::days(200);
  options.revisit.refused_wait = Duration::days(200);
  RevisitWorld world(options);
  for (int i = 0; i < 5; ++i) world.candidates.push_back(seed_of(url_of(i)));
  bool is_back = false;
  std::uint64_t right = 0;
  world.answer = [&](Script& self, DuePage&& page) {
    if (page.candidate.url == url_of(1)) {
      self.refused.emit({.id = page.id, .reason = Refusal::kRobots});
      return;
    }
    const bool is_gone = page.candidate.url == url_of(0) && !is_back;
    Report report;
    report.id = page.id;
    report.date = self.now();
    report.status = is_gone ? 404 : 200;
    report.outcome = is_gone ? VisitOutcome::kGone : VisitOutcome::kChanged;
    self.reports.emit(std::move(report));
  };
  const auto count = [&](Registry& registry) {
    expect_sums(registry.counts());
    right += registry.counts().hints_right;
  };
  world.run_for(Duration::days(1), count);
  for (int i = 2; i < 5; ++i) world.candidates.push_back(hint_of(url_of(i), world.now()));
  world.run_for(Duration::days(5), count);
  EXPECT_EQ(right, 3U);
  is_back = true;
  const Instant said = world.now();
  for (int i = 0; i < 2; ++i) world.candidates.push_back(hint_of(url_of(i), said));
  world.run_for(Duration::days(1), count);
  ASSERT_EQ(world.visits[url_of(0)].size(), 2U);
  EXPECT_LT(world.visits[url_of(0)][1] - said, Duration::minutes(5));
  EXPECT_EQ(world.visits[url_of(1)].size(), 1U);
  EXPECT_EQ(right, 4U);
}

// A page under way when it is said to have changed comes home, and is visited again in its time.
TEST(RegistryHints, DoNotTouchPagesThatAreUnderWay) {
  RevisitWorld world(visited_after(Duration::days(10)));
  world.candidates.push_back(seed_of(url_of(0)));
  bool is_said = false;
  world.answer = [&](Script& self, DuePage&& page) {
    if (!is_said) self.candidates.emit(hint_of(url_of(0), self.now() + Duration::from_ms(1)));
    is_said = true;
    Report report;
    report.id = page.id;
    report.outcome = VisitOutcome::kChanged;
    self.answer_later(Duration::minutes(30), std::move(report));
  };
  world.run_for(Duration::days(9), [](Registry& registry) {
    expect_sums(registry.counts());
    EXPECT_EQ(registry.counts().in_flight, 0U);
    EXPECT_FALSE(registry.find(page_id_of(url_of(0))).value().value().hint);
  });
  EXPECT_EQ(world.visits[url_of(0)].size(), 1U);
}

}  // namespace
}  // namespace meguri::crawl
