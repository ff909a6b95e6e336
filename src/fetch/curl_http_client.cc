#include "fetch/curl_http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "fetch/curl_transfer.h"
#include "fetch/socket_poller.h"

namespace meguri::fetch {
namespace {

using std::chrono::nanoseconds;

class CurlHttpClient final : public HttpClient {
 public:
  CurlHttpClient(const env::Clock& clock, const CurlOptions& options,
                 std::vector<Certificate> certificates, std::unique_ptr<SocketPoller> poller)
      : shared_{.clock = clock,
                .options = options,
                .spool = options.spool ? options.spool
                                       : std::make_shared<env::Spool>(options.bodies_bytes_max),
                .sessions = TlsSessions(options.tls_sessions_max),
                .extra_certificates = std::move(certificates),
                .paused = {}},
        poller_(std::move(poller)),
        multi_(curl_multi_init()) {
    CHECK(multi_ != nullptr, "libcurl: out of memory");
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlHttpClient::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlHttpClient::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS,
                      static_cast<long>(shared_.options.kept_connections_max));
  }
  CurlHttpClient(const CurlHttpClient&) = delete;
  CurlHttpClient& operator=(const CurlHttpClient&) = delete;
  ~CurlHttpClient() override;

  void start(FetchRequest request) override;
  std::size_t capacity() const override { return shared_.options.in_flight_max; }
  std::size_t in_flight() const override { return active_.size() + finished_.size(); }
  void poll(base::Duration wait) override;
  void wake() override { poller_->wake(); }
  base::Ticks next_event() const override {
    return finished_.empty() ? base::Ticks::never() : shared_.clock.ticks();
  }
  std::vector<Fetched> take() override { return std::exchange(finished_, {}); }
  void cancel_all(std::string_view reason) override;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  static constexpr std::chrono::milliseconds kPausedLook{50};

  static int on_socket(CURL* easy, curl_socket_t handle, int what, void* self, void* data);
  static int on_timer(CURLM* multi, long timeout_ms, void* self);

  std::unique_ptr<CurlTransfer> take_transfer();
  nanoseconds time_to_wait(base::Duration wait) const;
  void run_timer();
  void check_limits();
  void collect();
  void resume_paused();
  void finish(CurlTransfer* transfer, CURLcode code);

  CurlShared shared_;
  std::unique_ptr<SocketPoller> poller_;
  CURLM* multi_;
  std::int64_t timer_ns_ = kNever;  // when libcurl wants to be called
  std::vector<std::unique_ptr<CurlTransfer>> active_;
  std::vector<std::unique_ptr<CurlTransfer>> free_;
  std::set<std::pair<std::int64_t, CurlTransfer*>> deadlines_;  // of all active ones
  std::vector<Fetched> finished_;
};

CurlHttpClient::~CurlHttpClient() {
  for (const auto& transfer : active_) curl_multi_remove_handle(multi_, transfer->easy());
  active_.clear();
  free_.clear();
  curl_multi_cleanup(multi_);
}

std::unique_ptr<CurlTransfer> CurlHttpClient::take_transfer() {
  if (free_.empty()) return std::make_unique<CurlTransfer>(shared_);
  auto transfer = std::move(free_.back());
  free_.pop_back();
  return transfer;
}

void CurlHttpClient::start(FetchRequest request) {
  CHECK(in_flight() < capacity(), "more than {} fetches in flight", capacity());
  auto transfer = take_transfer();
  if (!transfer->begin(std::move(request))) {
    finished_.push_back(transfer->finish(CURLE_OK));
    free_.push_back(std::move(transfer));
    return;
  }
  const CURLMcode code = curl_multi_add_handle(multi_, transfer->easy());
  CHECK(code == CURLM_OK, "libcurl takes no handle: {}", curl_multi_strerror(code));
  // The first look at the limits only tells when to look.
  const std::int64_t now_ns = shared_.clock.nanoseconds();
  transfer->deadline_ns = transfer->check_limits(now_ns).value_or(now_ns);
  transfer->index = active_.size();
  deadlines_.emplace(transfer->deadline_ns, transfer.get());
  active_.push_back(std::move(transfer));
}

void CurlHttpClient::finish(CurlTransfer* transfer, CURLcode code) {
  finished_.push_back(transfer->finish(code));
  curl_multi_remove_handle(multi_, transfer->easy());
  deadlines_.erase({transfer->deadline_ns, transfer});
  const std::size_t index = transfer->index;
  free_.push_back(std::move(active_[index]));
  if (index + 1 < active_.size()) {
    active_[index] = std::move(active_.back());
    active_[index]->index = index;
  }
  active_.pop_back();
}

nanoseconds CurlHttpClient::time_to_wait(base::Duration wait) const {
  if (!finished_.empty()) return nanoseconds(0);
  const std::int64_t deadline_ns = deadlines_.empty() ? kNever : deadlines_.begin()->first;
  const std::int64_t next_ns = std::min(timer_ns_, deadline_ns);
  nanoseconds asked = shared_.clock.real_time(wait);
  // Nobody tells when there is room again.
  if (!shared_.paused.empty()) asked = std::min<nanoseconds>(asked, kPausedLook);
  if (next_ns == kNever) return asked;
  return std::clamp(nanoseconds(next_ns - shared_.clock.nanoseconds()), nanoseconds(0), asked);
}

void CurlHttpClient::poll(base::Duration wait) {
  int running = 0;
  for (const SocketPoller::Event& event : poller_->wait(time_to_wait(wait))) {
    const int mask = (event.can_read ? CURL_CSELECT_IN : 0) |
                     (event.can_write ? CURL_CSELECT_OUT : 0) |
                     (event.has_failed ? CURL_CSELECT_ERR : 0);
    curl_multi_socket_action(multi_, event.socket, mask, &running);
  }
  run_timer();
  collect();
  check_limits();
  resume_paused();
}

void CurlHttpClient::run_timer() {
  if (timer_ns_ == kNever || timer_ns_ > shared_.clock.nanoseconds()) return;
  timer_ns_ = kNever;  // libcurl sets it again if it has more
  int running = 0;
  curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running);
}

