// The cost of a fetch on the client's thread. Run by hand:
//   fetch_test --gtest_also_run_disabled_tests --gtest_filter='*CpuOfAFetch*'
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "env/clock.h"
#include "fetch/curl_http_client.h"
#include "fetch/testing.h"

namespace meguri::fetch {
namespace {

double thread_cpu_ms() {
  timespec time{};
  // tidy: allow CPU time of a thread is no clock of the product
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Load {
  const char* name;
  std::size_t fetches;
  std::size_t at_once;
  bool keeps_alive;
  bool is_https;
  std::size_t hosts;
};

void measure(const Load& load, const RawServer& server, HttpClient& client) {
  std::size_t started = 0;
  std::size_t finished = 0;
  std::size_t bad = 0;
  const env::RealClock clock;
  const std::int64_t begin_ns = clock.nanoseconds();
  const double begin_ms = thread_cpu_ms();
  while (finished < load.fetches) {
    while (started < load.fetches && started - finished < load.at_once) {
      FetchRequest request;
      request.is_https = load.is_https;
      request.host = load.is_https
                         ? "www.example.test"
                         : "host" + std::to_string(started % load.hosts) + ".example.test";
      request.port = server.port();
      // As in a crawl: few hosts on one address.
      request.address = server.endpoint();
      if (!load.is_https) {
        request.address.address =
            IpAddress::v4(0x7f010001 + static_cast<std::uint32_t>(started % load.hosts));
      }
      request.target = "/page/" + std::to_string(started);
      request.user_agent = "meguri-test/1.0";
      request.fields = {{"Accept", "*/*"}, {"Accept-Encoding", "gzip"}};
      request.keeps_alive = load.keeps_alive;
      client.start(std::move(request));
      ++started;
    }
    client.poll(base::Duration::seconds(1));
    for (const Fetched& fetched : client.take()) {
      ++finished;
      if (fetched.body.size() != 20'000) ++bad;
    }
  }
  const double cpu_ms = thread_cpu_ms() - begin_ms;
  const double seconds = static_cast<double>(clock.nanoseconds() - begin_ns) / 1e9;
  std::printf("%-30s %6zu at once: %.4f ms CPU a fetch, %.0f fetches/s\n", load.name, load.at_once,
              cpu_ms / static_cast<double>(load.fetches),
              static_cast<double>(load.fetches) / seconds);
  EXPECT_EQ(bad, 0U);
}

// What OpenSSL alone needs for a connection, a request and its answer, with one context for all.
void measure_bare_tls(const RawServer& server) {
  constexpr int kCount = 1'000;
  const TlsContext context(::SSL_CTX_new(::TLS_client_method()));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  const double begin_ms = thread_cpu_ms();
  for (int i = 0; i < kCount; ++i) {
    const int handle = ::socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(handle, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    SSL* const tls = ::SSL_new(context.get());
    ::SSL_set_fd(tls, handle);
    ASSERT_EQ(::SSL_connect(tls), 1);
    const std::string_view request = "GET / HTTP/1.1\r\n\r\n";
    ::SSL_write(tls, request.data(), static_cast<int>(request.size()));
    std::array<char, 65536> buffer{};
    int size = 0;
    while (size < 20'000) {
      const int read = ::SSL_read(tls, buffer.data(), static_cast<int>(buffer.size()));
      if (read <= 0) break;
      size += read;
    }
    ::SSL_free(tls);
    ::close(handle);
  }
  std::printf("%-30s %6d at once: %.4f ms CPU a fetch\n", "bare OpenSSL, fresh, full", 1,
              (thread_cpu_ms() - begin_ms) / kCount);
}

TEST(CurlHttpClientBench, DISABLED_CpuOfAFetch) {
  const std::string answer =
      "HTTP/1.1 200 OK\r\nServer: test\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
      "Content-Type: text/html; charset=utf-8\r\nCache-Control: max-age=60\r\n"
      "ETag: \"abc\"\r\nContent-Length: 20000\r\n\r\n" +
      std::string(20'000, 'x');
  const TlsIdentity authority = make_identity({.name = "Authority", .is_authority = true});
  const TlsIdentity identity = make_identity({.name = "www.example.test", .issuer = &authority});
  CurlOptions options;
  options.policy = *AddressPolicy::parse({"127.0.0.0/8"});
  options.extra_ca_pem = authority.pem();
  const env::RealClock clock;
  const RawServer plain(always(answer), nullptr, INADDR_ANY);
  const RawServer secure(always(answer), &identity);
  for (const Load& load : {Load{"fresh", 10'000, 16, false, false, 1000},
                           Load{"fresh", 10'000, 200, false, false, 1000},
                           Load{"fresh", 10'000, 2'000, false, false, 5000},
                           Load{"fresh, kept for nothing", 10'000, 200, true, false, 10'000},
                           Load{"kept alive", 10'000, 16, true, false, 16},
                           Load{"https, kept alive", 4'000, 16, true, true, 1},
                           Load{"https, fresh, resumed", 2'000, 16, false, true, 1}}) {
    auto client = make_curl_http_client(clock, options);
    ASSERT_TRUE(client);
    measure(load, load.is_https ? secure : plain, **client);
  }
  measure_bare_tls(secure);
}

}  // namespace
}  // namespace meguri::fetch
