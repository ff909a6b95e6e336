#include "fetch/curl_http_client.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "env/clock.h"
#include "fetch/testing.h"

namespace meguri::fetch {
namespace {

using base::Duration;

const env::RealClock real_clock;

CurlOptions local_options() {
  CurlOptions options;
  options.policy = *AddressPolicy::parse({"127.0.0.0/8"});
  return options;
}

std::unique_ptr<HttpClient> make_client(CurlOptions options = local_options()) {
  auto client = make_curl_http_client(real_clock, std::move(options));
  EXPECT_TRUE(client);
  return *std::move(client);
}

FetchRequest request_to(const RawServer& server, std::string target = "/") {
  FetchRequest request;
  request.tag = 7;
  request.host = "www.example.test";
  request.port = server.port();
  request.target = std::move(target);
  request.address = server.endpoint();
  request.user_agent = "meguri-test/1.0";
  request.keeps_alive = true;
  return request;
}

Fetched fetch(HttpClient& client, FetchRequest request) {
  client.start(std::move(request));
  return std::move(take_results(client, 1).front());
}

Fetched fetch(const RawServer& server) { return fetch(*make_client(), request_to(server)); }

constexpr std::string_view kPlainHead =
    "HTTP/1.1 200 Fine\r\nContent-Type: text/plain\r\nX-ODD:  two  spaces \r\n"
    "Content-Length: 5\r\n\r\n";

void expect_answer(const Fetched& fetched, int status, std::string_view body) {
  EXPECT_EQ(name_of(fetched.outcome), "answered") << fetched.error;
  EXPECT_EQ(fetched.status, status);
  EXPECT_EQ(fetched.body, body);
  EXPECT_EQ(name_of(fetched.truncation), "") << fetched.error;
  EXPECT_EQ(fetched.error, "");
}

TEST(CurlHttpClient, GivesHeadAndBodyByteForByte) {
  const RawServer server(always(std::string(kPlainHead) + "hello"));
  const Fetched fetched = fetch(server);
  expect_answer(fetched, 200, "hello");
  EXPECT_EQ(fetched.tag, 7U);
  EXPECT_EQ(fetched.response_head, kPlainHead);
  EXPECT_EQ(fetched.connected, server.endpoint());
  EXPECT_EQ(fetched.protocol, HttpProtocol::kHttp11);
  EXPECT_FALSE(fetched.is_reused);
  EXPECT_FALSE(fetched.has_trailers);
  EXPECT_EQ(fetched.tls_version, "");
  EXPECT_LE(fetched.times.started, fetched.times.first_byte);
  EXPECT_LE(fetched.times.first_byte, fetched.times.finished);
  EXPECT_LE(fetched.times.started_utc, fetched.times.finished_utc);
}

TEST(CurlHttpClient, SendsExactlyTheHeadItTells) {
  base::Mutex mutex;
  std::string received;
  const RawServer server([&](RawConnection& connection) {
    std::string head = connection.read_head();
    {
      const base::MutexLock lock(mutex);
      received = std::move(head);
    }
    connection.send("HTTP/1.1 204 No Content\r\n\r\n");
  });
  const auto client = make_client();
  for (const bool has_fields : {false, true}) {
    FetchRequest request = request_to(server, "/a/../b%7e?x={y}|'z'#");
    if (has_fields) {
      request.fields = {{"Accept", "text/html"},
                        {"If-None-Match", "\"abc\""},
                        {"X-Empty", ""},
                        {"X-Two", "a\r\nInjected: b"}};
    } else {
      request.user_agent.clear();
    }
    request.keeps_alive = false;
    const Fetched fetched = fetch(*client, request);
    expect_answer(fetched, 204, "");
    const base::MutexLock lock(mutex);
    EXPECT_TRUE(
        received.starts_with("GET /a/../b%7e?x={y}|'z'# HTTP/1.1\r\nHost: www.example.test:"));
    if (has_fields) {
      EXPECT_NE(received.find("\r\nX-Empty:\r\n"), std::string::npos) << received;
      EXPECT_NE(received.find("\r\nX-Two: a  Injected: b\r\n"), std::string::npos) << received;
    }
    EXPECT_EQ(fetched.request_head, received);
  }
}

TEST(CurlHttpClient, TakesTheChunksOutAndSeesTrailers) {
  const std::string head =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n";
  const RawServer server(always(head + "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n"));
  const Fetched fetched = fetch(server);
  expect_answer(fetched, 200, "hello world");
  EXPECT_EQ(fetched.response_head, head);
  EXPECT_TRUE(fetched.has_trailers);
}

TEST(CurlHttpClient, ReadsHttp10UntilTheEnd) {
  const RawServer server(once("HTTP/1.0 200 OK\r\n\r\nuntil the end"));
  const Fetched fetched = fetch(server);
  expect_answer(fetched, 200, "until the end");
  EXPECT_EQ(fetched.protocol, HttpProtocol::kHttp10);
}

TEST(CurlHttpClient, KeepsContentCodings) {
  const std::string body = "\x1f\x8b not really gzip";
  const RawServer server(
      once("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + body));
  expect_answer(fetch(server), 200, body);
}

TEST(CurlHttpClient, KnowsAnswersWithoutBody) {
  const RawServer server(
      once("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 9\r\n\r\n"));
  expect_answer(fetch(server), 304, "");
  const RawServer head_server(always("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"));
  FetchRequest request = request_to(head_server);
  request.method = Method::kHead;
  const auto client = make_client();
  const Fetched fetched = fetch(*client, request);
  expect_answer(fetched, 200, "");
  EXPECT_TRUE(fetched.request_head.starts_with("HEAD / HTTP/1.1\r\n"));
}

TEST(CurlHttpClient, GetsAgainAfterAHead) {
  const RawServer server([](RawConnection& connection) {
    std::string head;
    while (!(head = connection.read_head()).empty()) {
      connection.send(std::string(kPlainHead) + (head.starts_with("HEAD") ? "" : "hello"));
    }
  });
  const auto client = make_client();
  FetchRequest request = request_to(server);
  request.method = Method::kHead;
  expect_answer(fetch(*client, request), 200, "");
  request.method = Method::kGet;
  expect_answer(fetch(*client, request), 200, "hello");
}

TEST(CurlHttpClient, LeavesInterimHeadsOut) {
  const RawServer server(
      always("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "
             "</a>\r\nContent-Type: text/html\r\n\r\n" +
             std::string(kPlainHead) + "hello"));
  const Fetched fetched = fetch(server);
  expect_answer(fetched, 200, "hello");
  EXPECT_EQ(fetched.response_head, kPlainHead);
}

TEST(CurlHttpClient, InterimHeadsCountForTheLimits) {
  std::string hints;
  for (int i = 0; i < 50; ++i) hints += "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  const RawServer server(always(hints + std::string(kPlainHead) + "hello"));
  const auto client = make_client();
  FetchRequest request = request_to(server);
  expect_answer(fetch(*client, request), 200, "hello");
  request.limits.head_lines_max = 99;
  EXPECT_EQ(fetch(*client, request).outcome, FetchOutcome::kTooManyLines);
  request.limits = {};
  request.limits.head_bytes_max = hints.size();
  EXPECT_EQ(fetch(*client, request).outcome, FetchOutcome::kHeadTooLarge);
}

TEST(CurlHttpClient, NeverFollowsARedirect) {
  std::atomic<int> requests = 0;
  const RawServer server([&](RawConnection& connection) {
    while (!connection.read_head().empty()) {
      ++requests;
      connection.send(
          "HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nContent-Length: 0\r\n\r\n");
    }
  });
  const Fetched fetched = fetch(server);
  expect_answer(fetched, 302, "");
  EXPECT_EQ(requests.load(), 1);
}

TEST(CurlHttpClient, RefusesForbiddenAddressesWithoutConnecting) {
  const RawServer server(always(std::string(kPlainHead) + "hello"));
  const auto client = make_client(CurlOptions());
  const Fetched fetched = fetch(*client, request_to(server));
  EXPECT_EQ(fetched.outcome, FetchOutcome::kForbiddenAddress);
  EXPECT_EQ(fetched.error, "127.0.0.1 is loopback");
  EXPECT_FALSE(fetched.connected);
  EXPECT_EQ(server.connections(), 0);

  FetchRequest request = request_to(server);
  request.host = "[::ffff:127.0.0.1]";
  request.address.address = *IpAddress::parse("::ffff:127.0.0.1");
  const Fetched mapped = fetch(*make_client(), request);
  EXPECT_EQ(mapped.outcome, FetchOutcome::kForbiddenAddress) << mapped.error;
  EXPECT_EQ(server.connections(), 0);
}

TEST(CurlHttpClient, NamesWhatTheServerDidWrong) {
  struct Case {
    const char* answer;
    const char* outcome;
  };
  for (const Case& c : {Case{"", "reset"}, Case{"HTTP/1.1 200 OK\r\nContent-Le", "reset"},
                        Case{"<html>no head</html>", "bad_response"},
                        Case{"SSH-2.0-OpenSSH_9.2\r\n", "bad_response"}}) {
    const RawServer server(once(c.answer));
    const Fetched fetched = fetch(server);
    EXPECT_EQ(name_of(fetched.outcome), c.outcome) << c.answer << ": " << fetched.error;
    EXPECT_NE(fetched.error, "") << c.answer;
    EXPECT_EQ(fetched.status, 0);
    EXPECT_TRUE(fetched.connected) << c.answer;
  }
}

TEST(CurlHttpClient, NamesResets) {
  for (const char* answer : {"", "HTTP/1.1 200 OK\r\nContent-"}) {
    const RawServer server([&](RawConnection& connection) {
      connection.read_head();
      connection.send(answer);
      connection.reset_at_end();
    });
    EXPECT_EQ(name_of(fetch(server).outcome), "reset") << answer;
  }
}

TEST(CurlHttpClient, KeepsWhatCameOfABrokenBody) {
  struct Case {
    const char* answer;
    Truncation truncation;
  };
  for (const Case& c :
       {Case{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello", Truncation::kDisconnect},
        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
             Truncation::kDisconnect},
        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
             Truncation::kUnspecified}}) {
    const RawServer server(once(c.answer));
    const Fetched fetched = fetch(server);
    EXPECT_EQ(name_of(fetched.outcome), "answered") << fetched.error;
    EXPECT_EQ(fetched.status, 200);
    EXPECT_EQ(fetched.body, "hello");
    EXPECT_EQ(name_of(fetched.truncation), name_of(c.truncation)) << fetched.error;
    EXPECT_NE(fetched.error, "");
  }
}

TEST(CurlHttpClient, NamesARefusedConnection) {
  auto server = std::make_unique<RawServer>(once(""));
  const FetchRequest request = request_to(*server);
  server.reset();
  const Fetched fetched = fetch(*make_client(), request);
  EXPECT_EQ(name_of(fetched.outcome), "connect_refused") << fetched.error;
  EXPECT_FALSE(fetched.connected);
}

TEST(CurlHttpClient, SaysWhatCannotBeAskedFor) {
  const RawServer server(always(std::string(kPlainHead) + "hello"));
  const auto client = make_client();
  for (const char* target : {"", "a", "/a b", "/a\r\nX: y"}) {
    EXPECT_EQ(name_of(fetch(*client, request_to(server, target)).outcome), "bad_request");
  }
  FetchRequest request = request_to(server);
  request.host = "a/b";
  EXPECT_EQ(name_of(fetch(*client, request).outcome), "bad_request");
  request.host = "www.example.test";
  request.fields = {{"A: b", "c"}};
  EXPECT_EQ(name_of(fetch(*client, request).outcome), "bad_request");
  EXPECT_EQ(server.connections(), 0);
}

TEST(CurlHttpClient, BoundsTheHead) {
  const std::string long_line = "X-Long: " + std::string(90'000, 'x') + "\r\n";
  const RawServer large(once("HTTP/1.1 200 OK\r\n" + long_line + long_line + long_line + "\r\n"));
  EXPECT_EQ(name_of(fetch(large).outcome), "head_too_large");
  const std::string line_of_300k = "X-Long: " + std::string(300'000, 'x') + "\r\n";
  const RawServer larger(once("HTTP/1.1 200 OK\r\n" + line_of_300k + "\r\n"));
  EXPECT_EQ(name_of(fetch(larger).outcome), "head_too_large");
  std::string lines = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 300; ++i) lines += "X-Line: 1\r\n";
  const RawServer many(once(lines + "\r\n"));
  EXPECT_EQ(name_of(fetch(many).outcome), "too_many_lines");
  std::string enough = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 199; ++i) enough += "X-Line: 1\r\n";
  const RawServer full(once(enough + "\r\nhello"));
  expect_answer(fetch(full), 200, "hello");
}

TEST(CurlHttpClient, CutsEndlessBodies) {
  const auto endless = [](std::string_view type) {
    return [type = std::string(type)](RawConnection& connection) {
      connection.read_head();
      connection.send("HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\n\r\n");
      while (connection.send(std::string(10'000, 'x'))) {
      }
    };
  };
  const auto client = make_client();
  for (const auto& [type, bytes] :
       {std::pair{"image/png", 100'000U}, {"TEXT/html; a=b", 30'000U}}) {
    const RawServer server(endless(type));
    FetchRequest request = request_to(server);
    request.limits.body_bytes_max = 100'000;
    request.limits.html_bytes_max = 30'000;
    const Fetched fetched = fetch(*client, request);
    EXPECT_EQ(name_of(fetched.outcome), "answered") << fetched.error;
    EXPECT_EQ(fetched.body.size(), bytes);
    EXPECT_EQ(fetched.truncation, Truncation::kLength);
  }
}

TEST(CurlHttpClient, BodiesAsLongAsTheLimitAreWhole) {
  const RawServer server(always(std::string(kPlainHead) + "hello"));
  FetchRequest request = request_to(server);
  request.limits.body_bytes_max = 5;
  expect_answer(fetch(*make_client(), request), 200, "hello");
}

TEST(CurlHttpClient, KeepsTheLimitsOfTime) {
  const auto silent = [](RawConnection& connection) { connection.wait_until_closed(); };
  const RawServer server(silent);
  const auto client = make_client();
  FetchRequest request = request_to(server);
  request.limits.head = Duration::from_ms(150);
  const Fetched head = fetch(*client, request);
  EXPECT_EQ(name_of(head.outcome), "head_timeout");
  EXPECT_GE(head.times.finished - head.times.started, Duration::from_ms(149));

  request.is_https = true;
  request.limits = FetchLimits();
  request.limits.tls = Duration::from_ms(150);
  EXPECT_EQ(name_of(fetch(*client, request).outcome), "tls_timeout");

  request.is_https = false;
  request.limits = FetchLimits();
  request.limits.whole = Duration::from_ms(150);
  EXPECT_EQ(name_of(fetch(*client, request).outcome), "head_timeout");
}

TEST(CurlHttpClient, NamesAConnectionThatIsNeverTaken) {
  // A full backlog lets further connections wait.
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(listener, generic, size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, generic, &size), 0);
  std::vector<int> fillers;
  for (int i = 0; i < 4; ++i) {
    fillers.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    [[maybe_unused]] const int status = ::connect(fillers.back(), generic, size);
  }
  FetchRequest request;
  request.host = "www.example.test";
  request.port = ntohs(address.sin_port);
  request.address = {IpAddress::v4(0x7f000001), request.port};
  request.limits.connect = Duration::from_ms(150);
  const Fetched fetched = fetch(*make_client(), request);
  EXPECT_EQ(name_of(fetched.outcome), "connect_timeout") << fetched.error;
  EXPECT_FALSE(fetched.connected);
  for (const int filler : fillers) ::close(filler);
  ::close(listener);
}

TEST(CurlHttpClient, CutsBodiesThatComeTooSlowly) {
  const RawServer server([](RawConnection& connection) {
    connection.read_head();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nslow");
    connection.wait_until_closed();
  });
  const auto client = make_client();
  FetchRequest request = request_to(server);
  request.limits.slow_max = Duration::from_ms(150);
  for (int i = 0; i < 2; ++i) {
    const Fetched fetched = fetch(*client, request);
    EXPECT_EQ(name_of(fetched.outcome), "answered");
    EXPECT_EQ(fetched.truncation, Truncation::kTime);
    EXPECT_EQ(fetched.body, "slow");
    request.limits = FetchLimits();
    request.limits.whole = Duration::from_ms(150);
  }
}

TEST(CurlHttpClient, AScaledClockShortensTheLimits) {
  const RawServer server([](RawConnection& connection) { connection.wait_until_closed(); });
  const env::ScaledClock clock(1e6);
  CurlOptions options = local_options();
  options.real_limit_min = Duration::from_ms(50);
  auto client = make_curl_http_client(clock, options);
  ASSERT_TRUE(client);
  FetchRequest request = request_to(server);
  request.limits.head = Duration::days(3);  // a quarter of a second
  request.limits.whole = Duration::days(30);
  (*client)->start(request);
  while ((*client)->next_event() == base::Ticks::never()) (*client)->poll(Duration::days(1));
  const auto results = (*client)->take();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(name_of(results[0].outcome), "head_timeout");
  EXPECT_GE(results[0].times.finished - results[0].times.started, Duration::days(3) * 9 / 10);
}

TEST(CurlHttpClient, UsesAConnectionAgain) {
  const RawServer server(always(std::string(kPlainHead) + "hello"));
  const auto client = make_client();
  EXPECT_FALSE(fetch(*client, request_to(server)).is_reused);
  const Fetched again = fetch(*client, request_to(server, "/again"));
  expect_answer(again, 200, "hello");
  EXPECT_TRUE(again.is_reused);
  EXPECT_EQ(again.connected, server.endpoint());
  EXPECT_EQ(server.connections(), 1);
  FetchRequest other = request_to(server);
  other.host = "other.example.test";
  EXPECT_FALSE(fetch(*client, other).is_reused);
}

TEST(CurlHttpClient, KeepsNoConnectionThatIsNotWanted) {
  const RawServer server(always(std::string(kPlainHead) + "hello"));
  const auto client = make_client();
  for (int i = 0; i < 3; ++i) {
    FetchRequest request = request_to(server);
    request.keeps_alive = false;
    EXPECT_FALSE(fetch(*client, request).is_reused);
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST(CurlHttpClient, CancelsEverything) {
  const RawServer server([](RawConnection& connection) { connection.wait_until_closed(); });
  const auto client = make_client();
  for (int i = 0; i < 10; ++i) client->start(request_to(server));
  client->poll(Duration::from_ms(20));
  EXPECT_EQ(client->in_flight(), 10U);
  client->cancel_all("the crawl ends");
  const auto results = client->take();
  ASSERT_EQ(results.size(), 10U);
  for (const Fetched& fetched : results) {
    EXPECT_EQ(fetched.outcome, FetchOutcome::kCancelled);
    EXPECT_EQ(fetched.error, "the crawl ends");
  }
  EXPECT_EQ(client->in_flight(), 0U);
  const RawServer other(always(std::string(kPlainHead) + "hello"));
  expect_answer(fetch(*client, request_to(other)), 200, "hello");
}

TEST(CurlHttpClient, MayEndWithFetchesInFlight) {
  const RawServer server([](RawConnection& connection) { connection.wait_until_closed(); });
  const auto client = make_client();
  for (int i = 0; i < 10; ++i) client->start(request_to(server));
  client->poll(Duration::from_ms(20));
  EXPECT_EQ(client->in_flight(), 10U);
}

TEST(CurlHttpClient, PausesWhenBodiesTakeTooMuchMemory) {
  const std::string body(200'000, 'b');
  const RawServer server(once("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + body));
  CurlOptions options = local_options();
  options.bodies_bytes_max = 250'000;
  const auto client = make_client(options);
  for (int i = 0; i < 20; ++i) client->start(request_to(server));
  std::size_t answered = 0;
  while (answered < 20) {
    client->poll(Duration::from_ms(100));
    for (const Fetched& fetched : client->take()) {
      expect_answer(fetched, 200, body);
      ++answered;
    }
  }
}

TEST(CurlHttpClientThreads, AnswersHundredsAtOnce) {
  const RawServer server(always(std::string(kPlainHead) + "hello"));
  const auto client = make_client();
  constexpr std::size_t kCount = 500;
  for (std::size_t i = 0; i < kCount; ++i) {
    FetchRequest request = request_to(server, "/" + std::to_string(i));
    request.tag = i;
    client->start(request);
  }
  std::set<std::uint64_t> tags;
  for (const Fetched& fetched : take_results(*client, kCount)) {
    expect_answer(fetched, 200, "hello");
    tags.insert(fetched.tag);
  }
  EXPECT_EQ(tags.size(), kCount);
  EXPECT_EQ(client->in_flight(), 0U);
}

TEST(CurlHttpClientThreads, AnotherThreadEndsAWait) {
  const auto client = make_client();
  std::thread other([&] { client->wake(); });
  client->poll(Duration::hours(1));  // would make the test time out
  other.join();
  client->wake();
  client->poll(Duration::hours(1));
}

}  // namespace
}  // namespace meguri::fetch
