// What no crawler can do without: handshakes, fetching, gzip, SHA-1 and reading links.
#include <arpa/inet.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "archive/gzip_writer.h"
#include "archive/sha1.h"
#include "archive/warc_record.h"
#include "base/check.h"
#include "bench/crawl_peers.h"
#include "bench/timing.h"
#include "env/clock.h"
#include "web/page.h"

namespace meguri::bench {
namespace {

// All servers of the virtual web answer for all of its hosts.
constexpr const char* kServer = "127.1.0.1";
constexpr std::size_t kHandshakesMax = 2'000;

using TlsContext = std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)>;

// A certificate is asked for, checked against the authority, and must have the host's name.
TlsContext make_context(const std::string& ca_file) {
  TlsContext context(::SSL_CTX_new(::TLS_client_method()), ::SSL_CTX_free);
  CHECK(::SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr) == 1);
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

int connect_to(int port) {
  const int handle = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, kServer, &address.sin_addr);
  const int yes = 1;
  ::setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  const int status =
      ::connect(handle, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  CHECK(status == 0, "the virtual web does not answer");
  return handle;
}

// Seconds of CPU of one handshake, from SSL_new to SSL_free; connecting is not counted.
double measure_handshake(const std::vector<SamplePage>& pages, int port,
                         const std::string& ca_file) {
  const TlsContext context = make_context(ca_file);
  const std::size_t count = std::min(pages.size(), kHandshakesMax);
  double seconds = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const int handle = connect_to(port);
    seconds += cpu_seconds_of([&] {
      SSL* const tls = ::SSL_new(context.get());
      ::SSL_set_tlsext_host_name(tls, pages[i].host.c_str());
      ::SSL_set1_host(tls, pages[i].host.c_str());
      ::SSL_set_fd(tls, handle);
      CHECK(::SSL_connect(tls) == 1, "no handshake with {}", pages[i].host);
      ::SSL_free(tls);
    });
    ::close(handle);
  }
  return seconds / static_cast<double>(count);
}

std::size_t count_bytes(char* /*data*/, std::size_t size, std::size_t count, void* sum) {
  *static_cast<std::size_t*>(sum) += size * count;
  return size * count;
}

// One handle, a new connection for each page, as a polite crawler has it.
double measure_curl(const std::vector<SamplePage>& pages, const char* scheme, int port,
                    const std::string& ca_file) {
  CURL* const easy = ::curl_easy_init();
  CHECK(easy != nullptr);
  std::size_t bytes = 0;
  ::curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(easy, CURLOPT_PROXY, "");
  ::curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  ::curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  ::curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file.c_str());
  ::curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  ::curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &count_bytes);
  ::curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bytes);
  const std::string to = fmt::format("::{}:{}", kServer, port);
  curl_slist* const connect_to = ::curl_slist_append(nullptr, to.c_str());
  ::curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to);
  const double seconds = cpu_seconds_of([&] {
    for (const SamplePage& page : pages) {
      const std::string url = fmt::format("{}://{}:{}{}", scheme, page.host, port, page.target);
      ::curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
      CHECK(::curl_easy_perform(easy) == CURLE_OK, "no answer from {}", url);
    }
  });
  CHECK(bytes > 0);
  ::curl_easy_cleanup(easy);
  ::curl_slist_free_all(connect_to);
  return seconds / static_cast<double>(pages.size());
}

struct Body {
  web::Url url;
  std::string bytes;
};

std::vector<Body> bodies_of(const CrawlLoad& load, const std::vector<SamplePage>& pages) {
  const sim::World world = load.world();
  const base::Instant now = env::RealClock().utc();
  std::vector<Body> bodies;
  for (const SamplePage& page : pages) {
    sim::Request request;
    request.origin.host = page.host;
    request.target = page.target;
    auto url = web::Url::parse(fmt::format("http://{}{}", page.host, page.target));
    CHECK(url);
    bodies.push_back({*std::move(url), world.answer(request, now).body});
  }
  return bodies;
}

void measure_bodies(const std::vector<Body>& bodies, Floors* floors) {
  const auto count = static_cast<double>(bodies.size());
  for (const Body& body : bodies) {
    floors->kilobytes += static_cast<double>(body.bytes.size()) / 1000 / count;
  }
  const auto per_page = [&](const std::function<void(const Body&)>& use) {
    return cpu_seconds_of([&] { std::ranges::for_each(bodies, use); }) / count;
  };
  archive::GzipWriter gzip;
  std::string out;
  floors->gzip = per_page([&](const Body& body) {
    out.clear();
    gzip.append_member(body.bytes, {}, {}, &out);
  });
  archive::Sha1 sha1;
  floors->sha1 = per_page([&](const Body& body) {
    sha1.update(body.bytes);
    sha1.finish();
  });
  std::size_t links = 0;
  floors->tokens = per_page([&](const Body& body) {
    links += web::read_page(body.bytes, {.url = &body.url}).links.size();
  });
  CHECK(links > 0);
}

}  // namespace

base::Result<Floors> measure_floors(const CrawlLoad& load, const WebProcess& web,
                                    const std::vector<SamplePage>& pages,
                                    const std::string& ca_file) {
  Floors floors;
  floors.handshake = measure_handshake(pages, web.https_port(), ca_file);
  floors.curl_http = measure_curl(pages, "http", web.port(), ca_file);
  floors.curl_https = measure_curl(pages, "https", web.https_port(), ca_file);
  measure_bodies(bodies_of(load, pages), &floors);
  return floors;
}

}  // namespace meguri::bench
