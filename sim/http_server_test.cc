#include "sim/http_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/http_server_testing.h"

namespace meguri::sim {
namespace {

// The fields of an answer as a client sees them, without those of framing.
std::vector<Field> content_fields(const Response& response) {
  std::vector<Field> fields;
  for (const web::HttpField& field : response.head.fields.fields()) {
    if (field.name == "Content-Length" || field.name == "Transfer-Encoding" ||
        field.name == "Connection") {
      continue;
    }
    fields.push_back({std::string(field.name), std::string(field.value)});
  }
  return fields;
}

void expect_same(const Answer& answer, const std::optional<Response>& response,
                 std::string_view method) {
  ASSERT_TRUE(response && response->is_whole);
  EXPECT_TRUE(response->head.quirks.empty());
  EXPECT_EQ(response->head.status, answer.status);
  EXPECT_EQ(response->head.version, (web::HttpVersion{1, answer.is_http10 ? 0 : 1}));
  EXPECT_EQ(content_fields(*response), answer.fields);
  EXPECT_EQ(response->body, answer.body);
  EXPECT_EQ(response->head.fields.has("Transfer-Encoding"),
            answer.is_chunked && answer.status != 304);
  EXPECT_EQ(response->head.fields.has("Content-Length"),
            !answer.is_chunked && answer.status != 304 && method != "HEAD");
  EXPECT_EQ(response->head.fields.get("Connection") == "close", answer.closes);
}

// Asks as `fields` says what `request` says, on a connection of its own if need be.
class Asker {
 public:
  explicit Asker(ServedWorld& web) : web_(web), client_(web.connect()) {}

  Response ask(const Request& request, std::string_view fields = "") {
    const Answer answer = web_.expected(request);
    const auto response = client_.ask(request.origin.host, request.target, fields, request.method);
    expect_same(answer, response, request.method);
    ++asked;
    statuses.insert(answer.status);
    chunked += answer.is_chunked ? 1 : 0;
    old += answer.is_http10 ? 1 : 0;
    if (answer.closes) {
      EXPECT_TRUE(client_.has_ended());
      client_ = web_.connect();
    }
    return response.value_or(Response());
  }

  int asked = 0;
  int chunked = 0;
  int old = 0;
  std::set<int> statuses;

 private:
  ServedWorld& web_;
  TestClient client_;
};

TEST(HttpServerThreads, AnswersAreThoseOfTheWorld) {
  ServedWorld web;
  Asker asker(web);
  for (HostNumber host = 0; host < web.census().hosts(); host += 3) {
    const Site site(web.census(), host);
    const std::string name = web.census().name_of(host);
    for (const std::string& target :
         {std::string("/"), site.address_of(site.pages() / 2), std::string("/robots.txt"),
          std::string("/sitemap.xml"), std::string("/missing"), std::string("/go/0")}) {
      SCOPED_TRACE(name + target);
      asker.ask({.origin = {.host = name}, .target = target});
    }
    SCOPED_TRACE(name);
    asker.ask({.method = "HEAD", .origin = {.host = name}, .target = "/"});
    asker.ask({.method = "PUT", .origin = {.host = name}, .target = "/"});
    asker.ask({.origin = {.host = name}, .target = "/", .accepts_gzip = true},
              "Accept-Encoding: br;q=0, gzip;q=0.5\r\n");
    asker.ask({.origin = {.host = name}, .target = "/", .accepts_brotli = true},
              "Accept-Encoding: br, gzip;q=0\r\n");
  }
  EXPECT_EQ(asker.asked, 500);
  EXPECT_GT(asker.chunked, 50);
  EXPECT_GT(asker.old, 0);
  for (const int status : {200, 301, 404, 405}) EXPECT_TRUE(asker.statuses.contains(status));
  EXPECT_EQ(web.server().counts().requests, 500U);
}

TEST(HttpServerThreads, ConditionalRequestsAreAnsweredAsByTheWorld) {
  ServedWorld web;
  Asker asker(web);
  for (HostNumber host = 0; host < web.census().hosts(); host += 2) {
    const std::string name = web.census().name_of(host);
    SCOPED_TRACE(name);
    const Response first = asker.ask({.origin = {.host = name}, .target = "/"});
    if (const auto etag = first.head.fields.get("ETag")) {
      asker.ask({.origin = {.host = name}, .target = "/", .if_none_match = etag},
                fmt::format("If-None-Match: {}\r\n", *etag));
    }
    if (const auto date = first.head.fields.get("Last-Modified")) {
      asker.ask({.origin = {.host = name}, .target = "/", .if_modified_since = date},
                fmt::format("if-modified-since: {}\r\n", *date));
    }
  }
  EXPECT_TRUE(asker.statuses.contains(304));
}

TEST(HttpServerThreads, ChunkedAnswersHaveSeveralChunks) {
  ServedWorld web;
  const std::string host = web.host_with(
      [](const Site& site) { return site.is_chunked() && !site.is_http10() && !site.closes(); });
  auto client = web.connect();
  const auto response = client.ask(host, "/");
  ASSERT_TRUE(response);
  EXPECT_GT(response->body.size(), 2 * HttpReply::kChunkBytes);
  EXPECT_GT(response->chunks, 2);
}

TEST(HttpServerThreads, PipelinedRequestsAreAnsweredInOrder) {
  ServedWorld web;
  const std::string host = web.plain_host();
  std::string requests;
  constexpr int kRequests = 200;
  for (int i = 0; i < kRequests; ++i) {
    requests += fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n",
                            i % 2 == 0 ? "/" : fmt::format("/missing-{}", i), host);
  }
  auto client = web.connect();
  // All at once: more than the buffers of both sides hold, so it must be read while it is sent.
  std::thread sender([&] { EXPECT_TRUE(client.send(requests)); });
  for (int i = 0; i < kRequests; ++i) {
    const auto response = client.read_response();
    ASSERT_TRUE(response && response->is_whole) << i;
    EXPECT_EQ(response->head.status, i % 2 == 0 ? 200 : 404);
  }
  sender.join();
  const auto log = web.finish();
  ASSERT_EQ(log.size(), static_cast<std::size_t>(kRequests));
  EXPECT_EQ(log[199].target, "/missing-199");
}

TEST(HttpServerThreads, OldClientsGetNoChunksAndNoSecondAnswerUnlessTheyAsk) {
  ServedWorld web;
  const std::string host = web.host_with(
      [](const Site& site) { return site.is_chunked() && !site.is_http10() && !site.closes(); });
  const std::string body = web.expected({.origin = {.host = host}, .target = "/"}).body;
  auto client = web.connect();
  for (int i = 0; i < 2; ++i) {
    client.send(fmt::format("GET / HTTP/1.0\r\nHost: {}\r\nConnection: Keep-Alive\r\n\r\n", host));
    const auto response = client.read_response();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, body);
    EXPECT_EQ(response->head.fields.get("Connection"), "keep-alive");
    EXPECT_FALSE(response->head.fields.has("Transfer-Encoding"));
  }
  client.send(fmt::format("GET / HTTP/1.0\r\nHost: {}\r\n\r\n", host));
  const auto response = client.read_response();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, body);
  EXPECT_EQ(response->head.fields.get("Connection"), "close");
  EXPECT_TRUE(client.has_ended());
}

