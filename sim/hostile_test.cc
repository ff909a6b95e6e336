#include "sim/hostile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "env/clock.h"
#include "fetch/curl_http_client.h"
#include "sim/checker.h"
#include "sim/http_server.h"
#include "sim/simulated_dns.h"
#include "sim/simulated_http_client.h"
#include "sim/world_testing.h"

namespace meguri::sim {
namespace {

using base::Duration;
using fetch::Fetched;
using fetch::FetchRequest;

WorldOptions hostile_world(std::vector<std::string> names) {
  WorldOptions options = test_world(20, 100);
  options.hostile = std::move(names);
  return options;
}

const HostileHabit& habit_of(const World& world, std::string_view name) {
  const HostileHabit* habit = world.hostile().of_host(std::string(name) + ".hostile.test");
  EXPECT_NE(habit, nullptr) << name;
  return *habit;
}

TEST(Hostile, EveryHabitHasANameASentenceAndAnAddress) {
  std::set<std::string_view> names;
  std::set<Address> addresses;
  for (const HostileHabit& habit : hostile_habits()) {
    EXPECT_TRUE(names.insert(habit.name).second) << habit.name;
    EXPECT_TRUE(addresses.insert(HostileWeb::address_of(habit)).second) << habit.name;
    EXPECT_GT(habit.sentence.size(), 10U) << habit.name;
    EXPECT_FALSE(habit.sentence.ends_with('.')) << habit.name;
    EXPECT_NE(habit.answer, nullptr) << habit.name;
  }
  EXPECT_GT(names.size(), 50U);
}

TEST(Hostile, AWorldHasThoseThatItNames) {
  const World world(hostile_world({"silent", "calendar"}));
  EXPECT_EQ(world.hostile().habits().size(), 2U);
  EXPECT_EQ(habit_of(world, "SILENT").name, "silent");
  EXPECT_EQ(world.hostile().of_host("calendar.hostile.test.")->name, "calendar");
  EXPECT_EQ(world.hostile().of_host("gzip-bomb.hostile.test"), nullptr);
  EXPECT_EQ(world.hostile().of_host("silent.test"), nullptr);
  EXPECT_EQ(World(hostile_world({"all"})).hostile().habits().size(), hostile_habits().size());
  EXPECT_TRUE(World(hostile_world({})).hostile().habits().empty());
  EXPECT_EQ(hostile_world({"friendly"}).check().error().message(),
            "no hostile host is called \"friendly\"");
}

TEST(Hostile, OrdinaryHostsDoNotKnowOfThem) {
  const World calm(hostile_world({}));
  const World troubled(hostile_world({"all"}));
  for (HostNumber host = 0; host < calm.census().hosts(); ++host) {
    const std::string name = calm.census().name_of(host);
    for (const std::string_view target : {"/", "/robots.txt", "/feed.xml", "/img/1.png"}) {
      const Request request{.origin = {.host = name}, .target = target};
      EXPECT_EQ(calm.answer(request, kTestNow), troubled.answer(request, kTestNow)) << name;
    }
  }
}

TEST(Hostile, RobotsRulesAreThoseBehindRedirects) {
  const World world(hostile_world({"all"}));
  const auto rules = [&](std::string_view name) {
    return HostileWeb::robots_of(habit_of(world, name), kTestNow);
  };
  EXPECT_EQ(rules("silent"), "");
  EXPECT_EQ(rules("robots-redirects"), "User-agent: *\nDisallow: /private/\n");
  EXPECT_EQ(rules("robots-loop"), "");
  EXPECT_EQ(rules("robots-error"), "User-agent: *\nDisallow: /\n");
  EXPECT_GT(rules("robots-huge").size(), 20'000'000U);
}

TEST(Hostile, TheCheckerKnowsTheirRules) {
  const World world(hostile_world({"all"}));
  std::vector<Access> log;
  const auto ask = [&](std::string_view name, std::string target, std::int64_t second) {
    const HostileHabit& habit = habit_of(world, name);
    const base::Instant time = kTestNow + Duration::seconds(second);
    log.push_back({.arrival = time,
                   .end = time,
                   .server = address_text(HostileWeb::address_of(habit)),
                   .host = HostileWeb::host_of(habit),
                   .target = std::move(target),
                   .status = 200,
                   .bytes = 1});
  };
  ask("robots-error", "/robots.txt", 0);
  ask("robots-error", "/", 10);  // forbidden
  ask("robots-redirects", "/rules/1", 0);
  ask("robots-redirects", "/open", 10);
  ask("robots-redirects", "/private/1", 20);  // forbidden
  ask("robots-delay", "/", 0);
  ask("robots-delay", "/1", 3600);  // too soon
  const CheckReport report = check_log(world, log, {.once = true, .seeds = {"http://a.test/"}});
  EXPECT_EQ(report.counts[static_cast<std::size_t>(BreachKind::kRobots)], 2U);
  EXPECT_EQ(report.counts[static_cast<std::size_t>(BreachKind::kCrawlDelay)], 1U);
  EXPECT_EQ(report.total(), 3U);
}

// --- Both clients.

struct Fare {
  std::string what;  // outcome, status, truncation
  std::string body;
};

Fare fare_of(const Fetched& fetched) {
  return {fmt::format("{} {} {}", fetch::name_of(fetched.outcome), fetched.status,
                      fetch::name_of(fetched.truncation)),
          // What of a body that is cut by time has come is for the clock to say.
          fetched.truncation == fetch::Truncation::kTime ? "" : std::string(fetched.body.memory())};
}

FetchRequest request_to(const HostileHabit& habit, std::uint16_t port, std::uint16_t tls_port) {
  FetchRequest request;
  request.tag = HostileWeb::address_of(habit);
  request.is_https = habit.certificate != CertificateFault::kNone ||
                     habit.door == HostileDoor::kResetsHandshake ||
                     habit.door == HostileDoor::kIgnoresHandshake;
  request.port = request.is_https ? tls_port : port;
  request.host = HostileWeb::host_of(habit);
  request.address = {fetch::IpAddress::v4(HostileWeb::address_of(habit)), request.port};
  request.limits.tls = Duration::seconds(4);
  request.limits.head = Duration::seconds(10);
  request.limits.whole = Duration::seconds(20);
  request.limits.slow_max = Duration::seconds(8);
  request.limits.body_bytes_max = 300'000;
  request.limits.html_bytes_max = 200'000;
  return request;
}

// By name of habit.
std::map<std::string, Fare> simulated_fares(const World& world) {
  env::VirtualClock clock(kTestNow);
  SimulatedHttpClient client(world, clock, {.bytes_per_second = 100'000'000, .access_log = {}});
  for (const HostileHabit* habit : world.hostile().habits()) {
    client.start(request_to(*habit, 8080, 8443));
  }
  std::map<std::string, Fare> fares;
  while (client.in_flight() > 0) {
    clock.advance_to(client.next_event());
    client.poll(Duration());
    for (const Fetched& fetched : client.take()) {
      const auto* habit = world.hostile().at(static_cast<Address>(fetched.tag));
      fares[std::string(habit->name)] = fare_of(fetched);
    }
  }
  return fares;
}

std::map<std::string, Fare> real_fares(const World& world) {
  constexpr double kSpeed = 20;
  const env::ScaledClock clock(kSpeed);
  HttpServerOptions server_options;
  server_options.tls_port = 0;
  const auto server = HttpServer::start(world, clock, server_options).value();
  fetch::CurlOptions options;
  options.policy = fetch::AddressPolicy({*fetch::Network::parse("127.0.0.0/8")});
  options.real_limit_min = Duration::from_ms(50);
  options.extra_ca_pem = server->authority_pem();
  const auto client = fetch::make_curl_http_client(clock, options).value();
  for (const HostileHabit* habit : world.hostile().habits()) {
    client->start(request_to(*habit, server->port(), *server->tls_port()));
  }
  std::map<std::string, Fare> fares;
  while (client->in_flight() > 0) {
    client->poll(Duration::seconds(1));
    for (const Fetched& fetched : client->take()) {
      const auto* habit = world.hostile().at(static_cast<Address>(fetched.tag));
      fares[std::string(habit->name)] = fare_of(fetched);
    }
  }
  return fares;
}

TEST(Hostile, RealAndSimulatedClientsFareAlike) {
  WorldOptions options = hostile_world({"all"});
  const World world(options);
  const auto simulated = simulated_fares(world);
  const auto real = real_fares(world);
  ASSERT_EQ(simulated.size(), hostile_habits().size());
  for (const auto& [name, fare] : real) {
    EXPECT_EQ(simulated.at(name).what, fare.what) << name;
    // Dates differ, and with them calendars and session ids.
    if (name == "calendar" || name == "session-ids") continue;
    EXPECT_EQ(simulated.at(name).body.size(), fare.body.size()) << name;
  }
  EXPECT_EQ(real.at("silent").what, "head_timeout 0 ");
  EXPECT_EQ(real.at("slow-head").what, "head_timeout 0 ");
  EXPECT_EQ(real.at("slow-body").what, "answered 200 time");
  EXPECT_EQ(real.at("steady-body").what, "answered 200 time");
  EXPECT_EQ(real.at("endless-html").what, "answered 200 length");
  EXPECT_EQ(real.at("endless-html").body.size(), 200'000U);
  EXPECT_EQ(real.at("endless-file").body.size(), 300'000U);
  EXPECT_EQ(real.at("header-flood").what, "too_many_lines 0 ");
  EXPECT_EQ(real.at("endless-interim").what, "too_many_lines 0 ");
  EXPECT_EQ(real.at("chunk-negative").what, "answered 200 unspecified");
  EXPECT_EQ(real.at("reset-in-body").what, "answered 200 disconnect");
  EXPECT_EQ(real.at("reset-on-connect").what, "reset 0 ");
  EXPECT_EQ(real.at("deaf").what, "connect_timeout 0 ");
  EXPECT_EQ(real.at("expired-certificate").what, "certificate 0 ");
  EXPECT_EQ(real.at("silent-handshake").what, "tls_timeout 0 ");
}

TEST(Hostile, NamesLeadWhereTheyShouldNot) {
  const World world(hostile_world({"all"}));
  env::VirtualClock clock(kTestNow);
  SimulatedDns dns(world, clock, {});
  const auto look_up = [&](std::string_view name) {
    dns.start(std::string(name) + ".hostile.test", 1);
    clock.advance_to(dns.next_event());
    dns.poll(Duration());
    const auto resolved = dns.take();
    std::string text;
    for (const auto& address : resolved.at(0).addresses) text += address.to_string() + " ";
    return text;
  };
  const std::string own = address_text(HostileWeb::address_of(habit_of(world, "rebinding"))) + " ";
  EXPECT_EQ(look_up("metadata-address"), "169.254.169.254 ");
  EXPECT_EQ(look_up("private-address"), "10.0.0.1 192.168.0.1 172.16.0.1 ");
  EXPECT_EQ(look_up("rebinding"), own);
  EXPECT_EQ(look_up("rebinding"), "10.0.0.1 ");
  EXPECT_EQ(look_up("rebinding"), own);
}

}  // namespace
}  // namespace meguri::sim
