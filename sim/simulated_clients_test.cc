#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "env/clock.h"
#include "sim/server_address.h"
#include "sim/simulated_dns.h"
#include "sim/simulated_http_client.h"
#include "sim/wire.h"
#include "sim/world_testing.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;
using base::Ticks;
using fetch::Fetched;
using fetch::FetchRequest;
using fetch::Resolved;

constexpr Instant kStart = kTestStart;

WorldOptions small_world() { return test_world(50, 500); }

// A world, a clock, and both clients on them.
struct Rig {
  explicit Rig(SimulatedHttpOptions http_options = {}, const SimulatedDnsOptions& dns_options = {})
      : http(world, clock, with_log(std::move(http_options))), dns(world, clock, dns_options) {}

  SimulatedHttpOptions with_log(SimulatedHttpOptions options) {
    options.access_log = [this](const Access& access) { log.push_back(access); };
    return options;
  }

  FetchRequest request_for(HostNumber host, std::string target = "/") {
    FetchRequest request;
    request.tag = host;
    request.host = world.census().name_of(host);
    request.target = std::move(target);
    request.address = {fetch::IpAddress::v4(address_of(world.census().servers_of(host).front())),
                       80};
    return request;
  }

  // Lets time jump from event to event until all is done.
  template <typename Client>
  auto run(Client& client) {
    auto results = client.take();
    while (client.in_flight() > 0) {
      clock.advance_to(client.next_event());
      client.poll(Duration::hours(1));
      for (auto& result : client.take()) results.push_back(std::move(result));
    }
    return results;
  }

  World world{small_world()};
  env::VirtualClock clock{kStart};
  std::vector<Access> log;
  SimulatedHttpClient http;
  SimulatedDns dns;
};

std::string summary(const std::vector<Fetched>& results) {
  std::string text;
  for (const Fetched& fetched : results) {
    text += fmt::format("{} {} {} {} {} {} {} {}\n", fetched.tag, fetch::name_of(fetched.outcome),
                        fetched.status, fetch::name_of(fetched.truncation), fetched.body.size(),
                        fetched.response_head, fetched.times.finished.ms(),
                        fetched.times.finished_utc.ms());
  }
  return text;
}

SimulatedHttpOptions troubled(std::uint64_t seed) {
  SimulatedHttpOptions options;
  options.seed = seed;
  options.refused_chance = 0.1;
  options.silent_chance = 0.1;
  options.reset_chance = 0.1;
  options.disconnect_chance = 0.2;
  return options;
}

std::string run_troubled(std::uint64_t seed) {
  Rig rig(troubled(seed));
  for (HostNumber host = 0; host < 50; ++host) rig.http.start(rig.request_for(host));
  return summary(rig.run(rig.http));
}

TEST(SimulatedHttpClient, AnswersWhatTheWorldAnswersWhenItsTimeHasCome) {
  Rig rig;
  const FetchRequest request = rig.request_for(3);
  rig.http.start(request);
  rig.http.poll(Duration::hours(1));
  EXPECT_TRUE(rig.http.take().empty());
  EXPECT_EQ(rig.http.in_flight(), 1U);
  const Instant arrival = kStart + Duration::from_ms(20);
  const Answer answer =
      rig.world.answer({.origin = {.host = request.host}, .target = "/"}, arrival);
  EXPECT_GE(rig.http.next_event(), Ticks() + Duration::from_ms(20) + answer.delay);
  const auto results = rig.run(rig.http);
  ASSERT_EQ(results.size(), 1U);
  const Fetched& fetched = results[0];
  EXPECT_EQ(fetched.tag, 3U);
  EXPECT_EQ(fetch::name_of(fetched.outcome), "answered");
  EXPECT_EQ(fetched.status, answer.status);
  EXPECT_EQ(fetched.body, answer.body);
  std::string head;
  append_wire_head(answer, {}, &head);
  EXPECT_EQ(fetched.response_head, head);
  EXPECT_EQ(fetched.request_head, fetch::request_head_of(request));
  EXPECT_EQ(fetched.connected, request.address);
  EXPECT_EQ(fetched.times.first_byte_utc, arrival + answer.delay);
  EXPECT_EQ(fetched.times.finished, rig.clock.ticks());
  ASSERT_EQ(rig.log.size(), 1U);
  EXPECT_EQ(rig.log[0].arrival, arrival);
  EXPECT_EQ(rig.log[0].end, fetched.times.finished_utc);
  EXPECT_EQ(rig.log[0].server, address_text(request.address.address.v4_value()));
  EXPECT_EQ(rig.log[0].host, request.host);
  EXPECT_EQ(rig.log[0].status, answer.status);
  EXPECT_EQ(rig.http.next_event(), Ticks::never());
}

TEST(SimulatedHttpClient, EqualSeedsGiveEqualResults) {
  const std::string once = run_troubled(7);
  EXPECT_EQ(once, run_troubled(7));
  EXPECT_NE(once, run_troubled(8));
}

TEST(SimulatedHttpClient, EveryTroubleHappensAndIsNamed) {
  Rig rig(troubled(1));
  std::map<std::string, int> outcomes;
  std::size_t heard = 0;
  for (int round = 0; round < 20; ++round) {
    for (HostNumber host = 0; host < 50; ++host) rig.http.start(rig.request_for(host));
    for (const Fetched& fetched : rig.run(rig.http)) {
      const bool is_answered = fetched.outcome == fetch::FetchOutcome::kAnswered;
      ++outcomes[std::string(fetch::name_of(fetched.outcome))];
      ++outcomes[std::string(fetch::name_of(fetched.truncation))];
      if (fetched.connected) ++heard;
      EXPECT_EQ(is_answered, fetched.status != 0);
      EXPECT_EQ(fetched.error.empty(),
                is_answered && fetched.truncation == fetch::Truncation::kNone);
      EXPECT_GE(fetched.times.finished, fetched.times.started);
    }
  }
  for (const char* name : {"answered", "connect_refused", "head_timeout", "reset", "disconnect"}) {
    EXPECT_GT(outcomes[name], 20) << name;
  }
  EXPECT_EQ(rig.log.size(), heard);
}

