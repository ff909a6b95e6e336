// What an archive knows of one page, asked of the crawl that runs on it or read from its state.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// As to_json() of WhyFacts has it. kInvalid: it is no URL of a page.
base::Result<nlohmann::json> ask_why(env::FileSystem& files, const std::string& archive,
                                     const std::string& url);

}  // namespace meguri::app
