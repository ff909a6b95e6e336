// CurlTransfer: one easy handle of libcurl and the fetch it is at. Handles are used again: setting
// up a new one costs more than a small page.
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/clock.h"
#include "env/spool.h"
#include "fetch/curl_http_client.h"
#include "fetch/http_client.h"
#include "fetch/tls_sessions.h"

struct x509_st;

namespace meguri::fetch {

class CurlTransfer;

struct X509Deleter {
  void operator()(x509_st* certificate) const;
};
using Certificate = std::unique_ptr<x509_st, X509Deleter>;

// The certificates of a PEM text; kInvalid if one cannot be read or there is none.
base::Result<std::vector<Certificate>> parse_certificates(std::string_view pem);

// What all transfers of a client share.
struct CurlShared {
  const env::Clock& clock;
  const CurlOptions options;
  const std::shared_ptr<env::Spool> spool;  // shared as the options say
  TlsSessions sessions;
  std::vector<Certificate> extra_certificates;

  std::uint64_t bodies_bytes = 0;    // of transfers in flight
  CurlTransfer* leader = nullptr;    // goes on whatever the sum is, so that there is an end
  std::deque<CurlTransfer*> paused;  // the oldest first

  // Whether a transfer may become the leader: there is none, and the bodies that are finished leave
  // room. Else somebody is at them, and there will be some.
  bool may_lead() const {
    // Unsigned numbers come round, so that this takes away what is in flight.
    return leader == nullptr && spool->has_room(1 - bodies_bytes);
  }

  // How long a limit really is.
  std::chrono::nanoseconds real_limit(base::Duration limit) const;
};

// Thread-compatible. Must not be moved: libcurl has its address.
class CurlTransfer {
 public:
  explicit CurlTransfer(CurlShared& shared);  // borrowed
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  ~CurlTransfer();

  CURL* easy() const { return easy_; }
  static CurlTransfer* of(CURL* easy);

  // Sets the handle up. False: it cannot be asked for, and finish() tells why.
  bool begin(FetchRequest request);

  // When limits must be looked at next, at the latest after the least of them, in real nanoseconds
  // of the clock; nullopt: one is exceeded, and the transfer must be ended.
  std::optional<std::int64_t> check_limits(std::int64_t now_ns);

  void cancel(std::string_view reason);

  // After a pause; not from within a callback. What libcurl says may be an error that ends it.
  CURLcode resume();

  // What came of it. The handle must no longer be in use; the transfer is then free for another.
  Fetched finish(CURLcode code);

  std::size_t index = 0;         // the client's, among those in flight
  std::int64_t deadline_ns = 0;  // the client's, under which it is in the list of deadlines

 private:
  void set_constant_options();
  template <typename T>
  void set(CURLoption option, T value);
  void set_address();
  void set_proxy();
  void set_fields();
  bool is_proxied() const { return !request_.proxy.empty(); }

  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static int on_request(void* self, char* ip, char* local_ip, int port, int local_port);
  static curl_socket_t on_open(void* self, curlsocktype purpose, curl_sockaddr* address);
  static CURLcode on_tls(CURL* easy, void* tls_context, void* self);

  bool take_header(std::string_view line);
  void end_head();
  std::size_t take_body(std::string_view bytes);
  std::optional<std::int64_t> check_body(std::int64_t now_ns);
  void judge(CURLcode code, Fetched* fetched) const;
  void judge_body(CURLcode code, Fetched* fetched) const;
  FetchOutcome outcome_of(CURLcode code) const;
  FetchOutcome connect_outcome() const;
  void leave_bodies();

  CurlShared& shared_;
  CURL* easy_;
  curl_slist* fields_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::string proxy_;  // that the handle is set to

  FetchRequest request_;
  Fetched fetched_;  // without its body
  env::SpoolWriter body_;
  std::uint64_t counted_bytes_ = 0;      // of it in bodies_bytes
  std::optional<FetchOutcome> failure_;  // found by ourselves, whatever libcurl says
  std::int64_t started_ns_ = 0;
  std::int64_t look_ns_ = 0;       // the longest time between two looks at the limits
  std::int64_t tls_ns_ = 0;        // when the handshake began; 0: not yet
  std::int64_t requested_ns_ = 0;  // when the request was sent; 0: not yet
  std::int64_t window_ns_ = 0;     // when the window over which the speed is judged began
  std::uint64_t window_bytes_ = 0;
  std::uint64_t body_bytes_max_ = 0;
  std::size_t lines_ = 0;       // of the head under way
  std::size_t past_lines_ = 0;  // of interim answers before it, which count for the limits too
  std::size_t past_bytes_ = 0;
  bool is_html_ = false;
  bool is_head_whole_ = false;
  bool is_paused_ = false;
};

}  // namespace meguri::fetch
