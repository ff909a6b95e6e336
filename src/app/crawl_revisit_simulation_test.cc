// The whole crawl over weeks of virtual time: pages are visited again while the process is killed
// and the power fails, and hosts whose pages ask for more than they bear are spared.
//
// A seed that fails is named; MEGURI_SIMULATION_SEED=N runs that one alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/crawl_simulation_testing.h"
#include "archive/warc_reader.h"
#include "crawl/messages.h"

namespace meguri::app {
namespace {

using archive::StoredVisit;
using archive::StoredVisitKind;
using base::Duration;
using base::Instant;
using testing::Crawl;

constexpr int kLives = 5;

// Whatever a page's pace is, it is asked for no more often than this.
constexpr Duration kIntervalMin = Duration::hours(1);

void make_continuous(Crawl& crawl) {
  crawl.options().revisit.is_on = true;
  crawl.options().revisit.pace.interval_min = kIntervalMin;
  crawl.options().log.dir.clear();
}

// Every revisit record refers to a record of the archive that has the content.
void check_references(Crawl& crawl) {
  std::set<std::string> stored;
  std::vector<std::string> referred;
  const std::vector<std::string> names = crawl.files().list("/archive/warc").value();
  for (const std::string& name : names) {
    auto file = crawl.files().open_read("/archive/warc/" + name).value();
    archive::WarcReader reader(*file);
    while (const auto more = reader.next()) {
      if (!*more) break;
      if (reader.record().type() == "response")
        stored.emplace(reader.record().get("WARC-Record-ID"));
      if (reader.record().type() != "revisit") continue;
      referred.emplace_back(reader.record().get("WARC-Refers-To"));
    }
  }
  EXPECT_GT(referred.size(), 0U);
  for (const std::string& id : referred) EXPECT_TRUE(stored.contains(id)) << id;
}

class RevisitingCrawl {
 public:
  explicit RevisitingCrawl(std::uint64_t seed) : random_(seed), crawl_(seed, 6, 60) {
    make_continuous(crawl_);
    crawl_.options().tries_max = 1;  // tries that follow soon are not this test's
    crawl_.http().refused_chance = 0.01;
    crawl_.http().reset_chance = 0.01;
  }

