// What PageFetch brought, as the bytes of a WARC file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/page_fetch.h"
#include "base/result.h"
#include "base/time.h"

namespace meguri::app {

// A warcinfo record, and for each hop a response and its request, each in a gzip member. The file
// is to have the name `file_name`.
base::Result<std::string> warc_of(const std::vector<FetchedHop>& hops, std::string_view file_name,
                                  std::string_view user_agent, base::Instant now);

}  // namespace meguri::app
