// Dns: the seam to names. A host's name goes in, its addresses and how long they hold come out.
//
// The real one is ares_dns.h, the simulated one sim/simulated_dns.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "fetch/address.h"

namespace meguri::fetch {

enum class DnsOutcome : std::uint8_t {
  kFound,
  kNoSuchName,     // NXDOMAIN, or no name at all
  kNoAddress,      // the name exists, without an address
  kServerFailure,  // SERVFAIL, an answer that cannot be read, or no server to be reached
  kTimeout,
  kRefused,  // the server would not answer us
  kCancelled,
};

std::string_view name_of(DnsOutcome outcome);  // "no_such_name"

struct Resolved {
  std::uint64_t tag = 0;
  std::string name;  // as asked for
  DnsOutcome outcome = DnsOutcome::kServerFailure;
  std::string error;                 // one sentence for people; empty when found
  std::vector<IpAddress> addresses;  // in the order of the answer, IPv4 first; each once
  // How long the answer holds, also one that says there is none.
  base::Duration ttl;
  base::Ticks started;
  base::Ticks finished;
};

// Addresses of literals change as seldom as that.
inline constexpr base::Duration kLiteralTtl = base::Duration::days(1);

// What no server needs to be asked for: a literal address ("192.0.2.1", "[2001:db8::1]"), a name
// that is none (empty, labels above 63 bytes, above 253 in all, characters that no host has), and
// localhost, which is never a host of the web. Nullopt: ask.
std::optional<Resolved> resolve_without_asking(std::string_view name);

// Owned by one module and driven by one thread: all calls but wake() come from it.
// Every start() leads to exactly one result of take(). Nothing is cached here.
class Dns {
 public:
  virtual ~Dns() = default;

  // Requires in_flight() < capacity(). Does not wait; failures come out of take() too.
  virtual void start(std::string_view name, std::uint64_t tag) = 0;
  virtual std::size_t capacity() const = 0;
  virtual std::size_t in_flight() const = 0;  // started and not yet taken

  // As in HttpClient.
  virtual void poll(base::Duration wait) = 0;
  virtual void wake() = 0;
  virtual base::Ticks next_event() const = 0;
  virtual std::vector<Resolved> take() = 0;
  virtual void cancel_all(std::string_view reason) = 0;
};

}  // namespace meguri::fetch
