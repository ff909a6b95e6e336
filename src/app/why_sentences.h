// Why a page was or was not fetched, in plain sentences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "crawl/control_messages.h"

namespace meguri::app {

// Why the next visit of a page that is done is when it is.
std::string why_then(const crawl::PageRecord& record);

// The page first, then how it was found, then its host. `now` is the time of the facts; those of an
// archive on which no crawl runs know less.
std::vector<std::string> why_sentences(const crawl::WhyFacts& facts, bool is_running,
                                       base::Instant now);

}  // namespace meguri::app
