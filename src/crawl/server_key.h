// What the Scheduler knows a server by.
#pragma once

#include <cstdint>

#include "fetch/address.h"

namespace meguri::crawl {

// An IPv4 address as a number; of an IPv6 address the first 64 bits, hashed, since one server may
// have all addresses behind them.
std::uint64_t server_key_of(const fetch::IpAddress& address);

// What stands for the address of a host behind a proxy, which alone knows it: so each such host is
// a server of its own. From its hash, within 100::/16, to which nothing may ever connect.
fetch::IpAddress stand_in_of(std::uint64_t host_hash);

}  // namespace meguri::crawl
