// HttpClient: the seam to the web. A request goes in, what came of it comes out: the exact bytes of
// both heads, the body, and a named reason for everything that went wrong.
//
// The real one is curl_http_client.h, the simulated one sim/simulated_http_client.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "env/spooled_bytes.h"
#include "fetch/address.h"
#include "web/http_head.h"

namespace meguri::fetch {

enum class Method : std::uint8_t { kGet, kHead };

std::string_view name_of(Method method);  // "GET"

struct RequestField {
  std::string name;
  std::string value;
  bool is_secret = false;  // sent, and not shown in Fetched::request_head

  friend bool operator==(const RequestField&, const RequestField&) = default;
};

// Times are of the client's clock.
struct FetchLimits {
  base::Duration connect = base::Duration::seconds(10);
  base::Duration tls = base::Duration::seconds(10);
  base::Duration head = base::Duration::seconds(30);  // from the request to the end of the head
  base::Duration whole = base::Duration::minutes(10);
  // A body slower than this for as long as that is cut.
  std::uint64_t bytes_per_second_min = 1024;
  base::Duration slow_max = base::Duration::seconds(30);

  // Heads of 1xx answers count too, as if all were one.
  std::size_t head_bytes_max = web::kHeadBytesMax;
  std::size_t head_lines_max = web::kHeadLinesMax;  // the status line included
  std::uint64_t body_bytes_max = 100'000'000;
  std::uint64_t html_bytes_max = 10'000'000;  // where the head says text/html or XHTML
};

// One access. Nothing is added to it but the Host and User-Agent lines; there are no cookies, and
// redirects are not followed: every hop is a candidate of its own.
struct FetchRequest {
  std::uint64_t tag = 0;  // the caller's; comes back with the result
  bool is_https = false;
  std::string host;          // of the URL, serialised: "[...]" around IPv6
  std::uint16_t port = 80;   // of the URL
  std::string target = "/";  // path and query, sent as it is
  Endpoint address;          // where to connect; the host's name is asked of nobody
  // "http://192.0.2.1:3128", "socks5h://user:password@proxy.example:1080": who is asked to connect
  // to the host by its name; `address` is then not used. Empty: nobody.
  std::string proxy;
  Method method = Method::kGet;
  std::string user_agent;            // empty: none is sent
  std::vector<RequestField> fields;  // further lines, in this order: Accept, If-None-Match ...
  FetchLimits limits;
  bool wants_h2 = false;  // offers HTTP/2 in the TLS handshake
  // Whether the connection is kept for the next request to this host. Worth it where one comes
  // within seconds, most of all with TLS; keeping those that are not used again costs three times
  // what a small page does.
  bool keeps_alive = false;
};

enum class FetchOutcome : std::uint8_t {
  kAnswered,  // the head is whole; `truncation` says whether the body is
  kForbiddenAddress,
  kConnectRefused,
  kUnreachable,  // network or host
  kConnectTimeout,
  kTlsTimeout,
  kHeadTimeout,
  kReset,        // closed or reset before the head was whole
  kTlsFailure,   // the handshake failed
  kCertificate,  // the certificate is not good, `error` says why
  kBadResponse,  // not HTTP as we know it, or HTTP/0.9
  kHeadTooLarge,
  kTooManyLines,
  kBadRequest,    // a host or target that cannot be asked for; nothing was sent
  kProxyFailure,  // the proxy cannot be reached, or refused
  kCancelled,
  kLocalFailure,  // our machine's: no sockets, no memory, no disk. Says nothing of the server
};

std::string_view name_of(FetchOutcome outcome);  // "connect_refused"

// Why a body is not whole; the words of WARC-Truncated.
enum class Truncation : std::uint8_t {
  kNone,
  kLength,       // cut at its limit
  kTime,         // too slow, or too long under way
  kDisconnect,   // the connection ended before the body did, or was reset
  kUnspecified,  // chunks or frames that cannot be read
};

std::string_view name_of(Truncation truncation);  // "disconnect"; "" for kNone

enum class HttpProtocol : std::uint8_t { kUnknown, kHttp10, kHttp11, kHttp2 };

std::string_view name_of(HttpProtocol protocol);  // "http/1.1", "h2"

struct FetchTimes {
  base::Ticks started;
  base::Ticks first_byte;  // of the answer; zero: none came
  base::Ticks finished;
  base::Instant started_utc;
  base::Instant first_byte_utc;
  base::Instant finished_utc;
};

struct Fetched {
  std::uint64_t tag = 0;
  FetchOutcome outcome = FetchOutcome::kLocalFailure;
  std::string error;  // one sentence of why, for people; empty when all went well
  int status = 0;     // 0: not answered

  // As sent and received, byte for byte with line ends and the empty line. HTTP/2 has no such
  // bytes: there it is the same in the form of HTTP/1. Heads of 1xx answers are left out. When the
  // head did not become whole, it is the lines that came.
  std::string request_head;
  std::string response_head;
  env::SpooledBytes body;  // without chunks, content codings kept
  Truncation truncation = Truncation::kNone;
  bool has_trailers = false;  // fields came behind the body; they are not kept

  std::optional<Endpoint> connected;  // nullopt: no connection was made
  bool is_proxied = false;            // `connected` is the proxy's
  bool is_reused = false;             // an earlier connection served
  FetchTimes times;
  HttpProtocol protocol = HttpProtocol::kUnknown;
  std::string tls_version;      // "TLSv1.3"; empty without TLS
  bool is_tls_resumed = false;  // by a session of an earlier connection
};

// Owned by one module and driven by one thread: all calls but wake() come from it.
// Every start() leads to exactly one result of take().
class HttpClient {
 public:
  virtual ~HttpClient() = default;

  // Requires in_flight() < capacity(). Does not wait; failures come out of take() too.
  virtual void start(FetchRequest request) = 0;
  virtual std::size_t capacity() const = 0;
  virtual std::size_t in_flight() const = 0;  // started and not yet taken

  // Waits up to `wait` of the client's clock (zero: only looks) until something happens, and moves
  // everything on. May return early with nothing finished.
  virtual void poll(base::Duration wait) = 0;
  // Ends a poll() early, or the next one. From any thread.
  virtual void wake() = 0;
  // When poll() next has something to do by the clock. Where that cannot be known, never(), or now
  // if there are results to take.
  virtual base::Ticks next_event() const = 0;

  // What has finished since the last call.
  virtual std::vector<Fetched> take() = 0;

  // Ends everything in flight as kCancelled, with `reason` as its error.
  virtual void cancel_all(std::string_view reason) = 0;
};

// The head as it is sent: request line, Host, User-Agent, the fields. NUL, CR and LF in values
// become spaces, so that no value can add a line.
std::string request_head_of(const FetchRequest& request);
// As it may be kept: the same, with "(hidden)" for the values of secret fields.
std::string kept_head_of(const FetchRequest& request);

// "example.org", with ":8080" unless the port is the scheme's own.
std::string host_field_of(const FetchRequest& request);

// Why this cannot be asked for; empty: it can.
std::string_view fault_of(const FetchRequest& request);

// Whether a line of a head says that the body is HTML.
bool is_html_content_type(std::string_view line);

}  // namespace meguri::fetch
