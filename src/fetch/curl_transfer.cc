#include "fetch/curl_transfer.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "web/ascii.h"

namespace meguri::fetch {
namespace {

constexpr long kReadBytes = 64L * 1024;

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

template <typename T>
T info_of(CURL* easy, CURLINFO info) {
  T value{};
  curl_easy_getinfo(easy, info, &value);
  return value;
}

HttpProtocol protocol_of(CURL* easy) {
  switch (info_of<long>(easy, CURLINFO_HTTP_VERSION)) {
    case CURL_HTTP_VERSION_1_0: return HttpProtocol::kHttp10;
    case CURL_HTTP_VERSION_1_1: return HttpProtocol::kHttp11;
    case CURL_HTTP_VERSION_2_0: return HttpProtocol::kHttp2;
    default: return HttpProtocol::kUnknown;
  }
}

// Whether a fetch through a proxy failed before there was a way to the host.
bool is_fault_of_proxy(CURL* easy, CURLcode code) {
  if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_PROXY) {
    return true;
  }
  const auto status = info_of<long>(easy, CURLINFO_HTTP_CONNECTCODE);
  return status != 0 && (status < 200 || status > 299);
}

// Whom the last connection was made to.
Endpoint peer_of(CURL* easy) {
  const char* const text = info_of<char*>(easy, CURLINFO_PRIMARY_IP);
  const auto address = IpAddress::parse(text == nullptr ? "" : text);
  const auto port = info_of<long>(easy, CURLINFO_PRIMARY_PORT);
  return {address.value_or(IpAddress()), static_cast<std::uint16_t>(port)};
}

// The status of a status line; 0: there is none.
int status_of(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == line.npos) return 0;
  const std::string_view rest = web::trim(line.substr(space));
  int status = 0;
  std::from_chars(rest.data(), rest.data() + std::min<std::size_t>(rest.size(), 3), status);
  return status;
}

}  // namespace

void X509Deleter::operator()(x509_st* certificate) const { ::X509_free(certificate); }

base::Result<std::vector<Certificate>> parse_certificates(std::string_view pem) {
  std::vector<Certificate> certificates;
  if (pem.empty()) return certificates;
  const std::unique_ptr<BIO, int (*)(BIO*)> source(
      ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free);
  while (X509* const certificate = ::PEM_read_bio_X509(source.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  ::ERR_clear_error();
  if (certificates.empty()) {
    return base::fail(base::ErrorCode::kInvalid, "the extra certificates hold none in PEM form");
  }
  return certificates;
}

nanoseconds CurlShared::real_limit(base::Duration limit) const {
  const std::chrono::milliseconds asked(limit.ms());
  const std::chrono::milliseconds least(options.real_limit_min.ms());
  // A day is as good as for ever, and cannot overflow.
  const nanoseconds wanted = std::min<std::chrono::milliseconds>(asked, std::chrono::hours(24));
  return std::max(clock.real_time(limit), std::min<nanoseconds>(wanted, least));
}

CurlTransfer::CurlTransfer(CurlShared& shared)
    : shared_(shared), easy_(curl_easy_init()), body_(shared.spool.get()) {
  CHECK(easy_ != nullptr, "libcurl makes no handle: out of memory");
  set_constant_options();
}

CurlTransfer::~CurlTransfer() {
  leave_bodies();
  curl_easy_cleanup(easy_);
  curl_slist_free_all(fields_);
  curl_slist_free_all(connect_to_);
}

CurlTransfer* CurlTransfer::of(CURL* easy) {
  return reinterpret_cast<CurlTransfer*>(info_of<char*>(easy, CURLINFO_PRIVATE));
}

template <typename T>
void CurlTransfer::set(CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(easy_, option, value);
  CHECK(code == CURLE_OK, "libcurl refuses option {}: {}", static_cast<int>(option),
        curl_easy_strerror(code));
}

void CurlTransfer::set_constant_options() {
  const CurlOptions& options = shared_.options;
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, error_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  set(CURLOPT_HTTP_TRANSFER_DECODING, 1L);
  set(CURLOPT_BUFFERSIZE, kReadBytes);
  set(CURLOPT_DNS_CACHE_TIMEOUT, 0L);                 // only addresses are "resolved"
  set(CURLOPT_SSL_SESSIONID_CACHE, 0L);               // we keep sessions ourselves
  set(CURLOPT_CONNECTTIMEOUT_MS, 24L * 3600 * 1000);  // we keep the limits ourselves
  const auto idle =
      duration_cast<std::chrono::seconds>(shared_.real_limit(options.kept_connection_idle_max));
  set(CURLOPT_MAXAGE_CONN, static_cast<long>(std::max<std::int64_t>(idle.count(), 1)));

  set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());
  set(CURLOPT_SSL_CTX_FUNCTION, &CurlTransfer::on_tls);
  set(CURLOPT_SSL_CTX_DATA, this);
  // Not setting it would take the environment's.
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOPROXY, "");
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);

  set(CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_PREREQFUNCTION, &CurlTransfer::on_request);
  set(CURLOPT_PREREQDATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, &CurlTransfer::on_open);
  set(CURLOPT_OPENSOCKETDATA, this);
}