void CurlHttpClient::check_limits() {
  const std::int64_t now_ns = shared_.clock.nanoseconds();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_ns) {
    CurlTransfer* const transfer = deadlines_.begin()->second;
    const auto next_ns = transfer->check_limits(now_ns);
    if (!next_ns) {
      finish(transfer, CURLE_OPERATION_TIMEDOUT);
      continue;
    }
    deadlines_.erase(deadlines_.begin());
    transfer->deadline_ns = *next_ns;
    deadlines_.emplace(*next_ns, transfer);
  }
}

void CurlHttpClient::collect() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    finish(CurlTransfer::of(message->easy_handle), message->data.result);
  }
}

void CurlHttpClient::resume_paused() {
  // Each of them once: one that pauses again stands at the end.
  for (std::size_t left = shared_.paused.size(); left > 0; --left) {
    const bool has_room = shared_.spool->has_room(1);
    if (shared_.paused.empty() || (!has_room && !shared_.may_lead())) return;
    CurlTransfer* const transfer = shared_.paused.front();
    shared_.paused.pop_front();
    const CURLcode code = transfer->resume();
    if (code != CURLE_OK) finish(transfer, code);
  }
}

void CurlHttpClient::cancel_all(std::string_view reason) {
  while (!active_.empty()) {
    CurlTransfer* const transfer = active_.back().get();
    transfer->cancel(reason);
    finish(transfer, CURLE_ABORTED_BY_CALLBACK);
  }
}

int CurlHttpClient::on_socket(CURL* /*easy*/, curl_socket_t handle, int what, void* self,
                              void* /*data*/) {
  SocketPoller& poller = *static_cast<CurlHttpClient*>(self)->poller_;
  poller.watch(handle, what == CURL_POLL_IN || what == CURL_POLL_INOUT,
               what == CURL_POLL_OUT || what == CURL_POLL_INOUT);
  return 0;
}

int CurlHttpClient::on_timer(CURLM* /*multi*/, long timeout_ms, void* self) {
  auto* const client = static_cast<CurlHttpClient*>(self);
  constexpr std::int64_t kNsPerMs = 1'000'000;
  client->timer_ns_ =
      timeout_ms < 0 ? kNever : client->shared_.clock.nanoseconds() + timeout_ms * kNsPerMs;
  return 0;
}

}  // namespace

std::string_view fault_of_proxy(std::string_view url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parts(curl_url(), curl_url_cleanup);
  CHECK(parts != nullptr, "libcurl: out of memory");
  const std::string text(url);
  constexpr unsigned kFlags = CURLU_NON_SUPPORT_SCHEME;
  if (curl_url_set(parts.get(), CURLUPART_URL, text.c_str(), kFlags) != CURLUE_OK) {
    return "it is no URL";
  }
  const auto part_of = [&parts](CURLUPart part) {
    char* value = nullptr;
    const CURLUcode code = curl_url_get(parts.get(), part, &value, 0);
    const std::unique_ptr<char, void (*)(void*)> owned(value, curl_free);
    return code == CURLUE_OK ? std::string(owned.get()) : std::string();
  };
  const std::string scheme = part_of(CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https" && scheme != "socks5h") {
    return "its scheme is neither http, https nor socks5h";
  }
  if (part_of(CURLUPART_PORT).empty()) return "it has no port";
  const std::string path = part_of(CURLUPART_PATH);
  return path.empty() || path == "/" ? "" : "it has a path";
}

base::Result<std::unique_ptr<HttpClient>> make_curl_http_client(const env::Clock& clock,
                                                                CurlOptions options) {
  static const CURLcode global = [] {
    // OpenSSL writes to sockets that the other side may have closed.
    std::signal(SIGPIPE, SIG_IGN);
    return curl_global_init(CURL_GLOBAL_DEFAULT);
  }();
  if (global != CURLE_OK) {
    return base::fail(base::ErrorCode::kFailed, "libcurl cannot start: {}",
                      curl_easy_strerror(global));
  }
  if (options.in_flight_max == 0 || options.kept_connections_max == 0) {
    return base::fail(base::ErrorCode::kInvalid, "a client needs room for one fetch at least");
  }
  ASSIGN_OR_RETURN(auto certificates, parse_certificates(options.extra_ca_pem));
  ASSIGN_OR_RETURN(auto poller, SocketPoller::create());
  return std::make_unique<CurlHttpClient>(clock, options, std::move(certificates),
                                          std::move(poller));
}

}  // namespace meguri::fetch
