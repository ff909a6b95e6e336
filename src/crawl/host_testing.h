// A little web and its crawl for tests of the modules round hosts: a registry, name servers and
// servers that are made up, with HostDirectory, Resolver and Scheduler between them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "crawl/host_directory.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/resolver.h"
#include "crawl/scheduler.h"
#include "env/clock.h"
#include "env/memory_file_system.h"
#include "fetch/dns.h"
#include "flow/engine.h"
#include "flow/graph.h"
#include "flow/simulation_engine.h"
#include "flow/testing.h"
#include "flow/thread_engine.h"
#include "web/url.h"

namespace meguri::crawl::testing {

using flow::testing::EngineKind;

struct RobotsReply {
  int status = 404;
  std::string text = {};
  std::string location = {};
  fetch::FetchOutcome fetch = fetch::FetchOutcome::kAnswered;
};

struct Access {
  std::string url;
  Purpose purpose = Purpose::kPage;
  base::Ticks started;
  base::Ticks ended = base::Ticks::never();
  std::uint64_t server = 0;
  std::size_t run = 0;  // of the engine
};

// What is out there, and what was seen of us. Set up before an engine starts; accesses are noted
// by FakeWeb alone, and read when nothing runs.
struct World {
  std::map<std::string, std::vector<fetch::IpAddress>> addresses;  // no entry: no such name
  // The answer to the n-th visit to this robots.txt, from 0 on.
  std::function<RobotsReply(const std::string& url, std::size_t n)> robots =
      [](const std::string&, std::size_t) { return RobotsReply{}; };
  // Whether name servers fail at the n-th question for a name, from 0 on.
  std::function<bool(const std::string& name, std::size_t n)> dns_fails =
      [](const std::string&, std::size_t) { return false; };
  // What becomes of the n-th visit to a page, from 0 on.
  std::function<RobotsReply(const std::string& url, std::size_t n)> page =
      [](const std::string&, std::size_t) { return RobotsReply{.status = 200}; };
  base::Duration hold;  // that pages with a 503 ask for
  base::Duration dns_ttl = base::Duration::hours(1);
  base::Duration dns_time = base::Duration::from_ms(50);
  std::uint64_t access_ms_min = 1;
  std::uint64_t access_ms_max = 900;
  std::vector<Access> accesses;
  std::size_t run = 0;

  void add_host(const std::string& name, std::uint32_t server) {
    addresses[name] = {fetch::IpAddress::v4(0x5db80000U + server)};  // 93.184.x.y
  }
  std::size_t visits_to(std::string_view url) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(accesses, [&](const Access& access) { return access.url == url; }));
  }
};

// Two questions at a time.
class FakeDns final : public fetch::Dns {
 public:
  FakeDns(const World& world, const env::Clock& clock) : world_(world), clock_(clock) {}

  void start(std::string_view name, std::uint64_t tag) override {
    CHECK(in_flight() < capacity());
    fetch::Resolved resolved;
    resolved.tag = tag;
    resolved.name = name;
    resolved.ttl = world_.dns_ttl;
    const auto known = world_.addresses.find(resolved.name);
    if (world_.dns_fails(resolved.name, asked_[resolved.name]++)) {
      resolved.outcome = fetch::DnsOutcome::kServerFailure;
    } else if (known != world_.addresses.end()) {
      resolved.outcome = fetch::DnsOutcome::kFound;
      resolved.addresses = known->second;
    } else {
      resolved.outcome = fetch::DnsOutcome::kNoSuchName;
    }
    waiting_.emplace_back(clock_.ticks() + world_.dns_time, std::move(resolved));
  }
  std::size_t capacity() const override { return 2; }
  std::size_t in_flight() const override { return waiting_.size(); }
  void poll(base::Duration wait) override {
    const base::Ticks now = clock_.ticks();
    if (next_event() <= now) return;
    if (!waiting_.empty()) wait = std::min(wait, next_event() - now);
    const auto real = clock_.real_time(wait);
    const base::MutexLock lock(mutex_);
    if (!is_woken_ && real.count() > 0) condition_.wait_for(mutex_, real);
    is_woken_ = false;
  }
  void wake() override {
    const base::MutexLock lock(mutex_);
    is_woken_ = true;
    condition_.notify_one();
  }
  base::Ticks next_event() const override {
    return waiting_.empty() ? base::Ticks::never() : waiting_.front().first;
  }
  std::vector<fetch::Resolved> take() override {
    std::vector<fetch::Resolved> taken;
    while (!waiting_.empty() && waiting_.front().first <= clock_.ticks()) {
      taken.push_back(std::move(waiting_.front().second));
      waiting_.pop_front();
    }
    return taken;
  }
  void cancel_all(std::string_view) override {}

