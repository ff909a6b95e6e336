// AddressPolicy: which addresses a crawler may connect to. Names can lead anywhere, also to
// machines behind our own firewall, so the address of every socket is judged when it is opened,
// not the name before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fetch/address.h"

namespace meguri::fetch {

enum class AddressRange : std::uint8_t {
  kPublic,
  kUnspecified,    // 0.0.0.0/8, ::
  kLoopback,       // 127.0.0.0/8, ::1
  kPrivate,        // RFC 1918, fc00::/7, fec0::/10
  kLinkLocal,      // 169.254.0.0/16 (clouds keep secrets there), fe80::/10
  kShared,         // 100.64.0.0/10, behind a carrier's NAT
  kMulticast,      // 224.0.0.0/4, ff00::/8
  kDocumentation,  // 192.0.2.0/24 and its like
  kReserved,       // of the IANA special-purpose registries, and all IPv6 outside 2000::/3
  // IPv6 that stands for an IPv4 address: mapped, compatible, translated and NAT64 always; 6to4 and
  // Teredo when an IPv4 address in it is not public.
  kEmbedded,
};

std::string_view name_of(AddressRange range);  // "link-local"

AddressRange range_of(const IpAddress& address);

// Public addresses and those of the allowed networks. An allowed IPv4 network does not allow IPv6
// forms of it. Const calls from any thread.
class AddressPolicy {
 public:
  AddressPolicy() = default;  // public addresses only
  explicit AddressPolicy(std::vector<Network> allowed) : allowed_(std::move(allowed)) {}

  // From texts like "127.0.0.0/8", as of --allow-network; the error names the wrong one.
  static base::Result<AddressPolicy> parse(const std::vector<std::string>& networks);

  bool allows(const IpAddress& address) const;

 private:
  std::vector<Network> allowed_;
};

}  // namespace meguri::fetch
