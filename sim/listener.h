// Listening sockets on all of 127.0.0.0/8, and the descriptors that their connections need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/descriptor.h"

namespace meguri::sim {

struct Listeners {
  std::uint16_t port = 0;
  std::vector<Descriptor> sockets;  // one for each thread, all on the same port; none blocks
};

// `is_shared`: others may listen on addresses of their own at this port.
// `option` is what the user would choose another port with: "--port". Errors are one sentence.
base::Result<Listeners> listen_on_loopback(std::uint16_t port, std::size_t count, bool is_shared,
                                           std::string_view option);

// Sockets by which connections to that address and port, which others share, never come about while
// they are open: one that listens and whose queue is full.
base::Result<std::vector<Descriptor>> listen_deafly(std::uint32_t address, std::uint16_t port);

// Raises the soft limit of open files to the hard one, and says how many of `wanted` connections
// fit below it. kFailed if that is hardly any.
base::Result<std::size_t> make_room_for_connections(std::size_t wanted);

}  // namespace meguri::sim
