#include "fetch/address_policy.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace meguri::fetch {
namespace {

struct V4Range {
  std::uint32_t first;
  unsigned prefix_bits;
  AddressRange range;
};

constexpr std::uint32_t v4(unsigned a, unsigned b, unsigned c, unsigned d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// IANA's registry of special-purpose IPv4 addresses, and multicast.
constexpr std::array kV4Ranges = {
    V4Range{v4(0, 0, 0, 0), 8, AddressRange::kUnspecified},
    V4Range{v4(10, 0, 0, 0), 8, AddressRange::kPrivate},
    V4Range{v4(100, 64, 0, 0), 10, AddressRange::kShared},
    V4Range{v4(127, 0, 0, 0), 8, AddressRange::kLoopback},
    V4Range{v4(169, 254, 0, 0), 16, AddressRange::kLinkLocal},
    V4Range{v4(172, 16, 0, 0), 12, AddressRange::kPrivate},
    V4Range{v4(192, 0, 0, 0), 24, AddressRange::kReserved},
    V4Range{v4(192, 0, 2, 0), 24, AddressRange::kDocumentation},
    V4Range{v4(192, 88, 99, 0), 24, AddressRange::kReserved},  // the relays of 6to4
    V4Range{v4(192, 168, 0, 0), 16, AddressRange::kPrivate},
    V4Range{v4(198, 18, 0, 0), 15, AddressRange::kReserved},  // benchmarks
    V4Range{v4(198, 51, 100, 0), 24, AddressRange::kDocumentation},
    V4Range{v4(203, 0, 113, 0), 24, AddressRange::kDocumentation},
    V4Range{v4(224, 0, 0, 0), 4, AddressRange::kMulticast},
    V4Range{v4(240, 0, 0, 0), 4, AddressRange::kReserved},
};

struct V6Range {
  std::array<std::uint16_t, 8> first;
  unsigned prefix_bits;
  AddressRange range;
};

// The first that fits counts.
constexpr std::array kV6Ranges = {
    V6Range{{0}, 128, AddressRange::kUnspecified},
    V6Range{{0, 0, 0, 0, 0, 0, 0, 1}, 128, AddressRange::kLoopback},
    V6Range{{0}, 96, AddressRange::kEmbedded},                      // compatible
    V6Range{{0, 0, 0, 0, 0, 0xffff}, 96, AddressRange::kEmbedded},  // mapped
    V6Range{{0, 0, 0, 0, 0xffff, 0}, 96, AddressRange::kEmbedded},  // translated
    V6Range{{0x64, 0xff9b}, 96, AddressRange::kEmbedded},           // NAT64
    V6Range{{0x64, 0xff9b, 1}, 48, AddressRange::kEmbedded},        // NAT64 of a network's own
    V6Range{{0x2001, 0xdb8}, 32, AddressRange::kDocumentation},
    V6Range{{0x3fff}, 20, AddressRange::kDocumentation},
    V6Range{{0xfc00}, 7, AddressRange::kPrivate},
    V6Range{{0xfe80}, 10, AddressRange::kLinkLocal},
    V6Range{{0xfec0}, 10, AddressRange::kPrivate},
    V6Range{{0xff00}, 8, AddressRange::kMulticast},
};

constexpr V6Range kTeredo = {{0x2001}, 32, AddressRange::kEmbedded};
constexpr V6Range kProtocols = {{0x2001}, 23, AddressRange::kReserved};
constexpr V6Range kSixToFour = {{0x2002}, 16, AddressRange::kEmbedded};
constexpr V6Range kGlobal = {{0x2000}, 3, AddressRange::kPublic};

bool is_in(const IpAddress& address, const V6Range& range) {
  unsigned left = range.prefix_bits;
  for (std::size_t i = 0; i < range.first.size() && left > 0; ++i) {
    const unsigned bits = std::min(left, 16U);
    const unsigned group = static_cast<unsigned>(address.bytes()[2 * i]) << 8 |
                           static_cast<unsigned>(address.bytes()[2 * i + 1]);
    if ((group ^ range.first[i]) >> (16 - bits) != 0) return false;
    left -= bits;
  }
  return true;
}

AddressRange range_of_v4(std::uint32_t address) {
  for (const V4Range& range : kV4Ranges) {
    if ((address ^ range.first) >> (32 - range.prefix_bits) == 0) return range.range;
  }
  return AddressRange::kPublic;
}

bool is_public_v4(std::uint32_t address) { return range_of_v4(address) == AddressRange::kPublic; }

AddressRange range_of_v6(const IpAddress& address) {
  for (const V6Range& range : kV6Ranges) {
    if (is_in(address, range)) return range.range;
  }
  if (is_in(address, kTeredo)) {
    // The server's address stands as it is, the client's with every bit turned.
    const bool is_public = is_public_v4(address.value_at(4)) && is_public_v4(~address.value_at(12));
    return is_public ? AddressRange::kPublic : AddressRange::kEmbedded;
  }
  if (is_in(address, kProtocols)) return AddressRange::kReserved;
  if (is_in(address, kSixToFour)) {
    return is_public_v4(address.value_at(2)) ? AddressRange::kPublic : AddressRange::kEmbedded;
  }
  return is_in(address, kGlobal) ? AddressRange::kPublic : AddressRange::kReserved;
}

}  // namespace

std::string_view name_of(AddressRange range) {
  switch (range) {
    case AddressRange::kPublic: return "public";
    case AddressRange::kUnspecified: return "unspecified";
    case AddressRange::kLoopback: return "loopback";
    case AddressRange::kPrivate: return "private";
    case AddressRange::kLinkLocal: return "link-local";
    case AddressRange::kShared: return "shared";
    case AddressRange::kMulticast: return "multicast";
    case AddressRange::kDocumentation: return "documentation";
    case AddressRange::kReserved: return "reserved";
    case AddressRange::kEmbedded: return "embedded IPv4";
  }
  return "unknown";
}

AddressRange range_of(const IpAddress& address) {
  return address.is_v6() ? range_of_v6(address) : range_of_v4(address.v4_value());
}

base::Result<AddressPolicy> AddressPolicy::parse(const std::vector<std::string>& networks) {
  std::vector<Network> allowed;
  for (const std::string& text : networks) {
    ASSIGN_OR_RETURN(Network network, Network::parse(text));
    allowed.push_back(network);
  }
  return AddressPolicy(std::move(allowed));
}

bool AddressPolicy::allows(const IpAddress& address) const {
  if (range_of(address) == AddressRange::kPublic) return true;
  return std::ranges::any_of(allowed_,
                             [&](const Network& network) { return network.contains(address); });
}

}  // namespace meguri::fetch
