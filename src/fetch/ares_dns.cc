#include "fetch/ares_dns.h"

#include <ares.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "fetch/socket_poller.h"

namespace meguri::fetch {
namespace {

using std::chrono::nanoseconds;

// c-ares can tell when it next needs to be called, but looks through all questions for it. So time
// is looked at this often while there are any.
constexpr std::chrono::milliseconds kTick(20);
constexpr int kDatagramBytes = 1232;  // fits into any path unfragmented

DnsOutcome outcome_of(int status) {
  switch (status) {
    case ARES_SUCCESS: return DnsOutcome::kFound;
    case ARES_ENOTFOUND:
    case ARES_EBADNAME: return DnsOutcome::kNoSuchName;
    case ARES_ENODATA: return DnsOutcome::kNoAddress;
    case ARES_ETIMEOUT: return DnsOutcome::kTimeout;
    case ARES_EREFUSED:
    case ARES_ECONNREFUSED: return DnsOutcome::kRefused;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION: return DnsOutcome::kCancelled;
    default: return DnsOutcome::kServerFailure;
  }
}

class AresDns final : public Dns {
 public:
  AresDns(const env::Clock& clock, AresOptions options, std::unique_ptr<SocketPoller> poller)
      : clock_(clock), options_(std::move(options)), poller_(std::move(poller)) {}
  AresDns(const AresDns&) = delete;
  AresDns& operator=(const AresDns&) = delete;
  ~AresDns() override {
    if (channel_ != nullptr) ares_destroy(channel_);
  }

  base::Status open();

  void start(std::string_view name, std::uint64_t tag) override;
  std::size_t capacity() const override { return options_.in_flight_max; }
  std::size_t in_flight() const override { return asked_.size() + finished_.size(); }
  void poll(base::Duration wait) override;
  void wake() override { poller_->wake(); }
  base::Ticks next_event() const override {
    return finished_.empty() ? base::Ticks::never() : clock_.ticks();
  }
  std::vector<Resolved> take() override { return std::exchange(finished_, {}); }
  void cancel_all(std::string_view reason) override;

 private:
  // c-ares gives it back with the answer.
  struct Question {
    AresDns* dns = nullptr;
    Resolved resolved;
  };

  static void on_answer(void* question, int status, int timeouts, ares_addrinfo* answer);
  static void on_socket(void* self, ares_socket_t handle, int reads, int writes);

  void finish(Question* question, int status, const ares_addrinfo* answer);
  void take_addresses(const ares_addrinfo& answer, Resolved* resolved) const;

