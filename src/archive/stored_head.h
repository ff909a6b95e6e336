// The head of a response as the archive stores it: byte for byte, except where it would contradict
// the stored body, which has no transfer coding any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "web/http_head.h"

namespace meguri::archive {

// Appends `head`, in which
//  - the start line is of HTTP/1.0 or 1.1; one that was not stands in X-Archive-Orig-Status-Line,
//    unless it was a plain line of HTTP/2 or 3, for which the record has WARC-Protocol;
//  - Transfer-Encoding is called X-Archive-Orig-Transfer-Encoding;
//  - with a `body_bytes`, there is one Content-Length and it says so; the server's others are
//  called
//    X-Archive-Orig-Content-Length. Statuses that have no body (1xx, 204, 304) get none added.
//    Without: what the server said stays, as for a 304;
//  - there is an empty line at the end, also where the server sent none.
// Requires a head with a status.
void append_stored_head(const web::HttpHead& head, std::optional<std::uint64_t> body_bytes,
                        std::string* out);

}  // namespace meguri::archive