TEST(HttpServerThreads, ClientsMayCloseAndUseAbsoluteTargets) {
  ServedWorld web;
  const std::string host = web.plain_host();
  const std::string body = web.expected({.origin = {.host = host}, .target = "/"}).body;
  // Links carry the port that the client used.
  const std::string with_port =
      web.expected({.origin = {.host = host, .port = ":8080"}, .target = "/"}).body;
  EXPECT_NE(with_port, body);
  auto client = web.connect();
  EXPECT_EQ(body_of(client.ask("other.test:99", fmt::format("http://{}:8080/", host))), with_port);
  EXPECT_EQ(body_of(client.ask(host + ":8080", "/")), with_port);
  EXPECT_EQ(body_of(client.ask(host, "http://" + host)), body);
  EXPECT_EQ(body_of(client.ask(host, "/", "Connection: close\r\n")), body);
  EXPECT_TRUE(client.has_ended());
}

TEST(HttpServerThreads, LogsWhatWentOverTheWire) {
  ServedWorld web;
  const std::string host = web.plain_host();
  auto client = web.connect(70'000);
  const auto page = client.ask(host, "/?q=1");
  const auto head = client.ask(host, "/", "", "HEAD");
  auto other = web.connect(1);
  const auto third = other.ask("nowhere.test:80", "/x");
  ASSERT_TRUE(page && head && third);
  const auto log = web.finish();
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[0],
            (Access{kTestNow, kTestNow, "127.2.17.113", host, "/?q=1", 404, page->wire_bytes}));
  EXPECT_EQ(log[1], (Access{kTestNow, kTestNow, "127.2.17.113", host, "/", 200, head->wire_bytes}));
  EXPECT_EQ(log[2], (Access{kTestNow, kTestNow, "127.1.0.2", "nowhere.test", "/x", 421,
                            third->wire_bytes}));
  EXPECT_EQ(web.server().counts().bytes, page->wire_bytes + head->wire_bytes + third->wire_bytes);
  EXPECT_EQ(web.server().counts().connections, 2U);
}

