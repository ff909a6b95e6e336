// The whole crawl in virtual time while everything goes wrong at once: the process is killed, the
// power fails, writes are torn, syncs fail, disks are full, connections are refused and reset, and
// answers never come. The archive is the same in the end.
//
// A seed that fails is named; MEGURI_SIMULATION_SEED=N runs that one alone.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/crawl_simulation_testing.h"
#include "base/text.h"
#include "crawl/messages.h"

namespace meguri::app {
namespace {

using archive::StoredVisit;
using archive::StoredVisitKind;
using base::Duration;
using base::ErrorCode;
using testing::Crawl;

constexpr int kLives = 6;

class FaultyCrawl {
 public:
  explicit FaultyCrawl(std::uint64_t seed) : random_(seed), crawl_(seed, 6, 40, true) {
    crawl_.options().tries_max = 12;  // by chance several fail in a row
    // Half of the webs have a network that can be trusted, so that what disks do is seen alone.
    if (random_.below(2) == 0) return;
    crawl_.http().refused_chance = 0.04;
    crawl_.http().silent_chance = 0.04;
    crawl_.http().reset_chance = 0.04;
    crawl_.http().disconnect_chance = 0.04;
    crawl_.dns().server_failure_chance = 0.04;
    crawl_.dns().silent_chance = 0.04;
  }

