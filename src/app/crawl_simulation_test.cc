// The whole crawl on the virtual web, in virtual time: every order of events has a seed.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "app/crawl_graph.h"
#include "archive/warc_reader.h"
#include "archive/warc_visit.h"
#include "base/check.h"
#include "env/clock.h"
#include "env/faulty_file_system.h"
#include "env/random.h"
#include "flow/simulation_engine.h"
#include "sim/checker.h"
#include "sim/leads.h"
#include "sim/simulated_dns.h"
#include "sim/simulated_http_client.h"
#include "sim/world.h"

namespace meguri::app {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

// A world, a crawler in it, and what the servers saw.
class Crawl {
 public:
  explicit Crawl(std::uint64_t seed, std::uint64_t hosts = 12, std::uint64_t pages = 120)
      : seed_(seed), world_(world_of(seed, hosts, pages)), clock_(kStart), files_(seed) {
    options_.seeds = {"http://" + world_.census().name_of(world_.census().host_of_rank(0)) + "/"};
    options_.scope.scope = crawl::Scope::kAny;
    options_.user_agent = "meguri (+http://www.example.com/)";
    options_.warc.series.dir = "/archive/warc";
    options_.log.dir = "/archive/logs";
    options_.log.file_bytes_max = 4000;  // so that it turns over
    CHECK(files_.make_dirs("/archive/warc").has_value());
    CHECK(files_.make_dirs("/archive/state").has_value());
    http_.access_log = [this](const sim::Access& access) { log_.push_back(access); };
  }

  crawl::CrawlOptions& options() { return options_; }
  sim::SimulatedHttpOptions& http() { return http_; }
  sim::SimulatedDnsOptions& dns() { return dns_; }
  env::FaultyFileSystem& files() { return files_; }
  env::VirtualClock& clock() { return clock_; }
  const sim::World& world() const { return world_; }
  const std::vector<sim::Access>& log() const { return log_; }

  void start() {
    ++lives_;
    http_.seed = seed_ * 1000 + lives_;
    dns_.seed = http_.seed;
    CrawlSeams seams;
    seams.addresses = fetch::AddressPolicy({*fetch::Network::parse("127.0.0.0/8")});
    seams.make_http = [this](const env::Clock& clock) {
      return std::make_unique<sim::SimulatedHttpClient>(world_, clock, http_);
    };
    seams.make_dns = [this](const env::Clock& clock) {
      return std::make_unique<sim::SimulatedDns>(world_, clock, dns_);
    };
    nodes_.emplace(build_crawl(options_, seams));
    engine_ = std::make_unique<flow::SimulationEngine>(
        std::move(nodes_->graph),
        flow::EngineOptions{.files = &files_,
                            .state_dir = "/archive/state",
                            .epoch_every = Duration::seconds(5),
                            .seed = http_.seed},
        clock_);
  }

  flow::SimulationEngine& engine() { return *engine_; }
  const crawl::RegistryCounts& counts() { return engine_->module(nodes_->registry).counts(); }

  // The process is gone; with the power, what was not synced is gone too.
  void crash(env::Random& random) {
    engine_.reset();
    if (random.below(2) == 0) {
      files_.restart();
    } else {
      files_.crash(&random);
    }
  }

  sim::CheckOptions rules() const {
    sim::CheckOptions rules;
    rules.seeds = options_.seeds;
    rules.host_gap_factor = 10;
    rules.tolerance = Duration::from_ms(1);
    return rules;
  }

  // What was led to and not fetched. Adverts show images by chance; sitemaps that only robots.txt
  // names are not followed.
  std::vector<std::string> left_out() const {
    sim::ReachOptions reach;
    reach.seeds = options_.seeds;
    reach.hints = true;
    std::vector<std::string> targets;
    for (const sim::Lead& lead : sim::left_out(world_, log_, reach)) {
      const bool counts = !lead.target.starts_with("/img/") && !lead.target.starts_with("/sitemap");
      if (counts) targets.push_back(lead.host + lead.target);
    }
    return targets;
  }

  // The pages in the WARC files, by URL, and how often each is there.
  std::map<std::string, int> archived() {
    std::map<std::string, int> pages;
    for (const auto& [file, offset, url, is_robots] : stored_visits()) {
      if (!is_robots) ++pages[url];
    }
    return pages;
  }

  // Of each visit: its WARC file, its place there, its URL, and whether that is a robots.txt.
  using Visits = std::multiset<std::tuple<std::string, std::uint64_t, std::string, bool>>;

  Visits stored_visits() {
    Visits visits;
    const std::vector<std::string> names = files_.list("/archive/warc").value();
    for (const std::string& name : names) {
      auto file = files_.open_read("/archive/warc/" + name).value();
      archive::WarcReader reader(*file);
      while (const auto more = reader.next()) {
        if (!*more) break;
        const auto visit = archive::visit_of(reader.record());
        if (!visit) continue;
        visits.emplace(name, reader.record().offset, visit->target_uri, !visit->purpose.empty());
      }
    }
    return visits;
  }

  // The same by the crawl log.
  Visits logged_visits() {
    Visits visits;
    for_each_log_line([&](const nlohmann::json& line) {
      if (line["type"] == "refusal") return;
      visits.emplace(line["warc"], line["offset"], line["url"], line["type"] == "robots");
    });
    return visits;
  }

  std::multiset<std::string> logged_refusals() {
    std::multiset<std::string> urls;
    for_each_log_line([&](const nlohmann::json& line) {
      if (line["type"] == "refusal") urls.insert(line["url"]);
    });
    return urls;
  }

  std::size_t log_files() { return files_.list("/archive/logs").value().size(); }

