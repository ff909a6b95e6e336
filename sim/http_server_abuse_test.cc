// What clients do that they should not, and what goes wrong at the start.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "env/random.h"
#include "sim/http_server_testing.h"

namespace meguri::sim {
namespace {

int status_after(ServedWorld& web, std::string_view bytes) {
  auto client = web.connect();
  client.send(bytes);
  const auto response = client.read_response();
  EXPECT_TRUE(client.has_ended()) << bytes;
  return response ? response->head.status : 0;
}

TEST(HttpServerAbuseThreads, BadRequestsAreRefusedAndTheConnectionEnds) {
  ServedWorld web;
  EXPECT_EQ(status_after(web, "GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_after(web, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400);
  EXPECT_EQ(status_after(web, "GET / HTTP/1.1\r\nHost: a.test\r\nHost: a.test\r\n\r\n"), 400);
  EXPECT_EQ(status_after(web, "GET / HTTP/1.1\r\nHost: a.test:x\r\n\r\n"), 400);
  EXPECT_EQ(status_after(web, "GET / HTTP/1.1\nHost: a.test\n\n"), 400);
  EXPECT_EQ(status_after(web, "GET /a b HTTP/1.1\r\nHost: a.test\r\n\r\n"), 400);
  EXPECT_EQ(status_after(web, "GET a HTTP/1.1\r\nHost: a.test\r\n\r\n"), 400);
  EXPECT_EQ(status_after(web, "\xff\xfe\x80 \x01\r\n\r\n"), 400);
  EXPECT_EQ(status_after(web, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 400);
  EXPECT_EQ(status_after(web, "GET / HTTP/2.0\r\nHost: a.test\r\n\r\n"), 505);
  EXPECT_EQ(status_after(web, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: x\r\n\r\n"), 400);
  EXPECT_EQ(
      status_after(web, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 9999999999\r\n\r\n"),
      413);
  EXPECT_EQ(status_after(web,
                         "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n"
                         "Expect: 100-continue\r\n\r\n"),
            417);
  EXPECT_EQ(status_after(web,
                         "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "zz\r\n"),
            400);
  EXPECT_EQ(status_after(web, "GET / HTTP/1.1\r\nHost: a.test\r\nX: " + std::string(20'000, 'x')),
            431);
  std::string many = "GET / HTTP/1.1\r\nHost: a.test\r\n";
  for (int i = 0; i < 300; ++i) many += "X: y\r\n";
  EXPECT_EQ(status_after(web, many), 431);
  const auto log = web.finish();
  ASSERT_EQ(log.size(), 16U);
  EXPECT_EQ(log[0].status, 400);
  EXPECT_EQ(log[0].target, "/");
}

TEST(HttpServerAbuseThreads, BodiesAreDropped) {
  ServedWorld web;
  const std::string host = web.plain_host();
  auto client = web.connect();
  for (int i = 0; i < 2; ++i) {
    client.send(fmt::format("POST / HTTP/1.1\r\nHost: {}\r\nContent-Length: 60000\r\n\r\n", host));
    client.send(std::string(60'000, 'x'));
    EXPECT_EQ(status_of(client.read_response()), 405);
    client.send(
        fmt::format("GET / HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "5\r\nhello\r\n0\r\n\r\n",
                    host));
    EXPECT_EQ(status_of(client.read_response()), 200);
  }
  EXPECT_EQ(status_of(client.ask(host, "/")), 200);
}

TEST(HttpServerAbuseThreads, HalfRequestsAndSuddenEndsHarmNobody) {
  ServedWorld web;
  const std::string host = web.plain_host();
  const std::string request = fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host);
  for (std::size_t size = 0; size < request.size(); ++size) {
    auto client = web.connect();
    client.send(request.substr(0, size));
    if (size % 2 == 0) client.reset();
  }
  for (int i = 0; i < 30; ++i) {
    auto client = web.connect();
    client.send(request + request + request);
    client.reset();
  }
  auto client = web.connect();
  EXPECT_EQ(status_of(client.ask(host, "/")), 200);
}

TEST(HttpServerAbuseThreads, RequestsMayComeByteByByte) {
  ServedWorld web;
  const std::string host = web.plain_host();
  auto client = web.connect();
  for (const char c : fmt::format("\r\nGET / HTTP/1.1\r\nHost: {}\r\n\r\n", host)) {
    client.send(std::string_view(&c, 1));
  }
  EXPECT_EQ(body_of(client.read_response()),
            web.expected({.origin = {.host = host}, .target = "/"}).body);
}

TEST(HttpServerAbuseThreads, RubbishIsRefused) {
  HttpServerOptions options;
  options.tls_port = 0;
  ServedWorld web(options);
  env::Random random(7);
  for (int i = 0; i < 100; ++i) {
    std::string bytes;
    for (std::uint64_t n = random.below(3'000); n > 0; --n) {
      bytes.push_back(static_cast<char>(random.below(256)));
    }
    auto client = i % 2 == 0 ? web.connect() : web.connect_tls();
    client.send(bytes);
    shutdown(client.socket(), SHUT_WR);
    const auto response = client.read_response();
    if (response) {
      EXPECT_GE(response->head.status, 400);
    }
  }
  auto client = web.connect();
  EXPECT_EQ(status_of(client.ask(web.plain_host(), "/")), 200);
}

TEST(HttpServerAbuseThreads, ClientsThatGoAwayAreLoggedWithWhatTheyGot) {
  ServedWorld web;
  const std::string host = web.plain_host();
  std::string requests;
  for (int i = 0; i < 2'000; ++i) {
    requests += fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host);
  }
  auto client = web.connect();
  const auto whole = client.ask(host, "/");
  ASSERT_TRUE(whole);
  // The answers are 20 MB, more than any buffer holds.
  ASSERT_GT(::send(client.socket(), requests.data(), requests.size(), MSG_DONTWAIT), 0);
  web.wait_for([](const HttpCounts& counts) { return counts.requests > 10; });
  client.reset();
  web.wait_for([](const HttpCounts& counts) { return counts.open == 0; });
  const auto log = web.finish();
  EXPECT_EQ(log.size(), web.server().counts().requests);
  EXPECT_LT(log.size(), 2'000U);
  std::uint64_t bytes = 0;
  for (const Access& access : log) {
    bytes += access.bytes;
    EXPECT_LE(access.bytes, whole->wire_bytes);
  }
  EXPECT_EQ(bytes, web.server().counts().bytes);
  EXPECT_LE(std::ranges::count_if(
                log, [&](const Access& access) { return access.bytes < whole->wire_bytes; }),
            1);
}

TEST(HttpServerAbuseThreads, ClientsThatDoNotWaitForTheirAnswerAreLogged) {
  const env::ScaledClock clock(0.0001);  // delays are hours
  ServedWorld web({}, &clock);
  auto client = web.connect();
  client.send(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", web.plain_host()));
  web.wait_for([](const HttpCounts& counts) { return counts.requests == 1; });
  client.reset();
  web.wait_for([](const HttpCounts& counts) { return counts.open == 0; });
  const auto log = web.finish();
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0].status, 200);
  EXPECT_EQ(log[0].bytes, 0U);
}

TEST(HttpServerAbuseThreads, TheEndOfTheClientsSideIsNotTheEndOfTheAnswer) {
  ServedWorld web;
  const std::string host = web.plain_host();
  auto client = web.connect();
  client.send(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host));
  shutdown(client.socket(), SHUT_WR);
  const auto response = client.read_response();
  ASSERT_TRUE(response && response->is_whole);
  EXPECT_TRUE(client.has_ended());
}

TEST(HttpServerAbuseThreads, ManyConnectionsAtOnce) {
  ServedWorld web;
  const std::string host = web.plain_host();
  std::vector<TestClient> clients;
  for (ServerNumber i = 0; i < 1'000; ++i) {
    clients.push_back(web.connect(i));
    ASSERT_TRUE(clients.back().is_connected());
  }
  for (TestClient& client : clients) {
    client.send(fmt::format("GET /robots.txt HTTP/1.1\r\nHost: {}\r\n\r\n", host));
  }
  for (TestClient& client : clients) ASSERT_TRUE(client.read_response());
  EXPECT_EQ(web.server().counts().open, 1'000U);
  EXPECT_EQ(web.finish().size(), 1'000U);
  EXPECT_EQ(web.server().counts().open, 0U);
}

TEST(HttpServerAbuseThreads, BeyondTheLimitTheLongestIdleConnectionIsClosed) {
  HttpServerOptions options;
  options.limits.connections_max = 4;
  ServedWorld web(options);
  const std::string host = web.plain_host();
  std::vector<TestClient> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(web.connect());
    EXPECT_EQ(status_of(clients.back().ask(host, "/")), 200);
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(clients[i].has_ended());
  for (std::size_t i = 4; i < 8; ++i) EXPECT_EQ(status_of(clients[i].ask(host, "/")), 200);
}

TEST(HttpServerAbuseThreads, BeyondTheLimitClientsWaitForBusyOnes) {
  HttpServerOptions options;
  options.limits.connections_max = 1;
  ServedWorld web(options);
  const std::string host = web.plain_host();
  auto busy = web.connect();
  busy.send("GET / HTTP/1.1\r\n");  // not idle: half a request
  auto next = web.connect();
  next.send(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", host));
  EXPECT_EQ(busy.send(fmt::format("Host: {}\r\nConnection: close\r\n\r\n", host)), true);
  EXPECT_EQ(status_of(busy.read_response()), 200);
  busy.reset();
  EXPECT_EQ(status_of(next.read_response()), 200);
}

TEST(HttpServerAbuseThreads, IdleConnectionsAreClosedAfterTheirTime) {
  const env::RealClock clock;
  HttpServerOptions options;
  options.limits.idle_time = std::chrono::milliseconds(20);
  ServedWorld web(options, &clock);
  auto silent = web.connect();
  auto halting = web.connect();
  halting.send("GET / HT");
  EXPECT_TRUE(silent.has_ended());
  EXPECT_TRUE(halting.has_ended());
}

TEST(HttpServerAbuseThreads, StopsWhileBusy) {
  const env::ScaledClock clock(2);
  HttpServerOptions options;
  options.threads = 2;
  options.tls_port = 0;
  ServedWorld waiting(options, &clock);  // answers that wait for their time
  ServedWorld busy(options);
  const std::string host = busy.plain_host();
  std::vector<TestClient> clients;
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    requests += fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host);
  }
  for (int i = 0; i < 20; ++i) {
    clients.push_back(i % 2 == 0 ? waiting.connect() : busy.connect());
    clients.back().send(requests);
  }
  EXPECT_TRUE(clients[1].read_response());
  const auto log = waiting.finish();
  for (const Access& access : log) EXPECT_LE(access.arrival, access.end);
  EXPECT_FALSE(busy.finish().empty());
  for (TestClient& client : clients) {
    while (client.read_response()) {
    }
  }
}

TEST(HttpServerStartThreads, PortsInUseAreNamed) {
  ServedWorld web;
  const World world(test_world());
  const env::RealClock clock;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    HttpServerOptions options;
    options.threads = threads;
    options.port = web.server().port();
    const auto second = HttpServer::start(world, clock, options);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), base::ErrorCode::kBusy);
    EXPECT_EQ(second.error().message(),
              fmt::format("port {} is in use; choose another with --port", options.port));
    options.port = 0;
    options.tls_port = web.server().port();
    const auto third = HttpServer::start(world, clock, options);
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().message(),
              fmt::format("port {} is in use; choose another with --tls-port", *options.tls_port));
  }
}

TEST(HttpServerStartThreads, APortOfSeveralThreadsIsInUseToo) {
  HttpServerOptions options;
  options.threads = 2;
  ServedWorld web(options);
  const World world(test_world());
  const env::RealClock clock;
  options.port = web.server().port();
  const auto second = HttpServer::start(world, clock, options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), base::ErrorCode::kBusy);
}

TEST(HttpServerStartThreads, OptionsAreChecked) {
  HttpServerOptions options;
  options.threads = 0;
  EXPECT_FALSE(options.check());
  options.threads = 8;
  options.limits.connections_max = 7;
  EXPECT_FALSE(options.check());
  options.limits.connections_max = 8;
  EXPECT_TRUE(options.check());
  options.port = 443;
  options.tls_port = 443;
  EXPECT_FALSE(options.check());
}

}  // namespace
}  // namespace meguri::sim
