#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "env/clock.h"
#include "fetch/curl_http_client.h"
#include "fetch/testing.h"

namespace meguri::fetch {
namespace {

const env::RealClock real_clock;

// Who may connect to public addresses only; proxies are trusted wherever they are.
std::unique_ptr<HttpClient> make_client() {
  auto client = make_curl_http_client(real_clock, {});
  EXPECT_TRUE(client);
  return *std::move(client);
}

Fetched fetch(HttpClient& client, FetchRequest request) {
  client.start(std::move(request));
  return std::move(take_results(client, 1).front());
}

constexpr std::string_view kPlainHead = "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\n\r\n";

void expect_answer(const Fetched& fetched, int status, std::string_view body) {
  EXPECT_EQ(name_of(fetched.outcome), "answered") << fetched.error;
  EXPECT_EQ(fetched.status, status);
  EXPECT_EQ(fetched.body, body);
}

TEST(CurlProxy, AsksAProxyWithTheWholeUrl) {
  base::Mutex mutex;
  std::string received;
  const RawServer proxy([&](RawConnection& connection) {
    std::string head = connection.read_head();
    {
      const base::MutexLock lock(mutex);
      received = std::move(head);
    }
    connection.send(std::string(kPlainHead) + "hello");
  });
  FetchRequest request;
  request.host = "www.example.test";
  request.target = "/a?b";
  request.proxy = "http://" + proxy.endpoint().to_string();
  const Fetched fetched = fetch(*make_client(), request);
  expect_answer(fetched, 200, "hello");
  EXPECT_EQ(fetched.connected, proxy.endpoint());
  const base::MutexLock lock(mutex);
  EXPECT_EQ(received, "GET http://www.example.test/a?b HTTP/1.1\r\nHost: www.example.test\r\n\r\n");
  EXPECT_EQ(fetched.request_head, received);
}

// The bytes of a SOCKS5 greeting and request, answered as one that lets everybody in.
std::string serve_socks(RawConnection& connection) {
  std::string bytes;
  const auto read = [&](std::size_t count) {
    char c = '\0';
    for (std::size_t i = 0; i < count && connection.read_byte(&c); ++i) bytes += c;
  };
  read(2);
  read(static_cast<unsigned char>(bytes[1]));
  connection.send(std::string_view("\5\0", 2));
  bytes.clear();
  read(5);
  const std::size_t length = static_cast<unsigned char>(bytes[4]);
  read(length + 2);
  connection.send(std::string_view("\5\0\0\1\0\0\0\0\0\0", 10));
  return bytes.substr(5, length);
}

TEST(CurlProxy, LetsASocksProxyFindTheHost) {
  base::Mutex mutex;
  std::string name;
  std::string received;
  const RawServer proxy([&](RawConnection& connection) {
    std::string asked = serve_socks(connection);
    std::string head = connection.read_head();
    {
      const base::MutexLock lock(mutex);
      name = std::move(asked);
      received = std::move(head);
    }
    connection.send(std::string(kPlainHead) + "hello");
  });
  FetchRequest request;
  request.host = "www.example.test";
  request.target = "/a";
  request.proxy = "socks5h://" + proxy.endpoint().to_string();
  expect_answer(fetch(*make_client(), request), 200, "hello");
  const base::MutexLock lock(mutex);
  EXPECT_EQ(name, "www.example.test");
  EXPECT_EQ(received, "GET /a HTTP/1.1\r\nHost: www.example.test\r\n\r\n");
}

TEST(CurlProxy, TellsFailuresOfProxiesFromThoseOfHosts) {
  const RawServer refusing([](RawConnection& connection) {
    connection.read_head();
    connection.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  });
  FetchRequest request;
  request.host = "www.example.test";
  request.is_https = true;
  request.port = 443;
  request.proxy = "http://" + refusing.endpoint().to_string();
  const auto client = make_client();
  EXPECT_EQ(fetch(*client, request).outcome, FetchOutcome::kProxyFailure);
  std::string nobody;
  {
    const RawServer gone([](RawConnection&) {});
    nobody = gone.endpoint().to_string();
  }
  for (const char* scheme : {"http://", "socks5h://"}) {
    request.proxy = scheme + nobody;
    const Fetched fetched = fetch(*client, request);
    EXPECT_EQ(fetched.outcome, FetchOutcome::kProxyFailure) << scheme << fetched.error;
    EXPECT_FALSE(fetched.connected);
  }
}

TEST(CurlProxy, GoesBackToTheAddressPolicyAfterAProxy) {
  const RawServer server([](RawConnection& connection) {
    connection.read_head();
    connection.send(std::string(kPlainHead) + "hello");
  });
  const auto client = make_client();
  FetchRequest request;
  request.host = "www.example.test";
  request.address = server.endpoint();
  request.proxy = "http://" + server.endpoint().to_string();
  EXPECT_EQ(fetch(*client, request).outcome, FetchOutcome::kAnswered);
  request.proxy.clear();
  EXPECT_EQ(fetch(*client, request).outcome, FetchOutcome::kForbiddenAddress);
}

TEST(CurlProxy, SendsSecretsAndKeepsThemNot) {
  base::Mutex mutex;
  std::string received;
  const RawServer server([&](RawConnection& connection) {
    std::string head = connection.read_head();
    {
      const base::MutexLock lock(mutex);
      received = std::move(head);
    }
    connection.send(std::string(kPlainHead) + "hello");
  });
  FetchRequest request;
  request.host = "www.example.test";
  request.proxy = "http://" + server.endpoint().to_string();
  request.fields = {{.name = "Cookie", .value = "a=1", .is_secret = true}};
  const Fetched fetched = fetch(*make_client(), request);
  const base::MutexLock lock(mutex);
  EXPECT_NE(received.find("\r\nCookie: a=1\r\n"), std::string::npos);
  EXPECT_NE(fetched.request_head.find("\r\nCookie: (hidden)\r\n"), std::string::npos);
  EXPECT_EQ(fetched.request_head.find("a=1"), std::string::npos);
}

TEST(CurlProxy, KnowsProxiesThatCanBeAsked) {
  for (const char* url : {"http://127.0.0.1:3128", "https://proxy.example.org:443/",
                          "socks5h://user:word@[::1]:1080"}) {
    EXPECT_EQ(fault_of_proxy(url), "") << url;
  }
  for (const char* url : {"", "proxy", "proxy:3128", "http://proxy", "socks5://proxy:1080",
                          "socks4://proxy:1080", "http://proxy:1/path", "http://:3128"}) {
    EXPECT_NE(fault_of_proxy(url), "") << url;
  }
}

}  // namespace
}  // namespace meguri::fetch
