#include "crawl/control.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "crawl/host_testing.h"
#include "crawl/registry.h"
#include "crawl/seeder.h"
#include "crawl/url_filter.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using flow::Edge;
using testing::EngineKind;
using testing::FakeDns;
using testing::FakeWeb;
using testing::World;

// The modules that Control asks, joined as in a crawl, on a made-up web.
struct Rig {
  explicit Rig(EngineKind kind_of_engine = EngineKind::kSimulation, std::uint64_t engine_seed = 1)
      : kind(kind_of_engine), seed(engine_seed) {
    options.disk_free_min = 0;
    CHECK(disk.make_dirs("warc").has_value());
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() { engine.reset(); }

  // A host of its own server, and a seed for each of its pages.
  void add_host(const std::string& host, int pages) {
    world.add_host(host, ++servers);
    for (int i = 0; i < pages; ++i) {
      options.seeds.push_back("https://" + host + "/" + std::to_string(i));
    }
  }

  void start() {
    engine.reset();
    flow::Graph graph;
    const auto single = flow::Split::kSingle;
    const auto key = flow::Split::kKey;
    mailbox = std::make_shared<ControlMailbox>();
    const auto control =
        graph.add<Control>("control", {.kind = flow::Kind::kBlocking, .split = single}, mailbox,
                           ControlOptions{.disk = "warc", .free_bytes_min = options.disk_free_min});
    const auto seeder = graph.add<Seeder>("seeder", {.split = single}, options);
    const auto filter = graph.add<UrlFilter>("filter", {}, options.scope, options.seeds);
    registry = graph.add<Registry>("registry", {.split = key}, options);
    const auto hosts =
        graph.add<HostDirectory>("hosts", {.split = key}, options, fetch::AddressPolicy());
    const Resolver::MakeDns make = [this](const env::Clock& time) {
      return std::make_unique<FakeDns>(world, time);
    };
    const auto resolver = graph.add<Resolver>("resolver", {.kind = flow::Kind::kPoller}, make);
    scheduler = graph.add<Scheduler>("scheduler", {.split = key}, options.schedule, options.access);
    const auto web = graph.add<FakeWeb>("web", {.split = single}, &world);
    graph.connect(seeder, &Seeder::candidates, filter, &UrlFilter::candidates);
    graph.connect(filter, &UrlFilter::accepted, registry, &Registry::candidates);
    graph.connect(registry, &Registry::due, hosts, &HostDirectory::due, Edge::credit(64));
    const Edge under = Edge::under_credit();
    graph.connect(hosts, &HostDirectory::questions, resolver, &Resolver::questions, under);
    graph.connect(resolver, &Resolver::answers, hosts, &HostDirectory::names, under);
    graph.connect(hosts, &HostDirectory::visits, scheduler, &Scheduler::visits, under);
    graph.connect(scheduler, &Scheduler::leaving, hosts, &HostDirectory::leaving, under);
    graph.connect(hosts, &HostDirectory::cleared, web, &FakeWeb::visits, under);
    graph.connect(hosts, &HostDirectory::called_off, scheduler, &Scheduler::ends, under);
    graph.connect(web, &FakeWeb::ends, scheduler, &Scheduler::ends, under);
    graph.connect(hosts, &HostDirectory::refused, registry, &Registry::refused, under);
    graph.connect(scheduler, &Scheduler::refused, registry, &Registry::refused, under);
    graph.connect(web, &FakeWeb::news, hosts, &HostDirectory::news);
    graph.connect(web, &FakeWeb::reports, registry, &Registry::reports);

    const Edge asked = Edge::credit(Control::kCredits);
    graph.connect(control, &Control::ask_registry, registry, &Registry::questions, asked);
    graph.connect(control, &Control::ask_filter, filter, &UrlFilter::questions, asked);
    graph.connect(control, &Control::ask_hosts, hosts, &HostDirectory::asked, asked);
    graph.connect(control, &Control::ask_scheduler, scheduler, &Scheduler::questions, asked);
    graph.connect(control, &Control::ask_seeder, seeder, &Seeder::added, asked);
    graph.connect(registry, &Registry::answers, control, &Control::of_registry, under);
    graph.connect(filter, &UrlFilter::answers, control, &Control::of_filter, under);
    graph.connect(hosts, &HostDirectory::answers, control, &Control::of_hosts, under);
    graph.connect(scheduler, &Scheduler::answers, control, &Control::of_scheduler, under);
    graph.connect(seeder, &Seeder::answers, control, &Control::of_seeder, under);

    flow::EngineOptions engine_options;
    engine_options.files = &disk;
    engine_options.state_dir = "state";
    engine_options.epoch_every = Duration::seconds(1);
    engine_options.seed = seed;
    engine_options.clock = &real;
    if (kind == EngineKind::kThreads) {
      engine = std::make_unique<flow::ThreadEngine>(std::move(graph), engine_options, 2);
    } else {
      engine = std::make_unique<flow::SimulationEngine>(std::move(graph), engine_options, clock);
    }
    const auto status = engine->start();
    ASSERT_TRUE(status) << status.error().message();
  }

  // In the simulation.
  template <typename Reply>
  Reply ask(ControlRequest request) {
    std::optional<base::Result<ControlReply>> reply;
    mailbox->post(std::move(request), [&reply](auto done) { reply = std::move(done); });
    for (int i = 0; i < 100 && !reply; ++i) EXPECT_TRUE(engine->run_for(Duration::from_ms(1)));
    CHECK(reply && *reply, "no answer");
    return std::get<Reply>(**reply);
  }

  std::size_t accesses() const { return world.accesses.size(); }
  void run_for(Duration time) {
    const auto status = engine->run_for(time);
    ASSERT_TRUE(status) << status.error().message();
  }
  void run_to_the_end() {
    auto status = engine->run_until_quiet();
    ASSERT_TRUE(status) << status.error().message();
    status = engine->drain();
    ASSERT_TRUE(status) << status.error().message();
    const RegistryCounts& counts = engine->module(registry).counts();
    EXPECT_EQ(counts.done, counts.known);
  }

  EngineKind kind;
  std::uint64_t seed;
  World world;
  CrawlOptions options;
  std::uint32_t servers = 0;
  env::MemoryFileSystem disk;
  env::VirtualClock clock;
  env::ScaledClock real{1000};
  std::shared_ptr<ControlMailbox> mailbox;
  flow::Node<Registry> registry;
  flow::Node<Scheduler> scheduler;
  std::unique_ptr<flow::Engine> engine;
};

TEST(Control, NobodyAsksAndTheCrawlEnds) {
  Rig rig;
  rig.options.disk_free_min = 1;
  rig.add_host("a.example.org", 3);
  rig.start();
  rig.run_to_the_end();
  EXPECT_EQ(rig.accesses(), 4U);
}

TEST(Control, TellsWhyAtEveryStageOfAPage) {
  Rig rig;
  rig.add_host("a.example.org", 3);
  rig.world.robots = [](const std::string&, std::size_t) {
    return testing::RobotsReply{.status = 200,
                                .text = "User-agent: *\nDisallow: /private\nDisallow: /2\n"};
  };
  rig.start();
  rig.run_for(Duration::from_ms(10));
  auto facts = rig.ask<WhyFacts>(AskWhy{"https://a.example.org:443/0#top"});
  EXPECT_EQ(facts.url, "https://a.example.org/0");
  ASSERT_TRUE(facts.page);
  EXPECT_TRUE(facts.page->is_out);
  EXPECT_EQ(facts.line, HostLine::kAddress);

  rig.run_for(Duration::from_ms(200));
  facts = rig.ask<WhyFacts>(AskWhy{"https://a.example.org/0"});
  EXPECT_EQ(facts.line, HostLine::kRobots);
  ASSERT_TRUE(facts.site);
  EXPECT_EQ(facts.site->robots, RobotsStanding::kAsking);

  rig.run_for(Duration::from_ms(2500));
  facts = rig.ask<WhyFacts>(AskWhy{"https://a.example.org/1"});
  EXPECT_TRUE(facts.at_scheduler);
  ASSERT_TRUE(facts.access);
  EXPECT_EQ(facts.access->waits_for, AccessWait::kDelay);
  EXPECT_GT(facts.access->until, facts.now);
  ASSERT_TRUE(facts.host);
  EXPECT_EQ(facts.host->address_state, AddressState::kFound);

  ASSERT_TRUE(rig.engine->run_until_quiet());
  facts = rig.ask<WhyFacts>(AskWhy{"https://a.example.org/1"});
  ASSERT_TRUE(facts.page);
  EXPECT_EQ(facts.page->record.state, PageState::kVisited);
  facts = rig.ask<WhyFacts>(AskWhy{"https://a.example.org/2"});
  ASSERT_TRUE(facts.page && facts.site);
  EXPECT_EQ(facts.page->record.state, PageState::kRefused);
  EXPECT_EQ(facts.page->record.refusal, Refusal::kRobots);
  EXPECT_FALSE(facts.site->is_allowed);
  EXPECT_EQ(facts.site->line, 3U);
  EXPECT_EQ(facts.site->rule, "/2");

  facts = rig.ask<WhyFacts>(AskWhy{"https://a.example.org/other"});
  EXPECT_FALSE(facts.page);
  EXPECT_TRUE(facts.has_verdict);
  EXPECT_FALSE(facts.reason);
  facts = rig.ask<WhyFacts>(AskWhy{"https://b.example.org/"});
  EXPECT_EQ(facts.reason, UrlReason::kScope);
  rig.run_to_the_end();
}

TEST(Control, ListsHostsInTheOrderThatIsAskedFor) {
  Rig rig;
  rig.add_host("few.example.org", 2);
  rig.add_host("many.example.org", 9);
  rig.add_host("some.example.org", 5);
  rig.world.robots = [](const std::string& url, std::size_t) {
    const bool is_slow = url.find("few") != std::string::npos;
    return testing::RobotsReply{.status = 200,
                                .text = is_slow ? "User-agent: *\nCrawl-delay: 30\n" : ""};
  };
  rig.start();
  rig.run_for(Duration::seconds(3));
  const auto names = [](const HostList& list) {
    std::vector<std::string> hosts;
    for (const HostRow& row : list.rows) hosts.push_back(row.pages.host.substr(0, 4));
    return hosts;
  };
  using Names = std::vector<std::string>;
  HostList list = rig.ask<HostList>(AskHosts{.order = HostOrder::kPages, .limit = 2, .hosts = {}});
  EXPECT_EQ(names(list), (Names{"many", "some"}));
  EXPECT_EQ(list.rows[0].pages.pages, 9U);
  ASSERT_TRUE(list.rows[0].facts);
  EXPECT_EQ(list.rows[0].facts->robots, RobotsStanding::kKnown);
  list = rig.ask<HostList>(AskHosts{.order = HostOrder::kDelay, .limit = 1, .hosts = {}});
  EXPECT_EQ(names(list), Names{"few."});
  EXPECT_EQ(list.rows[0].facts->crawl_delay_ms, 30'000U);
  ASSERT_TRUE(list.rows[0].access);
  list = rig.ask<HostList>(AskHosts{.hosts = {"some.example.org", "none.example.org"}});
  EXPECT_EQ(names(list), Names{"some"});
  ASSERT_TRUE(rig.engine->run_until_quiet());
  list = rig.ask<HostList>(AskHosts{.hosts = {"few.example.org"}});
  EXPECT_EQ(list.rows[0].pages.done(), 2U);
  rig.run_to_the_end();
}

TEST(Control, AnAddedSeedIsVisitedAndWidensTheScope) {
  Rig rig;
  rig.add_host("a.example.org", 1);
  rig.world.add_host("b.example.org", 77);
  rig.start();
  ASSERT_TRUE(rig.engine->run_until_quiet());
  EXPECT_EQ(rig.ask<WhyFacts>(AskWhy{"https://b.example.org/x"}).reason, UrlReason::kScope);
  const AddSeeds add{{"https://b.example.org/0", "https://a.example.org/0"}};
  const auto added = rig.ask<SeedAnswer>(add);
  EXPECT_EQ(added.fresh, 1U);
  EXPECT_EQ(added.known, 1U);
  ASSERT_TRUE(rig.engine->run_until_quiet());
  EXPECT_EQ(rig.world.visits_to("https://b.example.org/0"), 1U);
  EXPECT_FALSE(rig.ask<WhyFacts>(AskWhy{"https://b.example.org/x"}).reason);
  EXPECT_EQ(rig.ask<SeedAnswer>(add).known, 2U);
  rig.run_to_the_end();
}

TEST(Control, APausedCrawlAsksNobodyAndDoesNotEnd) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Rig rig(EngineKind::kSimulation, seed);
    rig.add_host("a.example.org", 6);
    rig.add_host("b.example.org", 6);
    rig.start();
    rig.run_for(Duration::from_ms(static_cast<std::int64_t>(seed * 900)));
    EXPECT_TRUE(rig.ask<PauseState>(ChangePause{}).all);
    const std::size_t before = rig.accesses();
    rig.run_for(Duration::minutes(2));
    EXPECT_EQ(rig.accesses(), before);
    EXPECT_EQ(rig.engine->module(rig.scheduler).summary().paused, "by hand");
    EXPECT_TRUE(rig.ask<WhyFacts>(AskWhy{"https://a.example.org/5"}).is_paused);

    rig.start();  // killed meanwhile
    rig.run_for(Duration::minutes(2));
    EXPECT_EQ(rig.accesses(), before) << "it is remembered";
    EXPECT_FALSE(rig.ask<PauseState>(ChangePause{.is_paused = false, .hosts = {}}).all);
    rig.run_to_the_end();
    EXPECT_GE(rig.accesses(), 14U);
  }
}