bool CurlTransfer::begin(FetchRequest request) {
  request_ = std::move(request);
  fetched_ = Fetched();
  body_.clear();
  failure_.reset();
  error_[0] = '\0';
  tls_ns_ = requested_ns_ = window_ns_ = 0;
  window_bytes_ = 0;
  lines_ = past_lines_ = past_bytes_ = 0;
  is_html_ = is_head_whole_ = is_paused_ = false;
  body_bytes_max_ = request_.limits.body_bytes_max;
  fetched_.tag = request_.tag;
  fetched_.times.started = shared_.clock.ticks();
  fetched_.times.started_utc = shared_.clock.utc();
  started_ns_ = shared_.clock.nanoseconds();
  const FetchLimits& limits = request_.limits;
  look_ns_ =
      shared_.real_limit(std::min({limits.connect, limits.tls, limits.head, limits.slow_max}))
          .count();
  if (const std::string_view fault = fault_of(request_); !fault.empty()) {
    failure_ = FetchOutcome::kBadRequest;
    fetched_.error = fault;
    return false;
  }
  fetched_.request_head = kept_head_of(request_);
  fetched_.is_proxied = is_proxied();
  set_address();
  set_proxy();
  set_fields();
  if (request_.method == Method::kHead) {
    set(CURLOPT_NOBODY, 1L);
  } else {
    set(CURLOPT_HTTPGET, 1L);
  }
  set(CURLOPT_HTTP_VERSION,
      static_cast<long>(request_.wants_h2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(CURLOPT_FORBID_REUSE, request_.keeps_alive ? 0L : 1L);
  return true;
}

void CurlTransfer::set_address() {
  const std::string_view scheme = request_.is_https ? "https" : "http";
  const std::string site = fmt::format("{}://{}:{}", scheme, request_.host, request_.port);
  set(CURLOPT_URL, site.c_str());
  // Other proxies only see a stream of bytes.
  const bool is_told_all = request_.proxy.starts_with("http") && !request_.is_https;
  const std::string absolute =
      is_told_all ? fmt::format("{}://{}{}", scheme, host_field_of(request_), request_.target)
                  : std::string();
  // libcurl would clean the path up.
  set(CURLOPT_REQUEST_TARGET, is_told_all ? absolute.c_str() : request_.target.c_str());
  if (is_told_all) {
    const std::size_t begin = name_of(request_.method).size() + 1;
    fetched_.request_head.replace(begin, request_.target.size(), absolute);
  }
  curl_slist_free_all(connect_to_);
  connect_to_ = nullptr;
  if (!is_proxied()) {
    connect_to_ =
        curl_slist_append(nullptr, fmt::format("::{}", request_.address.to_string()).c_str());
  }
  set(CURLOPT_CONNECT_TO, connect_to_);
}

void CurlTransfer::set_proxy() {
  if (request_.proxy == proxy_) return;
  proxy_ = request_.proxy;
  set(CURLOPT_PROXY, proxy_.c_str());
}

void CurlTransfer::set_fields() {
  curl_slist_free_all(fields_);
  fields_ = nullptr;
  const auto append = [this](const std::string& line) {
    curl_slist* const longer = curl_slist_append(fields_, line.c_str());
    CHECK(longer != nullptr, "out of memory");
    fields_ = longer;
  };
  // The lines as they stand in the head, behind the request line. libcurl adds none of its own but
  // those that are switched off here.
  const bool has_secrets = std::ranges::any_of(
      request_.fields, [](const RequestField& field) { return field.is_secret; });
  const std::string secret_head = has_secrets ? request_head_of(request_) : std::string();
  const std::string_view head = has_secrets ? secret_head : fetched_.request_head;
  std::size_t begin = head.find("\r\n") + 2;
  bool has_accept = false;
  for (std::size_t end = 0; (end = head.find("\r\n", begin)) != begin; begin = end + 2) {
    std::string line(head.substr(begin, end - begin));
    has_accept = has_accept || web::starts_with_ignoring_case(line, "accept:");
    // "Name:" without a value would switch the line off.
    if (line.find(':') == line.size() - 1) line.back() = ';';
    append(line);
  }
  if (!has_accept) append("Accept:");
  if (is_proxied()) append("Proxy-Connection:");
  set(CURLOPT_HTTPHEADER, fields_);
}

std::optional<std::int64_t> CurlTransfer::check_limits(std::int64_t now_ns) {
  const FetchLimits& limits = request_.limits;
  const auto behind = [&](std::int64_t begin_ns, base::Duration limit) {
    return begin_ns + shared_.real_limit(limit).count();
  };
  const std::int64_t whole_ns = behind(started_ns_, limits.whole);
  if (is_head_whole_) {
    const auto next_ns = check_body(now_ns);
    if (next_ns && now_ns < whole_ns) return std::min({*next_ns, whole_ns, now_ns + look_ns_});
    fetched_.truncation = Truncation::kTime;
    return std::nullopt;
  }
  FetchOutcome outcome = FetchOutcome::kHeadTimeout;
  std::int64_t stage_ns = behind(requested_ns_, limits.head);
  if (requested_ns_ == 0) {
    const bool is_in_tls = tls_ns_ != 0;
    outcome = is_in_tls ? FetchOutcome::kTlsTimeout : FetchOutcome::kConnectTimeout;
    stage_ns = is_in_tls ? behind(tls_ns_, limits.tls) : behind(started_ns_, limits.connect);
  }
  const std::int64_t next_ns = std::min(stage_ns, whole_ns);
  if (now_ns < next_ns) return std::min(next_ns, now_ns + look_ns_);
  failure_ = outcome;
  fetched_.error = fmt::format("no answer within the limit: {}", name_of(outcome));
  return std::nullopt;
}

std::optional<std::int64_t> CurlTransfer::check_body(std::int64_t now_ns) {
  const FetchLimits& limits = request_.limits;
  const std::int64_t length_ns = shared_.real_limit(limits.slow_max).count();
  if (now_ns < window_ns_ + length_ns) return window_ns_ + length_ns;
  const double wanted =
      static_cast<double>(limits.bytes_per_second_min) * limits.slow_max.in_seconds();
  const bool is_slow = static_cast<double>(body_.size() - window_bytes_) < wanted;
  if (is_slow && !is_paused_) return std::nullopt;
  window_ns_ = now_ns;
  window_bytes_ = body_.size();
  return window_ns_ + length_ns;
}

void CurlTransfer::cancel(std::string_view reason) {
  failure_ = FetchOutcome::kCancelled;
  fetched_.error = reason;
}

CURLcode CurlTransfer::resume() {
  is_paused_ = false;
  window_ns_ = shared_.clock.nanoseconds();
  window_bytes_ = body_.size();
  return curl_easy_pause(easy_, CURLPAUSE_CONT);
}

std::size_t CurlTransfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  return transfer->take_header(std::string_view(data, size * count)) ? size * count : 0;
}

bool CurlTransfer::take_header(std::string_view line) {
  if (is_head_whole_) {
    fetched_.has_trailers = true;
    return true;
  }
  if (fetched_.times.first_byte == base::Ticks()) {
    fetched_.times.first_byte = shared_.clock.ticks();
    fetched_.times.first_byte_utc = shared_.clock.utc();
  }
  if (lines_ == 0) fetched_.status = status_of(line);
  const bool is_end = line == "\r\n" || line == "\n";
  if (!is_end) ++lines_;
  if (past_lines_ + lines_ > request_.limits.head_lines_max) {
    failure_ = FetchOutcome::kTooManyLines;
  }
  const std::size_t bytes = past_bytes_ + fetched_.response_head.size() + line.size();
  if (bytes > request_.limits.head_bytes_max) {
    failure_ = FetchOutcome::kHeadTooLarge;
  }
  if (failure_) {
    fetched_.error = fmt::format("the head of the answer is not read on: {}", name_of(*failure_));
    return false;
  }
  fetched_.response_head.append(line);
  is_html_ = is_html_ || is_html_content_type(line);
  if (is_end) end_head();
  return true;
}

void CurlTransfer::end_head() {
  if (fetched_.status >= 100 && fetched_.status < 200 && fetched_.status != 101) {
    past_bytes_ += fetched_.response_head.size();
    past_lines_ += lines_;
    fetched_.response_head.clear();
    lines_ = 0;
    is_html_ = false;
    return;
  }
  is_head_whole_ = true;
  window_ns_ = shared_.clock.nanoseconds();
  const FetchLimits& limits = request_.limits;
  if (is_html_) body_bytes_max_ = std::min(limits.html_bytes_max, limits.body_bytes_max);
  const auto length = info_of<curl_off_t>(easy_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
  if (length > 0 && request_.method != Method::kHead) {
    body_.expect(std::min(static_cast<std::uint64_t>(length), body_bytes_max_));
  }
  if (!request_.is_https) return;
  const auto* const session = info_of<curl_tlssessioninfo*>(easy_, CURLINFO_TLS_SSL_PTR);
  if (session == nullptr || session->internals == nullptr) return;
  const auto* const tls = static_cast<const SSL*>(session->internals);
  fetched_.tls_version = ::SSL_get_version(tls);
  fetched_.is_tls_resumed = ::SSL_session_reused(tls) == 1;
}

std::size_t CurlTransfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->take_body(std::string_view(data, size * count));
}

std::size_t CurlTransfer::take_body(std::string_view bytes) {
  const bool is_too_much = !shared_.spool->has_room(bytes.size()) && shared_.leader != this;
  if (is_too_much && !shared_.may_lead()) {
    is_paused_ = true;
    shared_.paused.push_back(this);
    return CURL_WRITEFUNC_PAUSE;
  }
  if (is_too_much) shared_.leader = this;
  const std::uint64_t room = body_bytes_max_ - body_.size();
  const std::string_view kept = bytes.substr(0, std::min<std::uint64_t>(room, bytes.size()));
  if (const auto status = body_.append(kept); !status) {
    failure_ = FetchOutcome::kLocalFailure;
    fetched_.error = fmt::format("its body cannot be kept: {}", status.error().message());
    return 0;
  }
  shared_.bodies_bytes += kept.size();
  counted_bytes_ += kept.size();
  if (kept.size() == bytes.size()) return bytes.size();
  fetched_.truncation = Truncation::kLength;
  return 0;
}

int CurlTransfer::on_request(void* self, char* /*ip*/, char* /*local_ip*/, int /*port*/,
                             int /*local_port*/) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  transfer->requested_ns_ = transfer->shared_.clock.nanoseconds();
  return CURL_PREREQFUNC_OK;
}

