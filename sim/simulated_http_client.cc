#include "sim/simulated_http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim/script_reception.h"
#include "sim/server_address.h"
#include "sim/wire.h"
#include "web/ascii.h"

namespace meguri::sim {
namespace {

using base::Duration;
using fetch::Fetched;
using fetch::FetchOutcome;
using fetch::FetchRequest;
using fetch::Truncation;

void end_after(Duration duration, Fetched* fetched) {
  fetched->times.finished = fetched->times.started + duration;
  fetched->times.finished_utc = fetched->times.started_utc + duration;
}

void fail(FetchOutcome outcome, std::string_view error, Duration after, Fetched* fetched) {
  fetched->outcome = outcome;
  fetched->error = error;
  end_after(after, fetched);
}

std::optional<std::string_view> field_of(const FetchRequest& request, std::string_view name) {
  for (const fetch::RequestField& field : request.fields) {
    if (web::equals_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

bool is_html(const Answer& answer) {
  const auto type = answer.field("Content-Type");
  return type && fetch::is_html_content_type(fmt::format("content-type: {}", *type));
}

}  // namespace

SimulatedHttpClient::SimulatedHttpClient(const World& world, const env::Clock& clock,
                                         SimulatedHttpOptions options)
    : world_(world),
      clock_(clock),
      options_(std::move(options)),
      random_(options_.seed),
      waiting_(clock) {
  CHECK(options_.bytes_per_second > 0);
}

// All draws are made for each fetch, so that a chance changed to zero changes no other.
SimulatedHttpClient::Fate SimulatedHttpClient::draw_fate() {
  Fate fate;
  fate.is_refused = random_.uniform() < options_.refused_chance;
  fate.is_silent = random_.uniform() < options_.silent_chance;
  fate.is_reset = random_.uniform() < options_.reset_chance;
  fate.is_cut = random_.uniform() < options_.disconnect_chance;
  fate.kept_share = random_.uniform();
  return fate;
}

bool SimulatedHttpClient::is_refused(const FetchRequest& request, const Fate& fate,
                                     Fetched* out) const {
  if (const std::string_view fault = fetch::fault_of(request); !fault.empty()) {
    fail(FetchOutcome::kBadRequest, fault, Duration(), out);
    return true;
  }
  out->request_head = fetch::kept_head_of(request);
  const fetch::IpAddress& address = request.address.address;
  if (!options_.policy.allows(address)) {
    fail(FetchOutcome::kForbiddenAddress,
         fmt::format("{} is {}", address.to_string(), fetch::name_of(fetch::range_of(address))),
         Duration(), out);
    return true;
  }
  if (options_.connect_delay > request.limits.connect) {
    fail(FetchOutcome::kConnectTimeout, "no connection within the limit", request.limits.connect,
         out);
    return true;
  }
  const HostileHabit* const habit =
      address.is_v6() ? nullptr : world_.hostile().at(address.v4_value());
  const auto server = address.is_v6() ? std::nullopt : server_of(address.v4_value());
  const bool is_there = habit != nullptr || (server && *server < world_.census().servers());
  if (fate.is_refused || !is_there) {
    fail(FetchOutcome::kConnectRefused, "connection refused", options_.connect_delay, out);
    return true;
  }
  if (habit != nullptr && habit->door == HostileDoor::kDeaf) {
    fail(FetchOutcome::kConnectTimeout, "no connection within the limit", request.limits.connect,
         out);
    return true;
  }
  out->connected = request.address;
  return habit != nullptr && is_turned_away(request, *habit, out);
}

bool SimulatedHttpClient::is_turned_away(const FetchRequest& request, const HostileHabit& habit,
                                         Fetched* out) const {
  const Duration connected = options_.connect_delay;
  if (habit.door == HostileDoor::kResets) {
    fail(FetchOutcome::kReset, "connection reset by peer", connected, out);
    return true;
  }
  if (!request.is_https) return false;
  if (habit.door == HostileDoor::kIgnoresHandshake) {
    fail(FetchOutcome::kTlsTimeout, "no answer within the limit", connected + request.limits.tls,
         out);
    return true;
  }
  if (habit.door == HostileDoor::kResetsHandshake) {
    fail(FetchOutcome::kTlsFailure, "connection reset by peer", connected, out);
    return true;
  }
  if (habit.certificate == CertificateFault::kNone) return false;
  fail(FetchOutcome::kCertificate, "the certificate is not good", connected, out);
  return true;
}

Answer SimulatedHttpClient::ask(const FetchRequest& request, base::Instant arrival) const {
  const auto host = world_.census().host_of_name(request.host);
  const auto server = server_of(request.address.address.v4_value());
  const HostileHabit* const habit = world_.hostile().of_host(request.host);
  const bool is_at_home =
      habit != nullptr && world_.hostile().at(request.address.address.v4_value()) == habit;
  const auto servers = host ? world_.census().servers_of(*host) : std::vector<ServerNumber>();
  const bool is_on_server = server && std::ranges::find(servers, *server) != servers.end();
  if (!is_at_home && !is_on_server) {
    Answer answer;
    answer.status = 421;
    answer.fields.push_back({"Content-Type", "text/plain"});
    answer.body = "421 Misdirected Request\n";
    answer.closes = true;
    return answer;
  }
  const std::string accepted(field_of(request, "Accept-Encoding").value_or(""));
  const bool has_own_port = request.port == (request.is_https ? 443 : 80);
  const std::string port = has_own_port ? "" : fmt::format(":{}", request.port);
  return world_.answer({.method = fetch::name_of(request.method),
                        .origin = {.scheme = request.is_https ? "https" : "http",
                                   .host = request.host,
                                   .port = port},
                        .target = request.target,
                        .if_none_match = field_of(request, "If-None-Match"),
                        .if_modified_since = field_of(request, "If-Modified-Since"),
                        .accepts_gzip = accepted.find("gzip") != accepted.npos,
                        .accepts_brotli = accepted.find("br") != accepted.npos},
                       arrival);
}

void SimulatedHttpClient::start(FetchRequest request) {
  CHECK(in_flight() < capacity(), "more than {} fetches in flight", capacity());
  const Fate fate = draw_fate();
  Visit visit;
  visit.fetched.tag = request.tag;
  visit.fetched.times.started = clock_.ticks();
  visit.fetched.times.started_utc = clock_.utc();
  if (!is_refused(request, fate, &visit.fetched)) {
    const base::Instant arrival = visit.fetched.times.started_utc + options_.connect_delay;
    Answer answer = ask(request, arrival);
    visit.access = Access{.arrival = arrival,
                          .end = arrival,
                          .server = request.address.address.to_string(),
                          .host = request.host,
                          .target = request.target,
                          .status = answer.status};
    receive(request, fate, std::move(answer), &visit);
    visit.access->end = visit.fetched.times.finished_utc;
    visit.access->bytes = visit.fetched.response_head.size() + visit.fetched.body.size();
  }
  const base::Ticks due = visit.fetched.times.finished;
  waiting_.add(due, std::move(visit));
}

void SimulatedHttpClient::receive(const FetchRequest& request, const Fate& fate, Answer answer,
                                  Visit* visit) const {
  Fetched& out = visit->fetched;
  const Duration head_limit =
      std::min(request.limits.head, request.limits.whole - options_.connect_delay);
  if (fate.is_silent || answer.delay > head_limit) {
    fail(FetchOutcome::kHeadTimeout, "no answer within the limit",
         options_.connect_delay + head_limit, &out);
    return;
  }
  const Duration to_first_byte = options_.connect_delay + answer.delay;
  if (fate.is_reset) {
    fail(FetchOutcome::kReset, "connection reset by peer", to_first_byte, &out);
    return;
  }
  if (answer.script != nullptr) {
    return receive_script(request, *answer.script, to_first_byte, options_.bytes_per_second, &out);
  }
  out.outcome = FetchOutcome::kAnswered;
  out.status = answer.status;
  out.protocol = answer.is_http10 ? fetch::HttpProtocol::kHttp10 : fetch::HttpProtocol::kHttp11;
  if (request.is_https) out.tls_version = "TLSv1.3";
  out.times.first_byte = out.times.started + to_first_byte;
  out.times.first_byte_utc = out.times.started_utc + to_first_byte;
  const WireForm form{.is_head = request.method == fetch::Method::kHead};
  append_wire_head(answer, form, &out.response_head);
  if (has_wire_body(answer, form)) receive_body(request, fate, std::move(answer), &out);
  const auto body_ms =
      static_cast<std::int64_t>(out.body.size() * 1000 / options_.bytes_per_second);
  end_after(to_first_byte + Duration::from_ms(body_ms), &out);
}

void SimulatedHttpClient::receive_body(const FetchRequest& request, const Fate& fate, Answer answer,
                                       Fetched* out) const {
  const bool page = is_html(answer);
  std::string body = std::move(answer.body);
  const auto cut_to = [&](std::uint64_t bytes, Truncation truncation, std::string_view error) {
    if (bytes >= body.size()) return;
    body.resize(bytes);
    out->truncation = truncation;
    out->error = error;
  };
  const fetch::FetchLimits& limits = request.limits;
  cut_to(page ? std::min(limits.html_bytes_max, limits.body_bytes_max) : limits.body_bytes_max,
         Truncation::kLength, "cut at the limit");
  const Duration left = limits.whole - (out->times.first_byte - out->times.started);
  cut_to(static_cast<std::uint64_t>(std::max<std::int64_t>(left.ms(), 0)) *
             options_.bytes_per_second / 1000,
         Truncation::kTime, "too long under way");
  if (fate.is_cut) {
    cut_to(static_cast<std::uint64_t>(static_cast<double>(body.size()) * fate.kept_share),
           Truncation::kDisconnect, "the connection ended within the body");
  }
  out->body = std::move(body);
}

void SimulatedHttpClient::log(const Visit& visit) const {
  if (visit.access && options_.access_log) options_.access_log(*visit.access);
}

void SimulatedHttpClient::poll(Duration wait) {
  if (finished_.empty()) waiting_.wait(wait);
  for (Visit& visit : waiting_.take_due()) {
    log(visit);
    finished_.push_back(std::move(visit.fetched));
  }
}

base::Ticks SimulatedHttpClient::next_event() const {
  return finished_.empty() ? waiting_.next_event() : clock_.ticks();
}

void SimulatedHttpClient::cancel_all(std::string_view reason) {
  const base::Instant now = clock_.utc();
  for (Visit& visit : waiting_.take_all()) {
    Fetched cancelled;
    cancelled.tag = visit.fetched.tag;
    cancelled.outcome = FetchOutcome::kCancelled;
    cancelled.error = reason;
    cancelled.request_head = std::move(visit.fetched.request_head);
    cancelled.times = visit.fetched.times;
    cancelled.times.finished = clock_.ticks();
    cancelled.times.finished_utc = now;
    // A request that had arrived was an access, though its answer went nowhere.
    if (visit.access && visit.access->arrival <= now) {
      visit.access->end = now;
      visit.access->bytes = 0;
      log(visit);
    }
    finished_.push_back(std::move(cancelled));
  }
}

}  // namespace meguri::sim