TEST(Control, APausedHostRestsAloneAndComesBack) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Rig rig(EngineKind::kSimulation, seed);
    rig.add_host("a.example.org", 6);
    rig.add_host("b.example.org", 6);
    const auto of_b = [&rig] {
      return std::ranges::count_if(rig.world.accesses, [](const testing::Access& access) {
        return access.url.starts_with("https://b.");
      });
    };
    rig.start();
    rig.run_for(Duration::from_ms(static_cast<std::int64_t>(seed * 900)));
    EXPECT_EQ(rig.ask<PauseState>(ChangePause{.hosts = {"b.example.org"}}).hosts.size(), 1U);
    const auto before = of_b();
    rig.run_for(Duration::minutes(10));
    EXPECT_EQ(of_b(), before);
    EXPECT_EQ(rig.world.visits_to("https://a.example.org/5"), 1U);
    EXPECT_EQ(rig.engine->module(rig.scheduler).summary().hosts_paused, 1U);
    const HostList list = rig.ask<HostList>(AskHosts{.hosts = {"b.example.org"}});
    EXPECT_TRUE(list.rows.at(0).is_paused);
    const auto left =
        rig.ask<PauseState>(ChangePause{.is_paused = false, .hosts = {"b.example.org"}});
    EXPECT_TRUE(left.hosts.empty());
    rig.run_to_the_end();
    EXPECT_EQ(of_b(), 7);
  }
}

