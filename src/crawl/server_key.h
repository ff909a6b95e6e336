// What the Scheduler knows a server by.
#pragma once

#include <cstdint>

#include "fetch/address.h"

namespace meguri::crawl {

// An IPv4 address as a number; of an IPv6 address the first 64 bits, hashed, since one server may
// have all addresses behind them.
std::uint64_t server_key_of(const fetch::IpAddress& address);

}  // namespace meguri::crawl
