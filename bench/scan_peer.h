// What `bench scan` is measured against: FastWARC, reading the same files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace meguri::bench {

struct PeerReading {
  double documents = 0;
  double bytes = 0;        // of their contents
  double cpu_seconds = 0;  // of the loop alone
};

// One process reads all responses of the files, with their HTTP heads parsed and their contents
// read, and makes nothing of them. Nullopt: it is not there and cannot be installed.
base::Result<std::optional<PeerReading>> measure_fastwarc_reading(
    const std::string& version, const std::vector<std::string>& paths, const std::string& dir);

}  // namespace meguri::bench