curl_socket_t CurlTransfer::on_open(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  const auto ip = IpAddress::from_sockaddr(address->addr);
  const bool is_trusted = ip && transfer->is_proxied();
  if (!ip || (!is_trusted && !transfer->shared_.options.policy.allows(*ip))) {
    transfer->failure_ = FetchOutcome::kForbiddenAddress;
    transfer->fetched_.error =
        ip ? fmt::format("{} is {}", ip->to_string(), name_of(range_of(*ip))) : "no IP address";
    return CURL_SOCKET_BAD;
  }
  const int handle = ::socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                              address->protocol);
  if (handle < 0) {
    transfer->failure_ = FetchOutcome::kLocalFailure;
    transfer->fetched_.error = base::Error::from_errno(errno, "cannot open a socket").message();
    return CURL_SOCKET_BAD;
  }
  return handle;
}

CURLcode CurlTransfer::on_tls(CURL* /*easy*/, void* tls_context, void* self) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  transfer->tls_ns_ = transfer->shared_.clock.nanoseconds();
  auto* const context = static_cast<SSL_CTX*>(tls_context);
  const FetchRequest& request = transfer->request_;
  transfer->shared_.sessions.use(context, fmt::format("{}:{}", request.host, request.port));
  X509_STORE* const store = ::SSL_CTX_get_cert_store(context);
  // The store outlives the connection, and takes no certificate twice.
  for (const Certificate& certificate : transfer->shared_.extra_certificates) {
    ::X509_STORE_add_cert(store, certificate.get());
  }
  return CURLE_OK;
}