  const env::Clock& clock_;
  const AresOptions options_;
  std::unique_ptr<SocketPoller> poller_;
  ares_channel channel_ = nullptr;
  std::unordered_map<Question*, std::unique_ptr<Question>> asked_;
  std::vector<Resolved> finished_;
  std::string cancel_reason_;
};

base::Status AresDns::open() {
  const nanoseconds least = std::chrono::milliseconds(options_.real_wait_min.ms());
  const nanoseconds asked = std::chrono::milliseconds(options_.wait.ms());
  const nanoseconds wait = std::max(clock_.real_time(options_.wait), std::min(asked, least));
  ares_options settings{};
  settings.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_EDNS;
  // A single server's failure is the answer; of several, the next one is asked.
  if (options_.servers.size() == 1) settings.flags |= ARES_FLAG_NOCHECKRESP;
  settings.timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count());
  settings.tries = options_.tries;
  settings.ednspsz = kDatagramBytes;
  settings.sock_state_cb = &AresDns::on_socket;
  settings.sock_state_cb_data = this;
  std::string lookups = "b";  // DNS, no file of hosts
  settings.lookups = lookups.data();
  const int status =
      ares_init_options(&channel_, &settings,
                        ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
                            ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS);
  if (status != ARES_SUCCESS) {
    channel_ = nullptr;
    return base::fail(base::ErrorCode::kFailed, "c-ares cannot start: {}", ares_strerror(status));
  }
  if (options_.servers.empty()) return {};
  const std::string servers = fmt::format("{}", fmt::join(options_.servers, ","));
  const int set = ares_set_servers_ports_csv(channel_, servers.c_str());
  if (set != ARES_SUCCESS) {
    return base::fail(base::ErrorCode::kInvalid, "c-ares takes no name server from {}: {}",
                      base::quoted(servers), ares_strerror(set));
  }
  return {};
}

void AresDns::start(std::string_view name, std::uint64_t tag) {
  CHECK(in_flight() < capacity(), "more than {} names in flight", capacity());
  const base::Ticks now = clock_.ticks();
  if (auto resolved = resolve_without_asking(name)) {
    resolved->tag = tag;
    resolved->started = resolved->finished = now;
    finished_.push_back(*std::move(resolved));
    return;
  }
  auto owned = std::make_unique<Question>();
  Question* const question = owned.get();
  question->dns = this;
  question->resolved.tag = tag;
  question->resolved.name = name;
  question->resolved.started = now;
  asked_.emplace(question, std::move(owned));
  ares_addrinfo_hints hints{};
  hints.ai_flags = ARES_AI_NOSORT;
  hints.ai_family = options_.wants_v6 ? AF_UNSPEC : AF_INET;
  const std::string text(name);
  ares_getaddrinfo(channel_, text.c_str(), nullptr, &hints, &AresDns::on_answer, question);
}

void AresDns::on_answer(void* question, int status, int /*timeouts*/, ares_addrinfo* answer) {
  auto* const asked = static_cast<Question*>(question);
  asked->dns->finish(asked, status, answer);
  if (answer != nullptr) ares_freeaddrinfo(answer);
}

void AresDns::finish(Question* question, int status, const ares_addrinfo* answer) {
  Resolved& resolved = question->resolved;
  resolved.finished = clock_.ticks();
  resolved.outcome = outcome_of(status);
  if (status == ARES_SUCCESS && answer != nullptr) take_addresses(*answer, &resolved);
  if (resolved.outcome == DnsOutcome::kFound && resolved.addresses.empty()) {
    resolved.outcome = DnsOutcome::kNoAddress;
    status = ARES_ENODATA;
  }
  if (resolved.outcome == DnsOutcome::kCancelled) {
    resolved.error = cancel_reason_;
  } else if (resolved.outcome != DnsOutcome::kFound) {
    resolved.error = ares_strerror(status);
    const bool is_no =
        resolved.outcome == DnsOutcome::kNoSuchName || resolved.outcome == DnsOutcome::kNoAddress;
    resolved.ttl = is_no ? options_.no_such_name_ttl : options_.failure_ttl;
  }
  finished_.push_back(std::move(resolved));
  asked_.erase(question);
}

void AresDns::take_addresses(const ares_addrinfo& answer, Resolved* resolved) const {
  base::Duration ttl = options_.ttl_max;
  const auto shorten = [&ttl](int seconds) {
    ttl = std::min(ttl, base::Duration::seconds(std::max(seconds, 0)));
  };
  for (const ares_addrinfo_cname* alias = answer.cnames; alias != nullptr; alias = alias->next) {
    shorten(alias->ttl);
  }
  for (const ares_addrinfo_node* node = answer.nodes; node != nullptr; node = node->ai_next) {
    const auto address = IpAddress::from_sockaddr(*node->ai_addr);
    if (!address) continue;
    shorten(node->ai_ttl);
    if (std::ranges::find(resolved->addresses, *address) == resolved->addresses.end()) {
      resolved->addresses.push_back(*address);
    }
  }
  // Of each family, the order of the answer stays.
  std::vector<IpAddress> ordered;
  for (const bool is_v6 : {false, true}) {
    for (const IpAddress& address : resolved->addresses) {
      if (address.is_v6() == is_v6) ordered.push_back(address);
    }
  }
  resolved->addresses = std::move(ordered);
  resolved->ttl = std::max(ttl, options_.ttl_min);
}

void AresDns::poll(base::Duration wait) {
  nanoseconds real = finished_.empty() ? clock_.real_time(wait) : nanoseconds(0);
  if (!asked_.empty()) real = std::min<nanoseconds>(real, kTick);
  for (const SocketPoller::Event& event : poller_->wait(real)) {
    ares_process_fd(channel_, event.can_read || event.has_failed ? event.socket : ARES_SOCKET_BAD,
                    event.can_write ? event.socket : ARES_SOCKET_BAD);
  }
  // Time may have run out for some.
  if (!asked_.empty()) ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

void AresDns::cancel_all(std::string_view reason) {
  cancel_reason_ = reason;
  ares_cancel(channel_);
}

void AresDns::on_socket(void* self, ares_socket_t handle, int reads, int writes) {
  static_cast<AresDns*>(self)->poller_->watch(handle, reads != 0, writes != 0);
}

// "ADDRESS" or "ADDRESS:PORT".
bool is_server(const std::string& text) {
  return IpAddress::parse(text).has_value() || Endpoint::parse(text).has_value();
}

}  // namespace

base::Result<std::unique_ptr<Dns>> make_ares_dns(const env::Clock& clock, AresOptions options) {
  static const int global = ares_library_init(ARES_LIB_INIT_ALL);
  if (global != ARES_SUCCESS) {
    return base::fail(base::ErrorCode::kFailed, "c-ares cannot start: {}", ares_strerror(global));
  }
  if (options.in_flight_max == 0 || options.tries < 1) {
    return base::fail(base::ErrorCode::kInvalid, "a resolver needs room for one name, and one try");
  }
  for (const std::string& server : options.servers) {
    if (is_server(server)) continue;
    return base::fail(base::ErrorCode::kInvalid,
                      "{} is no name server: write an address, with :PORT if it is not 53",
                      base::quoted(server));
  }
  ASSIGN_OR_RETURN(auto poller, SocketPoller::create());
  auto dns = std::make_unique<AresDns>(clock, std::move(options), std::move(poller));
  RETURN_IF_ERROR(dns->open());
  return dns;
}

}  // namespace meguri::fetch
