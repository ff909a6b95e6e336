// How polite a crawl is, in many accesses: a web with hostile hosts among the others, a process
// that is killed again and again, and the servers' own log as the judge.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "app/crawl_simulation_testing.h"

namespace meguri::app {
namespace {

using base::Duration;
using testing::Crawl;

constexpr int kLives = 5;

// One crawl with its restarts; how many accesses the servers counted.
std::size_t accesses_of_crawl(std::uint64_t seed, std::uint64_t hosts, std::uint64_t pages) {
  Crawl crawl(seed, hosts, pages, false, {"all"});
  crawl.options().queued_max = 200'000;
  crawl.options().pages_per_host_max = 2'000;
  crawl.options().tries_max = 3;
  crawl.options().log.dir.clear();
  // What hostile hosts send without end need not be compressed by the megabyte.
  crawl.options().fetch.html_bytes_max = 100'000;
  crawl.options().fetch.body_bytes_max = 100'000;
  crawl.http().refused_chance = 0.01;
  crawl.http().silent_chance = 0.01;
  crawl.http().reset_chance = 0.01;
  crawl.http().disconnect_chance = 0.01;
  for (const sim::HostileHabit* habit : crawl.world().hostile().habits()) {
    for (const char* scheme : {"http://", "https://"}) {
      crawl.options().seeds.push_back(scheme + sim::HostileWeb::host_of(*habit) + "/");
    }
  }
  env::Random random(seed);
  for (int life = 1;; ++life) {
    crawl.start();
    const auto started = crawl.engine().start();
    EXPECT_TRUE(started) << started.error().message();
    if (life == kLives) break;
    const auto time = Duration::from_ms(static_cast<std::int64_t>(random.below(600'000)));
    const auto ran = crawl.engine().run_for(time);
    EXPECT_TRUE(ran) << ran.error().message();
    crawl.crash(random);
    crawl.clock().advance(Duration::from_ms(static_cast<std::int64_t>(random.below(3'000))));
  }
  const auto quiet = crawl.engine().run_until_quiet();
  EXPECT_TRUE(quiet) << quiet.error().message();
  EXPECT_EQ(crawl.counts().done, crawl.counts().known);
  EXPECT_TRUE(crawl.engine().drain());
  // How long an answer took is lost with its epoch, and so is the rest that depends on it.
  sim::CheckOptions rules = crawl.rules();
  rules.seeds.clear();
  rules.host_gap_factor = 0;
  const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
  EXPECT_EQ(report.total(), 0U) << testing::first_breaches(report);
  return crawl.log().size();
}

// Stops at the first seed that fails.
std::size_t accesses_of_seeds(std::uint64_t first, std::size_t wanted, std::uint64_t hosts,
                              std::uint64_t pages) {
  std::size_t accesses = 0;
  for (std::uint64_t seed = first; accesses < wanted; ++seed) {
    SCOPED_TRACE(seed);
    accesses += accesses_of_crawl(seed, hosts, pages);
    if (::testing::Test::HasFailure()) break;
  }
  ::testing::Test::RecordProperty("accesses", std::to_string(accesses));
  return accesses;
}

TEST(PolitenessSimulation, NoBreachAmongHostileHostsAndOverRestarts) {
  EXPECT_GE(accesses_of_seeds(1, 5'000, 30, 600), 5'000U);
}

TEST(LongPolitenessSimulation, NoBreachInAMillionAccesses) {
  EXPECT_GE(accesses_of_seeds(1'000, 1'000'000, 1'500, 30'000), 1'000'000U);
}

}  // namespace
}  // namespace meguri::app
