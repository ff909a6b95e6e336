// The whole crawl on the virtual web, in virtual time: every order of events has a seed.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

// The home page of one host leads elsewhere; the rest is as it is.
class RedirectingClient final : public fetch::HttpClient {
 public:
  RedirectingClient(std::unique_ptr<fetch::HttpClient> web, std::string host, std::string target)
      : web_(std::move(web)), host_(std::move(host)), target_(std::move(target)) {}

  void start(fetch::FetchRequest request) override {
    if (request.host == host_ && request.target == "/") redirected_.insert(request.tag);
    web_->start(std::move(request));
  }
  std::size_t capacity() const override { return web_->capacity(); }
  std::size_t in_flight() const override { return web_->in_flight(); }
  void poll(Duration wait) override { web_->poll(wait); }
  void wake() override { web_->wake(); }
  base::Ticks next_event() const override { return web_->next_event(); }
  std::vector<fetch::Fetched> take() override {
    std::vector<fetch::Fetched> all = web_->take();
    for (fetch::Fetched& fetched : all) {
      if (redirected_.erase(fetched.tag) == 0) continue;
      fetched.status = 301;
      fetched.response_head = "HTTP/1.1 301 Moved\r\nLocation: " + target_ + "\r\n\r\n";
      fetched.body.clear();
    }
    return all;
  }
  void cancel_all(std::string_view reason) override { web_->cancel_all(reason); }

 private:
  std::unique_ptr<fetch::HttpClient> web_;
  const std::string host_;
  const std::string target_;
  std::set<std::uint64_t> redirected_;
};

