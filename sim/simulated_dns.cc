#include "sim/simulated_dns.h"

#include <utility>

#include "base/check.h"
#include "sim/server_address.h"

namespace meguri::sim {

using base::Duration;
using fetch::DnsOutcome;
using fetch::Resolved;

SimulatedDns::SimulatedDns(const World& world, const env::Clock& clock,
                           const SimulatedDnsOptions& options)
    : world_(world), clock_(clock), options_(options), random_(options.seed), waiting_(clock) {}

void SimulatedDns::look_up_hostile(const HostileHabit& habit, Resolved* resolved) {
  const std::uint64_t count = habit.addresses == nullptr ? 0 : hostile_count_++;
  resolved->outcome = DnsOutcome::kFound;
  resolved->ttl = Duration();
  for (const Address address : HostileWeb::addresses_of(habit, count)) {
    resolved->addresses.push_back(fetch::IpAddress::v4(address));
  }
  for (const std::string_view text : habit.addresses6) {
    resolved->addresses.push_back(*fetch::IpAddress::parse(text));
  }
}

void SimulatedDns::look_up(std::string_view name, Resolved* resolved) {
  if (const HostileHabit* habit = world_.hostile().of_host(name)) {
    return look_up_hostile(*habit, resolved);
  }
  const auto host = world_.census().host_of_name(name);
  if (!host) {
    resolved->outcome = DnsOutcome::kNoSuchName;
    resolved->error = "no such name";
    resolved->ttl = options_.no_such_name_ttl;
    return;
  }
  resolved->outcome = DnsOutcome::kFound;
  resolved->ttl = options_.ttl;
  for (const ServerNumber server : world_.census().servers_of(*host)) {
    resolved->addresses.push_back(fetch::IpAddress::v4(address_of(server)));
  }
}

void SimulatedDns::start(std::string_view name, std::uint64_t tag) {
  CHECK(in_flight() < capacity(), "more than {} names in flight", capacity());
  // Drawn for each, so that a chance changed to zero changes no other.
  const bool is_silent = random_.uniform() < options_.silent_chance;
  const bool has_failed = random_.uniform() < options_.server_failure_chance;
  const double delay_ms = random_.exponential(1.0) * static_cast<double>(options_.delay_mean.ms());
  auto delay = Duration::from_ms(static_cast<std::int64_t>(delay_ms));
  Resolved resolved;
  if (auto known = fetch::resolve_without_asking(name)) {
    resolved = *std::move(known);
    delay = Duration();
  } else if (is_silent) {
    resolved.outcome = DnsOutcome::kTimeout;
    resolved.error = "no answer came";
    resolved.ttl = options_.failure_ttl;
    delay = options_.timeout;
  } else if (has_failed) {
    resolved.outcome = DnsOutcome::kServerFailure;
    resolved.error = "the server failed";
    resolved.ttl = options_.failure_ttl;
  } else {
    look_up(name, &resolved);
  }
  resolved.tag = tag;
  resolved.name = name;
  resolved.started = clock_.ticks();
  resolved.finished = resolved.started + delay;
  const base::Ticks due = resolved.finished;
  waiting_.add(due, std::move(resolved));
}

void SimulatedDns::poll(Duration wait) {
  if (finished_.empty()) waiting_.wait(wait);
  for (Resolved& resolved : waiting_.take_due()) finished_.push_back(std::move(resolved));
}

base::Ticks SimulatedDns::next_event() const {
  return finished_.empty() ? waiting_.next_event() : clock_.ticks();
}

void SimulatedDns::cancel_all(std::string_view reason) {
  for (Resolved& waiting : waiting_.take_all()) {
    Resolved cancelled;
    cancelled.tag = waiting.tag;
    cancelled.name = std::move(waiting.name);
    cancelled.outcome = DnsOutcome::kCancelled;
    cancelled.error = reason;
    cancelled.started = waiting.started;
    cancelled.finished = clock_.ticks();
    finished_.push_back(std::move(cancelled));
  }
}

}  // namespace meguri::sim