 private:
  const World& world_;
  const env::Clock& clock_;
  std::map<std::string, std::size_t> asked_;
  std::deque<std::pair<base::Ticks, fetch::Resolved>> waiting_;
  base::Mutex mutex_;
  base::CondVar condition_;
  bool is_woken_ GUARDED_BY(mutex_) = false;
};

// Hands pages out under credits, and again a second after they were refused for now.
class FakeRegistry final : public flow::Module {
 public:
  explicit FakeRegistry(std::vector<Candidate> pages) {
    for (Candidate& page : pages) queue_.push_back(std::move(page));
    pages_ = queue_.size();
  }
  flow::Out<DuePage> due = out<DuePage>("due");
  flow::In<Refused> refused = in<&FakeRegistry::on_refused>("refused");
  flow::In<Report> reports = in<&FakeRegistry::on_report>("reports");

  // What became of each page at last: "visited" or the reason of its refusal.
  std::map<std::string, std::string> outcomes;
  std::map<std::string, std::size_t> given_back;  // refusals for now, by reason

 private:
  bool produce() override {
    if (draining() || queue_.empty() || due.credits() == 0) return false;
    Candidate page = std::move(queue_.front());
    queue_.pop_front();
    const base::Id id = page_id_of(page.url);
    CHECK(out_.emplace(id, page).second, "{} is out twice", page.url);
    due.emit({.id = id, .candidate = std::move(page), .prior = {}, .host_pages = pages_});
    return true;
  }
  void on_timer(std::uint64_t) override {
    for (Candidate& page : std::exchange(later_, {})) queue_.push_back(std::move(page));
  }
  bool idle() const override { return draining() || (queue_.empty() && later_.empty()); }
  Candidate take(const base::Id& id) {
    auto known = out_.extract(id);
    CHECK(!known.empty(), "a page came back twice");
    due.give_back();
    return std::move(known.mapped());
  }
  void on_refused(Refused&& item) {
    Candidate page = take(item.id);
    if (comes_again(item.reason)) {
      ++given_back[std::string(name_of(item.reason))];
      later_.push_back(std::move(page));
      const base::Duration wait = std::max(item.wait, base::Duration::seconds(1));
      if (later_.size() == 1) set_timer_after(wait, 0);
    } else {
      settle(page, std::string(name_of(item.reason)));
    }
  }
  void on_report(Report&& item) { settle(take(item.id), "visited"); }
  void settle(const Candidate& page, const std::string& outcome) {
    CHECK(outcomes.emplace(page.url, outcome).second, "{} has ended twice", page.url);
  }

  std::deque<Candidate> queue_;
  std::vector<Candidate> later_;
  std::map<base::Id, Candidate> out_;
  std::uint64_t pages_ = 0;  // as if all were of one host
};

// Fetcher and ArchiveWriter in one: answers after a random time, and tells of it when the epoch
// ends.
class FakeWeb final : public flow::Module {
 public:
  explicit FakeWeb(World* world) : world_(world) {}
  flow::In<Visit> visits = in<&FakeWeb::on_visit>("visits");
  flow::Out<AccessEnd> ends = out<AccessEnd>("ends");
  flow::Out<HostNews> news = out<HostNews>("news");
  flow::Out<Report> reports = out<Report>("reports");