  void run() {
    for (int life = 1; life < kLives; ++life) {
      crawl_.start();
      if (random_.below(3) == 0) crawl_.files().cut_power_after(random_.below(4'000));
      const auto time = Duration::minutes(static_cast<std::int64_t>(random_.below(3 * 24 * 60)));
      if (crawl_.engine().start()) std::ignore = crawl_.engine().run_for(time);
      crawl_.crash(random_);
      crashes_.push_back(crawl_.clock().utc());
      for (StoredVisit& visit : crawl_.durable_visits()) durable_.push_back(std::move(visit));
      crawl_.clock().advance(Duration::seconds(static_cast<std::int64_t>(random_.below(7'200))));
    }
    crawl_.start();
    const auto started = crawl_.engine().start();
    ASSERT_TRUE(started) << started.error().message();
    const auto ran = crawl_.engine().run_for(Duration::days(6));
    ASSERT_TRUE(ran) << ran.error().message();
    ASSERT_TRUE(crawl_.engine().drain());
    check_that_nothing_was_lost();
    check_that_none_is_forgotten();
    check_that_none_comes_too_often();
    check_references(crawl_);
    check_politeness();
  }

  std::size_t accesses() const { return crawl_.log().size(); }

 private:
  void check_that_nothing_was_lost() {
    std::set<std::string> held;
    for (const StoredVisit& visit : crawl_.visits()) held.insert(visit.id.to_string());
    for (const StoredVisit& visit : durable_) {
      EXPECT_TRUE(held.contains(visit.id.to_string())) << visit.target_uri;
    }
  }

  // Every page that was ever archived is known, with a time to come; nothing asked for more than
  // hosts bear, so that none is late by more than it takes to ask a host's others.
  void check_that_none_is_forgotten() {
    const Instant late = crawl_.clock().utc() - Duration::hours(6);
    std::size_t again = 0;
    for (const auto& [url, visits] : crawl_.archived()) {
      const auto page = crawl_.registry().find(crawl::page_id_of(url)).value();
      ASSERT_TRUE(page) << url;
      if (visits > 1) ++again;
      if (page->state != crawl::PageState::kVisited) continue;
      EXPECT_GT(page->next_visit, late) << url;
      EXPECT_LE(page->next_visit - page->visited, Duration::days(401)) << url;
    }
    EXPECT_GT(again, 20U);
  }

  // What was in flight at a crash is visited again, and so is what was not yet durable.
  void check_that_none_comes_too_often() {
    std::map<std::string, Instant> last;
    for (const StoredVisit& visit : crawl_.visits()) {
      if (visit.kind == StoredVisitKind::kFailure || !visit.truncated.empty()) continue;
      const auto [place, is_first] = last.try_emplace(visit.target_uri, visit.date);
      if (is_first) continue;
      const Instant before = std::exchange(place->second, visit.date);
      const bool is_crash_between = std::ranges::any_of(
          crashes_, [&](Instant crash) { return before <= crash && crash <= visit.date; });
      if (is_crash_between) continue;
      EXPECT_GE(visit.date - before, kIntervalMin) << visit.target_uri;
    }
  }

  // How long an answer took is lost with its epoch, and so is the rest that depends on it.
  void check_politeness() {
    sim::CheckOptions rules = crawl_.rules();
    rules.seeds.clear();
    rules.host_gap_factor = 0;
    const sim::CheckReport report = sim::check_log(crawl_.world(), crawl_.log(), rules);
    EXPECT_EQ(report.total(), 0U) << testing::first_breaches(report);
  }

  env::Random random_;
  Crawl crawl_;
  std::vector<Instant> crashes_;
  std::vector<StoredVisit> durable_;
};

// Stops at the first seed that fails.
void run_seeds(std::uint64_t first, std::uint64_t last) {
  if (const char* text = std::getenv("MEGURI_SIMULATION_SEED")) {
    first = last = std::strtoull(text, nullptr, 10);
  }
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("MEGURI_SIMULATION_SEED=" + std::to_string(seed));
    RevisitingCrawl crawl(seed);
    crawl.run();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(RevisitSimulation, GoesOnOverCrashes) { run_seeds(1, 2); }

TEST(LongRevisitSimulation, GoesOnOverCrashesWithManySeeds) { run_seeds(3, 202); }

// A host all of whose pages change by the hour, far more than it can be asked for, among others.
class OverloadedCrawl {
 public:
  OverloadedCrawl(std::uint64_t fast_pages, Duration wait)
      : fast_pages_(fast_pages), crawl_(1, 10, 200) {
    make_continuous(crawl_);
    // A host may have far more pages than there is room for.
    crawl_.options().queued_max = std::max<std::uint64_t>(100, fast_pages / 5);
    fast_host_ = crawl_.host_of_rank(2);
    crawl::HostRule rule;
    rule.matches = {fast_host_};
    rule.wait_ms = static_cast<std::uint32_t>(wait.ms());
    crawl_.options().hosts = {rule};
    crawl_.options().seeds.push_back("http://" + fast_host_ + "/list/0");
    crawl_.rewrite_answers([this](const std::string& host, const std::string& target,
                                  fetch::Fetched& fetched) { answer(host, target, fetched); });
  }

  void run(Duration time) {
    crawl_.start();
    const auto started = crawl_.engine().start();
    ASSERT_TRUE(started) << started.error().message();
    const auto ran = crawl_.engine().run_for(time);
    ASSERT_TRUE(ran) << ran.error().message();
    ASSERT_TRUE(crawl_.engine().drain());
  }

  const Crawl& crawl() const { return crawl_; }

  // Visits to the pages of all other hosts.
  std::size_t visits_elsewhere() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        crawl_.log(), [&](const sim::Access& access) { return access.host != fast_host_; }));
  }

  // How much of the time from `begin` on the fast host was asked, or had to be left alone.
  double busy_share(Instant begin, Duration wait) const {
    Duration busy;
    for (const sim::Access& access : crawl_.log()) {
      if (access.host != fast_host_ || access.arrival < begin) continue;
      const Duration lasted = access.end - access.arrival;
      busy = busy + lasted + std::max(wait, lasted * 10);
    }
    return static_cast<double>(busy.ms()) / static_cast<double>((crawl_.clock_now() - begin).ms());
  }

  // By how much the intervals of the fast pages are stretched that were visited on the last day:
  // the factor grows with all that is found out of the others.
  std::vector<double> stretches() {
    std::vector<double> found;
    for (std::uint64_t page = 0; page < fast_pages_; ++page) {
      const std::string url = fmt::format("http://{}/fast/{}", fast_host_, page);
      const auto record = crawl_.registry().find(crawl::page_id_of(url)).value();
      if (!record || record->state != crawl::PageState::kVisited) continue;
      if (record->visited < crawl_.clock_now() - Duration::days(1)) continue;
      found.push_back((record->next_visit - record->visited).in_seconds() /
                      record->changes.interval.in_seconds());
    }
    return found;
  }

 private:
  static constexpr std::uint64_t kLinksOfAList = 500;

  // Its lists name all pages, of which each says what hour it is.
  void answer(const std::string& host, const std::string& target, fetch::Fetched& fetched) const {
    if (host != fast_host_ || target == "/robots.txt") return;
    std::string body;
    if (target.starts_with("/list/")) {
      const std::uint64_t list = std::strtoull(target.c_str() + 6, nullptr, 10);
      const std::uint64_t begin = list * kLinksOfAList;
      const std::uint64_t end = std::min(begin + kLinksOfAList, fast_pages_);
      for (std::uint64_t page = begin; page < end; ++page) {
        body += fmt::format("<a href=/fast/{}>{}</a>\n", page, page);
      }
      // The first names all others.
      for (std::uint64_t next = 1; list == 0 && next * kLinksOfAList < fast_pages_; ++next) {
        body += fmt::format("<a href=/list/{}>{}</a>\n", next, next);
      }
    } else if (target.starts_with("/fast/")) {
      const std::int64_t hour = crawl_.clock_now().ms() / 3'600'000;
      for (int word = 0; word < 40; ++word) body += fmt::format("w{}h{} ", word, hour);
    } else {
      return;
    }
    fetched.status = 200;
    fetched.response_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    fetched.body = "<html><body><p>" + body + "</p></body></html>";
  }

  std::uint64_t fast_pages_;
  std::string fast_host_;
  Crawl crawl_;
};

void spares_an_overloaded_host(std::uint64_t pages, Duration wait, Duration time) {
  OverloadedCrawl crawl(pages, wait);
  crawl.run(time);
  const sim::CheckOptions rules{.host_gap = std::min(wait, Duration::seconds(5)), .seeds = {}};
  const sim::CheckReport report = sim::check_log(crawl.crawl().world(), crawl.crawl().log(), rules);
  EXPECT_EQ(report.total(), 0U) << testing::first_breaches(report);

  // In the second half the host is asked as often as it may be, and each page has its share.
  const double busy = crawl.busy_share(testing::kStart + Duration::from_ms(time.ms() / 2), wait);
  std::vector<double> stretches = crawl.stretches();
  ASSERT_GE(stretches.size(), 100U);
  std::ranges::sort(stretches);
  const double median = stretches[stretches.size() / 2];
  const auto alike = std::ranges::count_if(
      stretches, [&](double stretch) { return std::abs(stretch - median) <= 0.25 * median; });
  fmt::print("asked {:.0f} % of the time; {} pages stretched by {:.1f} to {:.1f}, {} near {:.1f}\n",
             busy * 100, stretches.size(), stretches.front(), stretches.back(), alike, median);
  EXPECT_LE(busy, 1);
  EXPECT_GE(busy, 0.8);
  EXPECT_GT(median, 2);
  EXPECT_GE(static_cast<double>(alike), 0.8 * static_cast<double>(stretches.size()));

  OverloadedCrawl alone(0, wait);
  alone.run(time);
  const auto with = static_cast<double>(crawl.visits_elsewhere());
  const auto without = static_cast<double>(alone.visits_elsewhere());
  EXPECT_NEAR(with / without, 1, 0.05);
}

TEST(OverloadSimulation, AHostIsAskedNoMoreThanItBearsAndTheOthersAreUnharmed) {
  spares_an_overloaded_host(200, Duration::seconds(60), Duration::days(8));
}

TEST(LongOverloadSimulation, AHostOfAHundredThousandPages) {
  spares_an_overloaded_host(100'000, Duration::seconds(20), Duration::days(80));
}

}  // namespace
}  // namespace meguri::app