  void run() {
    for (int life = 1; life < kLives; ++life) {
      live_until_a_fault();
      note_what_is_durable();
      crawl_.clock().advance(milliseconds_below(3'000));
    }
    crawl_.start();
    const auto started = crawl_.engine().start();
    ASSERT_TRUE(started) << started.error().message();
    const auto quiet = crawl_.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    ASSERT_TRUE(crawl_.engine().drain());
    check_that_nothing_was_lost();
    check_that_all_is_there();
    check_politeness();
    check_index();
  }

  // How many visits the checkpoints had declared durable at the crashes, in all.
  std::size_t durable() const {
    std::size_t count = 0;
    for (const Crash& crash : crashes_) count += crash.durable.size();
    return count;
  }

 private:
  // What was on the disk after a crash, and how long the servers' log was.
  struct Crash {
    std::size_t accesses = 0;
    std::vector<StoredVisit> durable;
  };

  Duration milliseconds_below(std::uint64_t n) {
    return Duration::from_ms(static_cast<std::int64_t>(random_.below(n)));
  }

  // Errors are the faults', and end the process; so does the end of this life.
  void live_until_a_fault() {
    const std::uint64_t fault = random_.below(5);
    env::FaultyFileSystem& files = crawl_.files();
    const std::uint64_t changes = random_.below(400);
    if (fault == 0) files.cut_power_after(changes);
    if (fault == 1) files.fail_sync_after(changes / 8);
    if (fault == 2) {
      files.fail_change_after(changes,
                              random_.below(2) == 0 ? ErrorCode::kIo : ErrorCode::kNoSpace);
    }
    crawl_.start();
    const Duration time = milliseconds_below(60'000);
    if (crawl_.engine().start()) std::ignore = crawl_.engine().run_for(time);
    // The power may fail at the end of any of them; it has where it was cut.
    crawl_.end(fault == 0 || fault == 3 ? &random_ : nullptr);
  }

  void note_what_is_durable() {
    crashes_.push_back({crawl_.log().size(), crawl_.durable_visits()});
  }

  static std::string url_of(std::string_view host, std::string_view target) {
    return std::string("http://").append(host).append(target);
  }

  // What failed or was cut on its way may be asked for again.
  static bool is_whole(const StoredVisit& visit) {
    if (visit.kind == StoredVisitKind::kRevisit) return true;  // its body is elsewhere, and whole
    return visit.kind == StoredVisitKind::kResponse && visit.truncated.empty();
  }

  // Everything that a checkpoint declared is there, and nobody was asked for it again.
  void check_that_nothing_was_lost() {
    std::set<std::string> held;
    for (const StoredVisit& visit : crawl_.visits()) held.insert(visit.id.to_string());
    for (const Crash& crash : crashes_) {
      std::set<std::string> done;
      for (const StoredVisit& visit : crash.durable) {
        EXPECT_TRUE(held.contains(visit.id.to_string())) << visit.target_uri;
        if (is_whole(visit)) done.insert(visit.target_uri);
      }
      for (std::size_t i = crash.accesses; i < crawl_.log().size(); ++i) {
        const sim::Access& access = crawl_.log()[i];
        if (access.status >= 500) continue;  // may be tried again
        EXPECT_FALSE(done.contains(url_of(access.host, access.target))) << access.target;
      }
    }
  }

  // It is what the files would give, entry by entry.
  void check_index() {
    const Crawl::Entries indexed = crawl_.indexed();
    const Crawl::Entries filed = crawl_.entries_of_files();
    EXPECT_GE(indexed.size(), crawl_.visits().size());
    for (const auto& [key, entry] : filed) {
      const auto found = indexed.find(key);
      ASSERT_NE(found, indexed.end()) << entry.url << " is not in the index";
      EXPECT_EQ(found->second, entry) << entry.url;
    }
    EXPECT_EQ(indexed.size(), filed.size()) << "the index has what is not in the files";
  }

  // robots.txt could not be had, in several tries: then no page of its host may be asked for.
  bool is_parked(const std::string& url) {
    const auto page = crawl_.registry().find(crawl::page_id_of(url)).value();
    return page && page->state == crawl::PageState::kRefused &&
           page->refusal == crawl::Refusal::kParked;
  }

  void check_that_all_is_there() {
    std::map<std::string, int> answers;
    for (const StoredVisit& visit : crawl_.visits()) {
      if (visit.kind != StoredVisitKind::kFailure) ++answers[visit.target_uri];
    }
    sim::ReachOptions reach;
    reach.seeds = crawl_.options().seeds;
    reach.at = testing::kStart;
    reach.hints = true;
    reach.sitemaps = true;
    reach.is_lost = [&](std::string_view host, std::string_view target) {
      return is_parked(url_of(host, target));
    };
    std::vector<std::string> missing;
    for (const sim::Reached& one : sim::reachable(crawl_.world(), reach)) {
      const std::string url = url_of(one.host, one.target);
      if (answers.erase(url) == 0 && !is_parked(url)) missing.push_back(url);
    }
    EXPECT_EQ(missing, std::vector<std::string>{});
    for (const auto& [url, count] : answers) ADD_FAILURE() << url << " is not to be reached";
  }

  // How long an answer took is lost with its epoch, and so is the rest that depends on it.
  void check_politeness() {
    sim::CheckOptions rules = crawl_.rules();
    rules.host_gap_factor = 0;
    const sim::CheckReport report = sim::check_log(crawl_.world(), crawl_.log(), rules);
    EXPECT_EQ(report.total(), 0U) << testing::first_breaches(report);
  }

  env::Random random_;
  Crawl crawl_;
  std::vector<Crash> crashes_;
};

std::optional<std::uint64_t> seed_of_environment() {
  const char* text = std::getenv("MEGURI_SIMULATION_SEED");
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

// Stops at the first seed that fails.
void run_seeds(std::uint64_t first, std::uint64_t last) {
  if (const auto one = seed_of_environment()) first = last = *one;
  std::size_t durable = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("MEGURI_SIMULATION_SEED=" + std::to_string(seed));
    FaultyCrawl crawl(seed);
    crawl.run();
    durable += crawl.durable();
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(durable, 0U) << "nothing was there to be lost";
}

TEST(FaultyCrawlSimulation, LeavesTheSameArchive) { run_seeds(1, 40); }

TEST(LongFaultyCrawlSimulation, LeavesTheSameArchiveWithAThousandSeeds) { run_seeds(41, 1040); }

}  // namespace
}  // namespace meguri::app