 private:
  void on_visit(Visit&& visit) {
    const std::uint64_t number = world_->accesses.size();
    world_->accesses.push_back({.url = visit.page.candidate.url,
                                .purpose = visit.purpose,
                                .started = clock().ticks(),
                                .server = server_key_of(visit.address.address),
                                .run = world_->run});
    under_way_.emplace(number, std::move(visit));
    const std::uint64_t ms = random().between(world_->access_ms_min, world_->access_ms_max);
    set_timer_after(base::Duration::from_ms(static_cast<std::int64_t>(ms)), number);
  }
  void on_timer(std::uint64_t number) override {
    Visit visit = std::move(under_way_.extract(number).mapped());
    Access& access = world_->accesses[number];
    access.ended = clock().ticks();
    const base::Duration duration = access.ended - access.started;
    ends.emit({visit.host, access.server, duration, true});
    HostNews item;
    item.host = std::string(web::Url::parse(access.url)->host());
    item.url = access.url;
    item.purpose = visit.purpose;
    item.status = 200;
    item.finished = clock().utc();
    item.duration = duration;
    if (visit.purpose == Purpose::kRobots) {
      RobotsReply reply = world_->robots(access.url, robots_visits_[access.url]++);
      item.status = reply.status;
      item.robots = std::move(reply.text);
      item.redirect = std::move(reply.location);
      item.fetch = reply.fetch;
    } else {
      const RobotsReply reply = world_->page(access.url, page_visits_[access.url]++);
      item.status = reply.status;
      item.fetch = reply.fetch;
      if (item.status == 503) item.hold = world_->hold;
      done_.emplace_back().id = visit.page.id;
    }
    news_.push_back(std::move(item));
  }
  bool idle() const override { return under_way_.empty() && news_.empty(); }
  base::Result<std::string> commit(flow::EpochId) override {
    for (HostNews& item : std::exchange(news_, {})) news.emit(std::move(item));
    for (Report& item : std::exchange(done_, {})) reports.emit(std::move(item));
    return std::string();
  }

  World* world_;
  std::map<std::uint64_t, Visit> under_way_;
  std::map<std::string, std::size_t> robots_visits_;
  std::map<std::string, std::size_t> page_visits_;
  std::vector<HostNews> news_;
  std::vector<Report> done_;
};

// The modules, joined as in a crawl.
struct Rig {
  explicit Rig(EngineKind kind_of_engine, std::uint64_t engine_seed = 1)
      : kind(kind_of_engine), seed(engine_seed) {}
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() { engine.reset(); }

  void add_page(std::string url, Offer offer = Offer::kLink, std::uint32_t depth = 3) {
    pages.push_back({.url = std::move(url), .via = {}, .depth = depth, .hops = 0, .offer = offer});
  }

  void start() {
    engine.reset();
    flow::Graph graph;
    registry = graph.add<FakeRegistry>("registry", {.split = flow::Split::kSingle}, pages);
    std::shared_ptr<ExclusionFile> exclusions;
    if (!options.scope.exclusion_file.empty()) {
      exclusions = std::make_shared<ExclusionFile>(options.scope.exclusion_file);
      graph.add<ExclusionWatch>("exclusions", {.kind = flow::Kind::kBlocking}, exclusions);
    }
    directory = graph.add<HostDirectory>("host_directory", {.split = flow::Split::kKey}, options,
                                         fetch::AddressPolicy(), exclusions);
    const Resolver::MakeDns make = [this](const env::Clock& time) {
      return std::make_unique<FakeDns>(world, time);
    };
    resolver = graph.add<Resolver>("resolver", {.kind = flow::Kind::kPoller}, make);
    scheduler = graph.add<Scheduler>("scheduler", {.split = flow::Split::kKey}, options.schedule,
                                     options.access);
    web = graph.add<FakeWeb>("web", {.split = flow::Split::kSingle}, &world);
    const flow::Edge under = flow::Edge::under_credit();
    graph.connect(registry, &FakeRegistry::due, directory, &HostDirectory::due,
                  flow::Edge::credit(options.in_flight_max));
    graph.connect(directory, &HostDirectory::questions, resolver, &Resolver::questions, under);
    graph.connect(resolver, &Resolver::answers, directory, &HostDirectory::names, under);
    graph.connect(directory, &HostDirectory::visits, scheduler, &Scheduler::visits, under);
    graph.connect(scheduler, &Scheduler::leaving, directory, &HostDirectory::leaving, under);
    graph.connect(directory, &HostDirectory::cleared, web, &FakeWeb::visits, under);
    graph.connect(directory, &HostDirectory::called_off, scheduler, &Scheduler::ends, under);
    graph.connect(web, &FakeWeb::ends, scheduler, &Scheduler::ends, under);
    graph.connect(directory, &HostDirectory::refused, registry, &FakeRegistry::refused, under);
    graph.connect(scheduler, &Scheduler::refused, registry, &FakeRegistry::refused, under);
    graph.connect(web, &FakeWeb::news, directory, &HostDirectory::news);
    graph.connect(web, &FakeWeb::reports, registry, &FakeRegistry::reports);
    flow::EngineOptions engine_options;
    engine_options.files = &disk;
    engine_options.state_dir = "state";
    engine_options.epoch_every = epoch_every;
    engine_options.seed = seed;
    engine_options.clock = &real;
    if (kind == EngineKind::kThreads) {
      engine = std::make_unique<flow::ThreadEngine>(std::move(graph), engine_options, 2);
    } else {
      engine = std::make_unique<flow::SimulationEngine>(std::move(graph), engine_options, clock);
    }
    world.run = started.size();
    started.push_back(now());
    const auto status = engine->start();
    ASSERT_TRUE(status) << status.error().message();
  }

