// What a request's head asks of a server of the virtual web. Stricter than a real server: a crawler
// that sends odd heads should hear of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/world.h"
#include "web/http_framing.h"
#include "web/http_head.h"

namespace meguri::sim {

// Views are parts of the head it was read from.
struct AskedFor {
  Request request;
  // 0, or the status to refuse it with: 400, 413, 417, 501, 505. The connection ends then, since
  // where the next request would begin is not known. The host is empty if that is what is wrong.
  int refusal = 0;
  bool is_http10 = false;    // so it knows no chunks
  bool keeps_alive = false;  // wants another answer on this connection
  web::BodyEnd body = web::BodyEnd::kNone;
  std::uint64_t body_bytes = 0;  // for web::BodyEnd::kLength
};

// Requires a whole head of a request. `scheme` is the connection's: "http" or "https". Bodies of
// more than `body_bytes_max` are refused, if they say so.
AskedFor read_request(const web::HttpHead& head, std::string_view scheme,
                      std::uint64_t body_bytes_max);

}  // namespace meguri::sim