TEST(SimulatedHttpClient, KeepsLimitsAndMethods) {
  Rig rig;
  FetchRequest request = rig.request_for(0);
  request.limits.html_bytes_max = 100;
  request.limits.body_bytes_max = 100;
  rig.http.start(request);
  const Fetched cut = rig.run(rig.http).at(0);
  EXPECT_EQ(cut.truncation, fetch::Truncation::kLength);
  EXPECT_EQ(cut.body.size(), 100U);
  request = rig.request_for(0);
  request.method = fetch::Method::kHead;
  rig.http.start(request);
  EXPECT_EQ(rig.run(rig.http).at(0).body, "");
  request = rig.request_for(0);
  request.limits.head = Duration();
  rig.http.start(request);
  EXPECT_EQ(fetch::name_of(rig.run(rig.http).at(0).outcome), "head_timeout");
}

TEST(SimulatedHttpClient, KnowsItsServers) {
  Rig rig;
  FetchRequest request = rig.request_for(0);
  request.host = "nowhere.test";
  rig.http.start(request);
  EXPECT_EQ(rig.run(rig.http).at(0).status, 421);
  request.address.address = *fetch::IpAddress::parse("127.0.0.1");
  rig.http.start(request);
  EXPECT_EQ(fetch::name_of(rig.run(rig.http).at(0).outcome), "connect_refused");
  request.address.address = *fetch::IpAddress::parse("10.0.0.1");
  rig.http.start(request);
  EXPECT_EQ(fetch::name_of(rig.run(rig.http).at(0).outcome), "forbidden_address");
  EXPECT_EQ(rig.log.size(), 1U);
}

TEST(SimulatedHttpClient, CancelsEverything) {
  Rig rig;
  for (HostNumber host = 0; host < 10; ++host) rig.http.start(rig.request_for(host));
  rig.clock.advance(Duration::from_ms(20));
  rig.http.cancel_all("the crawl ends");
  const auto results = rig.http.take();
  ASSERT_EQ(results.size(), 10U);
  for (const Fetched& fetched : results) {
    EXPECT_EQ(fetch::name_of(fetched.outcome), "cancelled");
    EXPECT_EQ(fetched.error, "the crawl ends");
    EXPECT_EQ(fetched.times.finished, rig.clock.ticks());
  }
  EXPECT_EQ(rig.log.size(), 10U);
  EXPECT_EQ(rig.http.in_flight(), 0U);
}

TEST(SimulatedDns, KnowsTheNamesOfTheWorld) {
  Rig rig;
  const std::string name = rig.world.census().name_of(4);
  rig.dns.start(name, 9);
  rig.dns.start("missing.example", 10);
  rig.dns.start("127.1.0.7", 11);
  std::map<std::uint64_t, Resolved> results;
  for (Resolved& resolved : rig.run(rig.dns)) results[resolved.tag] = std::move(resolved);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(fetch::name_of(results[9].outcome), "found");
  EXPECT_EQ(results[9].name, name);
  EXPECT_EQ(results[9].ttl, Duration::hours(1));
  std::vector<fetch::IpAddress> expected;
  for (const ServerNumber server : rig.world.census().servers_of(4)) {
    expected.push_back(fetch::IpAddress::v4(address_of(server)));
  }
  EXPECT_EQ(results[9].addresses, expected);
  EXPECT_EQ(fetch::name_of(results[10].outcome), "no_such_name");
  EXPECT_EQ(results[11].addresses.at(0).to_string(), "127.1.0.7");
  EXPECT_EQ(results[11].finished, results[11].started);
}

TEST(SimulatedDns, EqualSeedsGiveEqualTroubles) {
  SimulatedDnsOptions options;
  options.server_failure_chance = 0.2;
  options.silent_chance = 0.2;
  const auto run = [&](std::uint64_t seed) {
    options.seed = seed;
    Rig rig({}, options);
    for (HostNumber host = 0; host < 50; ++host) {
      rig.dns.start(rig.world.census().name_of(host), host);
    }
    std::string text;
    for (const Resolved& resolved : rig.run(rig.dns)) {
      text += fmt::format("{} {} {}\n", resolved.tag, fetch::name_of(resolved.outcome),
                          resolved.finished.ms());
    }
    return text;
  };
  const std::string once = run(3);
  EXPECT_EQ(once, run(3));
  EXPECT_NE(once, run(4));
  EXPECT_NE(once.find("timeout"), std::string::npos);
  EXPECT_NE(once.find("server_failure"), std::string::npos);
  EXPECT_NE(once.find("found"), std::string::npos);
}

TEST(SimulatedClientsThreads, AnotherThreadEndsAWait) {
  const World world(small_world());
  const env::RealClock clock;
  SimulatedDns dns(world, clock, {});
  std::thread other([&] { dns.wake(); });
  dns.poll(Duration::hours(1));  // would make the test time out
  other.join();
}

TEST(ServerAddress, BelongsToOneServer) {
  EXPECT_EQ(address_text(address_of(0)), "127.1.0.1");
  EXPECT_EQ(address_text(address_of(255)), "127.1.1.0");
  EXPECT_EQ(server_of(address_of(12345)), 12345U);
  EXPECT_FALSE(server_of(0x7f010000));
  EXPECT_FALSE(server_of(0x7f000001));
  EXPECT_FALSE(server_of(0x80000000));
}

}  // namespace
}  // namespace meguri::sim
