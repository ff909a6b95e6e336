// What is tried again, and when: failures of servers, networks and name servers that may pass.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "fetch/dns.h"
#include "fetch/http_client.h"
#include "web/field_list.h"

namespace meguri::crawl {

// Whether another try may do better:
//   no answer, except where the address, the certificate or the protocol is wrong;
//   408, 429, and 5xx but 501 and 505.
bool may_pass(fetch::FetchOutcome outcome, int status);

// Whether it tells that the host does not answer at all.
bool is_silence(fetch::FetchOutcome outcome);

// Whether the name servers failed. That a name does not exist is an answer.
bool may_pass(fetch::DnsOutcome outcome);

// From the last of so many failures in a row to the next try: 1, 5, 15 minutes, and 15 from there
// on. Requires failures > 0.
base::Duration retry_wait(std::uint32_t failures);

// For how long an answer asks to be left alone: the Retry-After of 429 and 503; else zero.
base::Duration hold_of(int status, const web::FieldList& fields, base::Instant now);

// A host that does not answer so many visits in a row rests: as retry_wait() says, with one visit
// in between. After tries_max such rests it counts as out of reach.
inline constexpr std::uint32_t kErrorsBeforeRest = 3;
inline constexpr base::Duration kOutOfReach = base::Duration::days(1);  // then it is tried again

struct HostRest {
  base::Duration wait;   // from its last access on
  bool is_over = false;  // pages shall not wait for it
};
// Nullopt: it may be visited.
std::optional<HostRest> rest_after(std::uint32_t errors, std::uint32_t tries_max);

}  // namespace meguri::crawl