 private:
  void for_each_log_line(const std::function<void(const nlohmann::json&)>& use) {
    const std::vector<std::string> names = files_.list("/archive/logs").value();
    for (const std::string& name : names) {
      std::istringstream lines(env::read_file(files_, "/archive/logs/" + name).value());
      for (std::string line; std::getline(lines, line);) use(nlohmann::json::parse(line));
    }
  }

  static sim::World world_of(std::uint64_t seed, std::uint64_t hosts, std::uint64_t pages) {
    sim::WorldOptions options;
    options.census.seed = seed;
    options.census.hosts = hosts;
    options.census.pages = pages;
    options.start = kStart;
    return sim::World(options);
  }

  std::uint64_t seed_;
  std::uint64_t lives_ = 0;
  sim::World world_;
  env::VirtualClock clock_;
  env::FaultyFileSystem files_;
  crawl::CrawlOptions options_;
  sim::SimulatedHttpOptions http_;
  sim::SimulatedDnsOptions dns_;
  std::vector<sim::Access> log_;
  std::optional<CrawlGraph> nodes_;
  std::unique_ptr<flow::SimulationEngine> engine_;
};

std::string first_breaches(const sim::CheckReport& report) {
  std::string text;
  for (const sim::Breach& breach : report.breaches) {
    text += std::string(sim::name_of(breach.kind)) + ": " + breach.why + "\n";
    if (text.size() > 1000) break;
  }
  return text;
}

TEST(CrawlSimulation, VisitsAllThatIsReachableOnceAndPolitely) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed);
    crawl.start();
    ASSERT_TRUE(crawl.engine().start());
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    EXPECT_EQ(crawl.counts().waiting, 0U);
    EXPECT_EQ(crawl.counts().in_flight, 0U);
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    ASSERT_TRUE(crawl.engine().drain());

    EXPECT_GT(crawl.log().size(), 80U);
    sim::CheckOptions rules = crawl.rules();
    rules.once = true;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
    EXPECT_EQ(crawl.left_out(), std::vector<std::string>{});

    // Every page that a server was asked for is in the archive once.
    std::map<std::string, int> asked;
    for (const sim::Access& access : crawl.log()) {
      if (access.target != "/robots.txt") ++asked["http://" + access.host + access.target];
    }
    EXPECT_EQ(crawl.archived(), asked);
    EXPECT_EQ(crawl.logged_visits(), crawl.stored_visits());
  }
}

TEST(CrawlSimulation, EqualSeedsMakeEqualRuns) {
  std::set<std::uint64_t> traces;
  for (int i = 0; i < 2; ++i) {
    Crawl crawl(7);
    crawl.start();
    ASSERT_TRUE(crawl.engine().start());
    ASSERT_TRUE(crawl.engine().run_until_quiet());
    traces.insert(crawl.engine().trace());
  }
  EXPECT_EQ(traces.size(), 1U);
}

// Crashes at random moments, with and without loss of power: the same pages in the end, nothing
// that was durable lost, and no host troubled.
TEST(CrawlSimulation, GoesOnAfterCrashesAndLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed, 6, 40);
    env::Random random(seed);
    for (int life = 0;; ++life) {
      crawl.start();
      const auto started = crawl.engine().start();
      ASSERT_TRUE(started) << started.error().message();
      if (life == 4) break;
      const auto time = Duration::from_ms(static_cast<std::int64_t>(random.below(60'000)));
      const auto ran = crawl.engine().run_for(time);
      ASSERT_TRUE(ran) << ran.error().message();
      crawl.crash(random);
      crawl.clock().advance(Duration::from_ms(static_cast<std::int64_t>(random.below(3'000))));
    }
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    ASSERT_TRUE(crawl.engine().drain());
    EXPECT_EQ(crawl.left_out(), std::vector<std::string>{});
    // A page that was in flight is fetched again, but only one visit of it counts.
    std::set<std::string> asked;
    for (const sim::Access& access : crawl.log()) {
      if (access.target != "/robots.txt") asked.insert("http://" + access.host + access.target);
    }
    std::set<std::string> held;
    for (const auto& [url, count] : crawl.archived()) {
      EXPECT_EQ(count, 1) << url;
      held.insert(url);
    }
    EXPECT_EQ(held, asked);
    // The log tells of the same visits, and of refusals once.
    EXPECT_EQ(crawl.logged_visits(), crawl.stored_visits());
    EXPECT_GT(crawl.log_files(), 1U);
    const std::multiset<std::string> refusals = crawl.logged_refusals();
    EXPECT_EQ(refusals.size(), std::set<std::string>(refusals.begin(), refusals.end()).size());
    EXPECT_EQ(refusals.size(), std::accumulate(crawl.counts().refused.begin(),
                                               crawl.counts().refused.end(), std::uint64_t{0}));
    // How long an answer took is lost with its epoch, and so is the rest that depends on it. The
    // least delay and that of robots.txt are kept.
    sim::CheckOptions rules = crawl.rules();
    rules.host_gap_factor = 0;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

TEST(CrawlSimulation, ABadNetworkIsData) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed);
    crawl.http().refused_chance = 0.05;
    crawl.http().silent_chance = 0.05;
    crawl.http().reset_chance = 0.05;
    crawl.http().disconnect_chance = 0.05;
    crawl.dns().server_failure_chance = 0.1;
    crawl.dns().silent_chance = 0.1;
    crawl.start();
    ASSERT_TRUE(crawl.engine().start());
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    ASSERT_TRUE(crawl.engine().drain());
    sim::CheckOptions rules = crawl.rules();
    rules.once = true;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

}  // namespace
}  // namespace meguri::app
