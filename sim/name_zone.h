// NameZone: what the name server of a virtual web says of the zone `test`: a function from a query
// to an answer, so that sockets and simulations hear the same. It is pure but for hostile names
// that change between two look-ups, which it counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/census.h"
#include "sim/dns_message.h"
#include "sim/hostile.h"

namespace meguri::sim {

struct NameZoneOptions {
  std::uint32_t ttl_seconds = 300;
  std::uint32_t negative_ttl_seconds = 60;
  std::uint32_t server_address = 0x7f000001;  // of ns.test, in host byte order
  // No UDP answer is longer, whatever its client takes: 1232 passes every network in one piece. A
  // small number sends everybody to TCP, for the exercise.
  std::size_t udp_bytes_max = 1232;
  HostileWeb hostile = {};  // whose names it knows besides; they may be cached for no time
};

// What became of a query.
enum class NameOutcome : std::uint8_t {
  kAddresses,       // of a host
  kZone,            // of the zone itself or its name server
  kNoData,          // the name is there, but has nothing of this type
  kUnknown,         // NXDOMAIN
  kRefused,         // not under test, not class IN, or a transfer
  kNotImplemented,  // another operation
  kMalformed,       // FORMERR, or a version of EDNS that nobody knows
  kDropped,         // no answer at all: not a whole header, or itself an answer
};
inline constexpr std::size_t kNameOutcomes = 8;

struct NameAnswer {
  NameOutcome outcome = NameOutcome::kDropped;
  bool is_truncated = false;
  DnsType type = DnsType{0};  // that was asked for; 0 if nobody could tell
  std::string bytes;          // empty: none
};

// Borrows its census. Const calls from any thread.
class NameZone {
 public:
  NameZone(const Census& census, const NameZoneOptions& options)
      : census_(census), options_(options) {}

  NameAnswer answer(std::string_view query, bool is_udp) const;

  // The addresses of a host in the order in which query `id` hears them: ids rotate it, and
  // clients choose ids by chance. All addresses that are ever given come from here, so that names
  // with private or changing addresses have one place.
  std::vector<std::uint32_t> addresses_for(HostNumber host, std::uint16_t id) const;

 private:
  struct Reply;
  void decide(const DnsQuestion& question, Reply* reply) const;
  void decide_host(const DnsQuestion& question, HostNumber host, Reply* reply) const;
  void decide_hostile(const DnsQuestion& question, const HostileHabit& habit, Reply* reply) const;
  void decide_zone(const DnsQuestion& question, Reply* reply) const;
  void add_soa(std::uint32_t ttl_seconds, std::string* records, std::uint16_t* count,
               const Reply& reply) const;
  void set_no_data(NameOutcome outcome, Reply* reply) const;
  NameAnswer written(const Reply& reply, bool is_udp) const;

  const Census& census_;
  NameZoneOptions options_;
  mutable std::atomic<std::uint64_t> hostile_count_{0};  // look-ups of names that change
};

}  // namespace meguri::sim
