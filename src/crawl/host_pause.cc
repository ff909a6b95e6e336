#include "crawl/host_pause.h"

#include <algorithm>

#include "crawl/retry_policy.h"

namespace meguri::crawl {

std::optional<HostPause> pause_of(const HostRecord& host, const CrawlOptions& options,
                                  base::Instant now) {
  if (host.hold_until > now) {
    const base::Duration wait = host.hold_until - now;
    const bool is_long = wait > options.crawl_delay_max;
    return HostPause{.reason = is_long ? Refusal::kParked : Refusal::kLater, .wait = wait};
  }
  const auto rest = rest_after(host.errors, options.tries_max);
  // A clock that was set back must not make it rest for longer.
  if (!rest || now < host.last_access || now >= host.last_access + rest->wait) return std::nullopt;
  return HostPause{.reason = rest->is_over ? Refusal::kParked : Refusal::kLater,
                   .wait = host.last_access + rest->wait - now};
}

HostPause pause_of_name(const HostRecord& host, const CrawlOptions& options, base::Ticks now) {
  if (host.address_state == AddressState::kForbidden) return {.reason = Refusal::kForbidden};
  const bool may_pass = host.name_failures > 0 && host.name_failures < options.tries_max;
  if (!may_pass) return {.reason = Refusal::kUnresolved};
  return {.reason = Refusal::kLater, .wait = host.address_expires - now};
}

HostPause pause_of_robots(const RobotsRecord& robots, const CrawlOptions& options,
                          base::Instant now) {
  if (robots.failures >= options.tries_max) return {.reason = Refusal::kParked};
  const base::Duration wait = robots_wait(robots.failures);
  return {.reason = Refusal::kLater,
          .wait = std::clamp(robots.failed + wait - now, base::Duration(), wait)};
}

}  // namespace meguri::crawl