TEST(Control, APausedCrawlCanBeDrained) {
  Rig rig;
  rig.add_host("a.example.org", 6);
  rig.add_host("b.example.org", 6);
  rig.start();
  rig.run_for(Duration::seconds(8));
  rig.ask<PauseState>(ChangePause{.hosts = {"b.example.org"}});
  rig.ask<PauseState>(ChangePause{});
  const auto status = rig.engine->drain();
  ASSERT_TRUE(status) << status.error().message();
  const RegistryCounts& counts = rig.engine->module(rig.registry).counts();
  EXPECT_EQ(counts.in_flight, 0U);
  EXPECT_GT(counts.waiting, 0U);
}

TEST(Control, AFullDiskHoldsTheCrawlUntilThereIsRoom) {
  Rig rig;
  rig.options.disk_free_min = 100'000'000;
  rig.add_host("a.example.org", 20);
  rig.disk.set_capacity(1'000'000'000);
  rig.start();
  rig.run_for(Duration::seconds(20));
  const std::size_t before = rig.accesses();
  EXPECT_GT(before, 1U);
  rig.disk.set_capacity(90'000'000);
  rig.run_for(Duration::seconds(20));
  const std::size_t held = rig.accesses();
  EXPECT_LE(held, before + 1);
  const std::string reason = rig.engine->module(rig.scheduler).summary().paused;
  EXPECT_NE(reason.find("the disk has "), std::string::npos) << reason;
  EXPECT_NE(reason.find("below the floor of 100.0 MB"), std::string::npos) << reason;
  EXPECT_NE(rig.ask<WhyFacts>(AskWhy{"https://a.example.org/19"}).disk, "");

  rig.disk.set_capacity(105'000'000);
  rig.run_for(Duration::minutes(1));
  EXPECT_EQ(rig.accesses(), held) << "a little room is not enough";
  rig.disk.set_capacity(1'000'000'000);
  rig.run_to_the_end();
  EXPECT_EQ(rig.accesses(), 21U);
}

TEST(Control, WhatIsNotAnsweredFailsWhenTheCrawlIsGone) {
  Rig rig;
  rig.add_host("a.example.org", 1);
  rig.start();
  std::vector<base::ErrorCode> codes;
  const auto note = [&codes](base::Result<ControlReply> done) {
    codes.push_back(done ? base::ErrorCode::kFailed : done.error().code());
  };
  rig.mailbox->post(AskWhy{"https://a.example.org/"}, note);
  rig.engine.reset();
  rig.mailbox->post(AskWhy{"https://a.example.org/"}, note);
  EXPECT_EQ(codes,
            (std::vector<base::ErrorCode>{base::ErrorCode::kStopped, base::ErrorCode::kStopped}));
}

TEST(Control, RefusesMoreThanItCanHold) {
  ControlMailbox mailbox;
  std::size_t refused = 0;
  const auto note = [&refused](base::Result<ControlReply> done) {
    if (!done && done.error().code() == base::ErrorCode::kBusy) ++refused;
  };
  for (std::size_t i = 0; i < ControlMailbox::kRequestsMax + 3; ++i) mailbox.post(AskHosts{}, note);
  EXPECT_EQ(refused, 3U);
}

TEST(ControlThreads, AskFromManyThreadsAtOnce) {
  Rig rig(EngineKind::kThreads);
  rig.add_host("a.example.org", 10);
  rig.add_host("b.example.org", 10);
  rig.start();
  std::atomic<int> answered = 0;
  std::atomic<int> begun = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          ControlRequest request = AskHosts{};
          if (i % 5 == t) request = ChangePause{.is_paused = i % 2 == 0, .hosts = {}};
          if (i % 5 == t + 1) request = AskWhy{"https://a.example.org/3"};
          ++begun;
          rig.mailbox->post(std::move(request), [&answered](const auto&) { ++answered; });
        }
      });
    }
  }
  // Until it is not refused because too much is asked.
  for (bool is_done = false; !is_done;) {
    std::promise<bool> done;
    rig.mailbox->post(ChangePause{.is_paused = false, .hosts = {}},
                      [&done](const auto& reply) { done.set_value(reply.has_value()); });
    is_done = done.get_future().get();
  }
  rig.run_to_the_end();
  EXPECT_EQ(answered, begun);
}

}  // namespace
}  // namespace meguri::crawl
