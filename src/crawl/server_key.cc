#include "crawl/server_key.h"

#include <algorithm>
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

}  // namespace meguri::crawl