  // To the end; all pages must have ended then.
  void run() {
    start();
    if (::testing::Test::HasFatalFailure()) return;
    auto status = engine->run_until_quiet();
    ASSERT_TRUE(status) << status.error().message();
    status = engine->drain();
    ASSERT_TRUE(status) << status.error().message();
    EXPECT_EQ(outcomes().size(), pages.size());
    EXPECT_EQ(engine->module(registry).due.in_flight(), 0U);
    check_gates();
  }

  base::Ticks now() const { return kind == EngineKind::kThreads ? real.ticks() : clock.ticks(); }
  const std::map<std::string, std::string>& outcomes() { return engine->module(registry).outcomes; }
  HostCounts counts() { return engine->module(directory).counts(); }

  // As the servers see it: one request of ours at a time, and the rests between them. How long an
  // answer took is not known after a restart if its epoch is lost, but that there may have been
  // one.
  void check_gates() const {
    std::map<std::string, const Access*> last_of_host;
    std::map<std::uint64_t, const Access*> last_of_server;
    for (const Access& access : world.accesses) {
      const std::string host(web::Url::parse(access.url)->host());
      if (const Access* last = std::exchange(last_of_host[host], &access)) {
        const base::Ticks end = rest_from(*last, access);
        const auto least = base::Duration::from_ms(options.access.host_wait_ms_min);
        const base::Duration lasted = end == last->ended ? end - last->started : base::Duration();
        const base::Duration wait =
            own_wait.value_or(std::max(least, lasted * options.access.duration_factor));
        EXPECT_GE(access.started, end + wait) << last->url << " and then " << access.url;
      }
      if (const Access* last = std::exchange(last_of_server[access.server], &access)) {
        EXPECT_GE(access.started,
                  rest_from(*last, access) + base::Duration::from_ms(options.access.server_gap_ms));
      }
    }
  }
  // The end of the access, or the restart between it and the next.
  base::Ticks rest_from(const Access& access, const Access& next) const {
    return access.run == next.run ? access.ended : started[next.run];
  }

  EngineKind kind;
  std::uint64_t seed;
  World world;
  CrawlOptions options;
  std::optional<base::Duration> own_wait;  // what hosts wait, if rules say something else
  std::vector<Candidate> pages;
  base::Duration epoch_every = base::Duration::seconds(1);
  env::MemoryFileSystem disk;
  env::VirtualClock clock;
  env::ScaledClock real{1000};
  std::vector<base::Ticks> started;

  flow::Node<FakeRegistry> registry;
  flow::Node<HostDirectory> directory;
  flow::Node<Resolver> resolver;
  flow::Node<Scheduler> scheduler;
  flow::Node<FakeWeb> web;
  std::unique_ptr<flow::Engine> engine;
};

constexpr const char* kRobotsUrl = "https://a.example.org/robots.txt";

inline RobotsReply some_rules() { return {200, "User-agent: *\nDisallow: /private/\n"}; }

// A host with three pages, one of them under /private/.
inline void add_site(Rig& rig, const std::string& host = "a.example.org",
                     std::uint32_t server = 1) {
  rig.world.add_host(host, server);
  rig.add_page("https://" + host + "/", Offer::kSeed, 0);
  rig.add_page("https://" + host + "/page?x=1");
  rig.add_page("https://" + host + "/private/page");
}

inline void answer_with(Rig& rig, RobotsReply reply) {
  rig.world.robots = [reply](const std::string&, std::size_t) { return reply; };
}

inline std::size_t count_of(Rig& rig, const std::string& outcome) {
  return static_cast<std::size_t>(std::ranges::count_if(
      rig.outcomes(), [&](const auto& entry) { return entry.second == outcome; }));
}

}  // namespace meguri::crawl::testing
