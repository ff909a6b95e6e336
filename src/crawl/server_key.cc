#include "crawl/server_key.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/hash.h"

namespace meguri::crawl {

std::uint64_t server_key_of(const fetch::IpAddress& address) {
  if (!address.is_v6()) return address.v4_value();
  constexpr std::size_t kNetworkBytes = 8;
  std::string network(kNetworkBytes, '\0');
  std::ranges::transform(address.bytes().begin(), address.bytes().begin() + kNetworkBytes,
                         network.begin(),
                         [](std::uint8_t byte) { return static_cast<char>(byte); });
  return base::hash64(network);
}

fetch::IpAddress stand_in_of(std::uint64_t host_hash) {
  std::array<std::uint8_t, 16> bytes{1, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    bytes[2 + i] = static_cast<std::uint8_t>(host_hash >> (8 * i) & 0xffU);
  }
  return fetch::IpAddress::v6(bytes);
}

}  // namespace meguri::crawl