void CurlTransfer::leave_bodies() {
  shared_.bodies_bytes -= std::exchange(counted_bytes_, 0);
  if (shared_.leader == this) shared_.leader = nullptr;
  if (is_paused_) std::erase(shared_.paused, this);
  is_paused_ = false;
}

Fetched CurlTransfer::finish(CURLcode code) {
  fetched_.times.finished = shared_.clock.ticks();
  fetched_.times.finished_utc = shared_.clock.utc();
  if (code != CURLE_OK && fetched_.error.empty()) {
    fetched_.error = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
  }
  const bool is_connected = requested_ns_ != 0 || tls_ns_ != 0;
  if (is_connected) {
    fetched_.connected = is_proxied() ? peer_of(easy_) : request_.address;
    fetched_.is_reused = info_of<long>(easy_, CURLINFO_NUM_CONNECTS) == 0;
    fetched_.protocol = protocol_of(easy_);
  }
  if (fetched_.protocol == HttpProtocol::kHttp2) {
    const std::size_t end = fetched_.request_head.find(" HTTP/1.1\r\n");
    fetched_.request_head.replace(end, 9, " HTTP/2");
  }
  judge(code, &fetched_);
  fetched_.body = body_.finish();
  leave_bodies();
  return std::exchange(fetched_, Fetched());
}

