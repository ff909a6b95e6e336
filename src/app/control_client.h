// The other end of the control socket: what the commands ask of a running crawl.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/control_socket.h"
#include "base/result.h"

namespace meguri::app {

// Sends one request and waits for its answer, half a minute at most. An answer that says why it is
// none is an error with that sentence; kStopped: the crawl ended before it answered.
base::Result<nlohmann::json> ask_crawl(const OwnedDescriptor& socket,
                                       const nlohmann::json& request);

}  // namespace meguri::app