// A world, a crawler in it, and what the servers saw.
class Crawl {
 public:
  explicit Crawl(std::uint64_t seed, std::uint64_t hosts = 12, std::uint64_t pages = 120)
      : seed_(seed), world_(world_of(seed, hosts, pages)), clock_(kStart), files_(seed) {
    options_.seeds = {"http://" + world_.census().name_of(world_.census().host_of_rank(0)) + "/"};
    options_.scope.scope = crawl::Scope::kAny;
    options_.user_agent = "meguri (+http://www.example.com/)";
    options_.warc.series.dir = "/archive/warc";
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
    seams.make_http = [this](const env::Clock& clock) -> std::unique_ptr<fetch::HttpClient> {
      auto client = std::make_unique<sim::SimulatedHttpClient>(world_, clock, http_);
      if (redirects_from_.empty()) return client;
      return std::make_unique<RedirectingClient>(std::move(client), redirects_from_, redirects_to_);
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

  std::string host_of_rank(std::uint64_t rank) const {
    return world_.census().name_of(world_.census().host_of_rank(rank));
  }
  void redirect_home(std::string host, std::string target) {
    redirects_from_ = std::move(host);
    redirects_to_ = std::move(target);
  }

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

  // What was led to and not fetched. Adverts show images by chance.
  std::vector<std::string> left_out() const {
    sim::ReachOptions reach;
    reach.seeds = options_.seeds;
    reach.hints = true;
    std::vector<std::string> targets;
    for (const sim::Lead& lead : sim::left_out(world_, log_, reach)) {
      if (!lead.target.starts_with("/img/")) targets.push_back(lead.host + lead.target);
    }
    return targets;
  }

  // The pages in the WARC files, by URL, and how often each is there.
  std::map<std::string, int> archived() {
    std::map<std::string, int> pages;
    read_visits([&pages](const archive::StoredVisit& visit) { ++pages[visit.target_uri]; });
    return pages;
  }
  // Those of which there is more than a failure.
  std::set<std::string> answered() {
    std::set<std::string> pages;
    read_visits([&pages](const archive::StoredVisit& visit) {
      if (visit.kind != archive::StoredVisitKind::kFailure) pages.insert(visit.target_uri);
    });
    return pages;
  }

 private:
  void read_visits(const std::function<void(const archive::StoredVisit&)>& use) {
    const std::vector<std::string> names = files_.list("/archive/warc").value();
    for (const std::string& name : names) {
      auto file = files_.open_read("/archive/warc/" + name).value();
      archive::WarcReader reader(*file);
      while (const auto more = reader.next()) {
        if (!*more) break;
        const auto visit = archive::visit_of(reader.record());
        if (visit && visit->purpose.empty()) use(*visit);
      }
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
  std::string redirects_from_;
  std::string redirects_to_;
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
    // A page that was in flight is fetched again, but only one visit of it counts; and one for each
    // answer that says that the server is not well.
    std::set<std::string> asked;
    std::map<std::string, int> ill;
    for (const sim::Access& access : crawl.log()) {
      const std::string url = "http://" + access.host + access.target;
      if (access.target != "/robots.txt") asked.insert(url);
      if (access.status >= 500) ++ill[url];
    }
    std::set<std::string> held;
    for (const auto& [url, count] : crawl.archived()) {
      EXPECT_LE(count, 1 + ill[url]) << url;
      held.insert(url);
    }
    EXPECT_EQ(held, asked);
    // How long an answer took is lost with its epoch, and so is the rest that depends on it. The
    // least delay and that of robots.txt are kept.
    sim::CheckOptions rules = crawl.rules();
    rules.host_gap_factor = 0;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

// What a network loses is asked for again, until it comes: the whole web, whatever happens to
// single visits and questions, and whenever the power goes.
TEST(CrawlSimulation, ABadNetworkLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed, 6, 40);
    crawl.options().tries_max = 12;
    crawl.http().refused_chance = 0.05;
    crawl.http().silent_chance = 0.05;
    crawl.http().reset_chance = 0.05;
    crawl.http().disconnect_chance = 0.05;
    crawl.dns().server_failure_chance = 0.2;
    crawl.dns().silent_chance = 0.2;
    env::Random random(seed);
    for (int life = 0;; ++life) {
      crawl.start();
      ASSERT_TRUE(crawl.engine().start());
      if (life == static_cast<int>(seed % 3)) break;
      const auto time = Duration::from_ms(static_cast<std::int64_t>(random.below(900'000)));
      ASSERT_TRUE(crawl.engine().run_for(time));
      crawl.crash(random);
    }
    const auto quiet = crawl.engine().run_until_quiet();
    ASSERT_TRUE(quiet) << quiet.error().message();
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    for (const crawl::Refusal reason : {crawl::Refusal::kUnresolved, crawl::Refusal::kParked}) {
      EXPECT_EQ(crawl.counts().refused[static_cast<std::size_t>(reason)], 0U);
    }
    ASSERT_TRUE(crawl.engine().drain());
    EXPECT_EQ(crawl.left_out(), std::vector<std::string>{});
    // Of every page that a server was asked for there is an answer.
    const std::set<std::string> answered = crawl.answered();
    for (const sim::Access& access : crawl.log()) {
      const std::string url = "http://" + access.host + access.target;
      const bool is_robots = access.target == "/robots.txt";
      EXPECT_TRUE(is_robots || answered.contains(url)) << url;
    }
    sim::CheckOptions rules = crawl.rules();
    rules.host_gap_factor = 0;
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), rules);
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

// A seed on one host that leads to another: the crawl is of both, and of no third.
TEST(CrawlSimulation, ASeedThatRedirectsElsewhereWidensTheScope) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed);
    crawl.options().scope.scope = crawl::Scope::kHost;
    crawl.options().scope.embeds = false;  // they may be anywhere
    const std::string from = crawl.host_of_rank(3);
    const std::string to = crawl.host_of_rank(0);
    crawl.options().seeds = {"http://" + from + "/"};
    crawl.redirect_home(from, "http://" + to + "/");
    env::Random random(seed);
    for (int life = 0;; ++life) {
      crawl.start();
      ASSERT_TRUE(crawl.engine().start());
      if (life == static_cast<int>(seed % 4)) break;
      const auto time = Duration::from_ms(static_cast<std::int64_t>(random.below(60'000)));
      ASSERT_TRUE(crawl.engine().run_for(time));
      crawl.crash(random);
    }
    ASSERT_TRUE(crawl.engine().run_until_quiet());
    ASSERT_TRUE(crawl.engine().drain());
    std::map<std::string, int> visits;
    for (const auto& [url, count] : crawl.archived()) {
      ++visits[url.substr(7, url.find('/', 7) - 7)];
    }
    EXPECT_GT(visits[to], 5);
    EXPECT_EQ(visits.size(), 2U);
    sim::ReachOptions reach;
    reach.seeds = {"http://" + to + "/"};
    reach.hints = true;
    reach.embeds = false;
    reach.in_scope = [&](std::string_view host) { return host == to; };
    std::vector<std::string> missing;
    for (const sim::Lead& lead : sim::left_out(crawl.world(), crawl.log(), reach)) {
      missing.push_back(lead.host + lead.target);
    }
    EXPECT_EQ(missing, std::vector<std::string>{});
  }
}

// A rule that comes while the crawl runs holds from then on, also for pages that wait, and after
// every restart.
TEST(CrawlSimulation, WhatIsExcludedMeanwhileIsNotVisited) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Crawl crawl(seed);
    const std::string host = crawl.host_of_rank(0);
    crawl.options().scope.exclusion_file = "/archive/exclude.txt";
    ASSERT_TRUE(env::write_file_atomically(crawl.files(), "/archive/exclude.txt", "# none\n"));
    crawl.start();
    ASSERT_TRUE(crawl.engine().start());
    ASSERT_TRUE(crawl.engine().run_for(Duration::seconds(60)));
    ASSERT_TRUE(
        env::write_file_atomically(crawl.files(), "/archive/exclude.txt", "/a broken line\n"));
    ASSERT_TRUE(crawl.engine().run_for(Duration::seconds(5)));
    ASSERT_TRUE(env::write_file_atomically(crawl.files(), "/archive/exclude.txt", host + "\n"));
    ASSERT_TRUE(crawl.engine().run_for(Duration::seconds(3)));
    const Instant since = crawl.clock().utc() + Duration::from_ms(20);  // to connect
    if (seed % 2 == 0) {
      env::Random random(seed);
      crawl.crash(random);
      crawl.start();
      ASSERT_TRUE(crawl.engine().start());
    }
    ASSERT_TRUE(crawl.engine().run_until_quiet());
    EXPECT_GT(crawl.counts().refused[static_cast<std::size_t>(crawl::Refusal::kExcluded)], 0U);
    EXPECT_EQ(crawl.counts().done, crawl.counts().known);
    ASSERT_TRUE(crawl.engine().drain());
    std::size_t visits = 0;
    for (const sim::Access& access : crawl.log()) {
      if (access.host != host || access.target == "/robots.txt") continue;
      ++visits;
      EXPECT_LE(access.arrival, since) << access.target;
    }
    EXPECT_GT(visits, 3U);
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
    std::map<std::string, std::uint32_t> visits;
    for (const sim::Access& access : crawl.log()) {
      if (access.target == "/robots.txt") continue;
      EXPECT_LE(++visits[access.host + access.target], crawl.options().tries_max);
    }
    const sim::CheckReport report = sim::check_log(crawl.world(), crawl.log(), crawl.rules());
    EXPECT_EQ(report.total(), 0U) << first_breaches(report);
  }
}

}  // namespace
}  // namespace meguri::app