void CurlTransfer::judge(CURLcode code, Fetched* fetched) const {
  if (failure_) {
    fetched->outcome = *failure_;
  } else if (is_head_whole_) {
    fetched->outcome = FetchOutcome::kAnswered;
    judge_body(code, fetched);
    return;
  } else {
    fetched->outcome = outcome_of(code);
    // libcurl calls a line that is too long for it a lack of memory.
    if (fetched->outcome == FetchOutcome::kHeadTooLarge) fetched->error = "a line is too long";
    if (fetched->error.empty()) fetched->error = "the connection ended before the head was whole";
  }
  fetched->status = 0;
}

void CurlTransfer::judge_body(CURLcode code, Fetched* fetched) const {
  if (fetched->truncation == Truncation::kLength) {
    fetched->error = fmt::format("cut after {} bytes", body_bytes_max_);
  } else if (fetched->truncation == Truncation::kTime) {
    fetched->error = "too slow, or too long under way";
  } else if (code == CURLE_BAD_CONTENT_ENCODING || code == CURLE_HTTP2 ||
             fetched->error.find("chunk") != std::string::npos) {
    fetched->truncation = Truncation::kUnspecified;
  } else if (code != CURLE_OK) {
    fetched->truncation = Truncation::kDisconnect;
  }
}

FetchOutcome CurlTransfer::connect_outcome() const {
  switch (info_of<long>(easy_, CURLINFO_OS_ERRNO)) {
    case ECONNREFUSED: return FetchOutcome::kConnectRefused;
    case ETIMEDOUT: return FetchOutcome::kConnectTimeout;
    case ECONNRESET: return FetchOutcome::kReset;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EADDRNOTAVAIL: return FetchOutcome::kLocalFailure;
    default: return FetchOutcome::kUnreachable;
  }
}

FetchOutcome CurlTransfer::outcome_of(CURLcode code) const {
  if (is_proxied() && is_fault_of_proxy(easy_, code)) return FetchOutcome::kProxyFailure;
  switch (code) {
    case CURLE_COULDNT_CONNECT: return connect_outcome();
    case CURLE_OPERATION_TIMEDOUT: return FetchOutcome::kConnectTimeout;
    case CURLE_OK:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: return FetchOutcome::kReset;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR: return FetchOutcome::kCertificate;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_INVALIDCERTSTATUS: return FetchOutcome::kTlsFailure;
    case CURLE_OUT_OF_MEMORY:
      // This is also what a single line above libcurl's own limit of 100 KB leads to.
      return lines_ > 0 ? FetchOutcome::kHeadTooLarge : FetchOutcome::kLocalFailure;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_FAILED_INIT: return FetchOutcome::kLocalFailure;
    case CURLE_URL_MALFORMAT:
    case CURLE_COULDNT_RESOLVE_HOST: return FetchOutcome::kBadRequest;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY: return FetchOutcome::kProxyFailure;
    default: return FetchOutcome::kBadResponse;
  }
}

}  // namespace meguri::fetch
