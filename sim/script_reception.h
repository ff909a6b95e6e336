// What a client makes of a script of a hostile host: the same as the real one does of these bytes
// on a socket, by the same limits, without waiting.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "fetch/http_client.h"
#include "sim/wire_script.h"

namespace meguri::sim {

// Fills in all of `fetched` but its tag, its request and the times of its start. The request was
// sent `sent_after` its start, over a network that carries so many bytes each second.
void receive_script(const fetch::FetchRequest& request, const WireScript& script,
                    base::Duration sent_after, std::uint64_t bytes_per_second,
                    fetch::Fetched* fetched);

}  // namespace meguri::sim