TEST(HttpServerThreads, ServesEveryAddressOfTheWorld) {
  ServedWorld web;
  const std::string host = web.plain_host();
  for (const ServerNumber server : {std::uint64_t{0}, std::uint64_t{255}, std::uint64_t{65'535},
                                    CensusOptions::kServersMax - 1}) {
    auto client = web.connect(server);
    ASSERT_TRUE(client.is_connected()) << server;
    EXPECT_EQ(status_of(client.ask(host, "/")), 200);
  }
  const auto log = web.finish();
  ASSERT_EQ(log.size(), 4U);
  EXPECT_EQ(parse_address(log[3].server), address_of(CensusOptions::kServersMax - 1));
}

TEST(HttpServerThreads, WaitsAsLongAsTheWorldSays) {
  const env::ScaledClock clock(20);
  ServedWorld web({}, &clock);
  std::vector<TestClient> clients;
  for (HostNumber host = 0; host < 30; ++host) {
    clients.push_back(web.connect(host));
    clients.back().send(
        fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", web.census().name_of(host)));
  }
  for (TestClient& client : clients) EXPECT_TRUE(client.read_response());
  const auto log = web.finish();
  ASSERT_EQ(log.size(), clients.size());
  base::Duration longest;
  for (const Access& access : log) {
    const auto delay =
        web.world()
            .answer({.origin = {.host = access.host}, .target = access.target}, access.arrival)
            .delay;
    EXPECT_GE(access.end - access.arrival + base::Duration::from_ms(1), delay) << access.host;
    longest = std::max(longest, delay);
  }
  EXPECT_GT(longest, base::Duration::from_ms(850));
}

TEST(HttpServerThreads, AnswersThatWaitHoldUpNobody) {
  const env::ScaledClock clock(0.0001);  // delays are hours
  ServedWorld web({}, &clock);
  auto waiting = web.connect();
  waiting.send(fmt::format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", web.plain_host()));
  web.wait_for([](const HttpCounts& counts) { return counts.requests == 1; });
  auto other = web.connect();
  EXPECT_EQ(status_of(other.ask("nowhere.test", "/")), 421);  // which has no delay
  const auto log = web.finish();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].status, 421);
  EXPECT_EQ(log[1].status, 200);
  EXPECT_EQ(log[1].bytes, 0U);
}

TEST(HttpServerThreads, SpeaksHttpsForEveryHost) {
  HttpServerOptions options;
  options.tls_port = 0;
  ServedWorld web(options);
  const auto context = client_context(web.server().authority_pem());
  const unsigned char protocols[] = "\x02h2\x08http/1.1";
  SSL_CTX_set_alpn_protos(context.get(), protocols, sizeof(protocols) - 1);
  for (HostNumber host = 0; host < 40; ++host) {
    const std::string name = web.census().name_of(host);
    SCOPED_TRACE(name);
    SSL_CTX_set_max_proto_version(context.get(), host % 2 == 0 ? TLS1_2_VERSION : TLS1_3_VERSION);
    auto client = web.connect_tls(host);
    ASSERT_TRUE(client.start_tls(context.get(), name));
    const unsigned char* chosen = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(client.ssl(), &chosen, &size);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size), "http/1.1");
    const Request request{.origin = {.scheme = "https", .host = name}, .target = "/"};
    expect_same(web.expected(request), client.ask(name, "/"), "GET");
    if (web.expected(request).closes) {
      EXPECT_TRUE(client.has_ended());
    } else {
      expect_same(web.expected(request), client.ask(name, "/"), "GET");
    }
  }
}

TEST(HttpServerThreads, HttpsSessionsCanBeTakenUpAgain) {
  HttpServerOptions options;
  options.tls_port = 0;
  ServedWorld web(options);
  const std::string host = web.plain_host();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto context = client_context(web.server().authority_pem());
    SSL_CTX_set_max_proto_version(context.get(), version);
    auto first = web.connect_tls();
    ASSERT_TRUE(first.start_tls(context.get(), host));
    ASSERT_TRUE(first.ask(host, "/"));
    EXPECT_FALSE(SSL_session_reused(first.ssl()));
    SSL_SESSION* session = SSL_get1_session(first.ssl());
    auto second = web.connect_tls();
    ASSERT_TRUE(second.start_tls(context.get(), host, session));
    EXPECT_TRUE(SSL_session_reused(second.ssl()));
    EXPECT_TRUE(second.ask(host, "/"));
    SSL_SESSION_free(session);
  }
}

TEST(HttpServerThreads, HttpsIsNotTrustedByOthers) {
  HttpServerOptions options;
  options.tls_port = 0;
  ServedWorld web(options);
  const std::string host = web.plain_host();
  const auto authority = CertificateAuthority::make();
  const auto context = client_context((*authority)->pem());
  auto client = web.connect_tls();
  EXPECT_FALSE(client.start_tls(context.get(), host));
  const auto trusting = client_context(web.server().authority_pem());
  auto next = web.connect_tls();
  EXPECT_TRUE(next.start_tls(trusting.get(), host));
  auto nameless = web.connect_tls();
  EXPECT_TRUE(nameless.start_tls(trusting.get(), ""));
}

TEST(HttpServerThreads, SeveralThreadsServeOnePort) {
  HttpServerOptions options;
  options.threads = 3;
  options.tls_port = 0;
  ServedWorld web(options);
  const auto context = client_context(web.server().authority_pem());
  const std::string host = web.plain_host();
  for (int i = 0; i < 30; ++i) {
    auto client = web.connect();
    EXPECT_EQ(status_of(client.ask(host, "/")), 200);
    auto secure = web.connect_tls();
    ASSERT_TRUE(secure.start_tls(context.get(), host));
    EXPECT_EQ(status_of(secure.ask(host, "/")), 200);
  }
  EXPECT_EQ(web.finish().size(), 60U);
}

}  // namespace
}  // namespace meguri::sim
