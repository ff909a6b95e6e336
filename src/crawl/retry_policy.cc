#include "crawl/retry_policy.h"

#include <algorithm>
#include <array>

#include "web/http_fields.h"

namespace meguri::crawl {

using fetch::FetchOutcome;

namespace {

constexpr std::array kWaits = {base::Duration::minutes(1), base::Duration::minutes(5),
                               base::Duration::minutes(15)};

bool may_pass(int status) {
  if (status == 408 || status == 429) return true;
  return status >= 500 && status < 600 && status != 501 && status != 505;
}

}  // namespace

bool may_pass(FetchOutcome outcome, int status) {
  switch (outcome) {
    case FetchOutcome::kAnswered: return may_pass(status);
    case FetchOutcome::kProxyFailure:
    case FetchOutcome::kCancelled:
    case FetchOutcome::kLocalFailure: return true;
    default: return is_silence(outcome);
  }
}

bool is_silence(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::kConnectRefused:
    case FetchOutcome::kUnreachable:
    case FetchOutcome::kConnectTimeout:
    case FetchOutcome::kTlsTimeout:
    case FetchOutcome::kHeadTimeout:
    case FetchOutcome::kReset: return true;
    default: return false;
  }
}

bool may_pass(fetch::DnsOutcome outcome) {
  switch (outcome) {
    case fetch::DnsOutcome::kServerFailure:
    case fetch::DnsOutcome::kTimeout:
    case fetch::DnsOutcome::kRefused:
    case fetch::DnsOutcome::kCancelled: return true;
    default: return false;
  }
}

base::Duration retry_wait(std::uint32_t failures) {
  return kWaits[std::min<std::size_t>(failures, kWaits.size()) - 1];
}

base::Duration hold_of(int status, const web::FieldList& fields, base::Instant now) {
  if (status != 429 && status != 503) return {};
  const auto text = fields.get("Retry-After");
  return text ? web::parse_retry_after(*text, now).value_or(base::Duration()) : base::Duration();
}

std::optional<HostRest> rest_after(std::uint32_t errors, std::uint32_t tries_max) {
  if (errors < kErrorsBeforeRest) return std::nullopt;
  const std::uint32_t rests = errors - kErrorsBeforeRest + 1;
  if (rests >= tries_max) return HostRest{.wait = kOutOfReach, .is_over = true};
  return HostRest{.wait = retry_wait(rests)};
}

}  // namespace meguri::crawl
