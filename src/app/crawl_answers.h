// What a crawl, or its archive, answers to people, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "crawl/control_messages.h"

namespace meguri::app {

nlohmann::json to_json(const crawl::PauseState& pauses);

// {"ok":false,…}
nlohmann::json to_json(const base::Error& error);

// `now` is the time of the facts. Facts of an archive on which no crawl runs know less, and say so.
nlohmann::json to_json(const crawl::WhyFacts& facts, bool is_running, base::Instant now);

nlohmann::json to_json(const crawl::HostList& list);

// What the host's next page waits for, in a few words.
std::string waits_for(const crawl::HostRow& row, const crawl::HostList& list);

}  // namespace meguri::app
