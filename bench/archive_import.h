// What `bench archive` measures of importing: WARC files into an index, against FastWARC.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace meguri::bench {

struct ImportCost {
  double visits = 0;        // entries that were made, or records that were looked at
  double cpu_seconds = 0;   // of all threads or processes, without their start
  double real_seconds = 0;  // likewise
  double peak_mb = 0;
};

// Imports the files into the index of a new archive in folder `archive` and flushes it, as `meguri
// import` does, with a thread for each core. In a child.
base::Result<ImportCost> measure_import(const std::vector<std::string>& paths,
                                        const std::string& archive);

// The last that is C++ and uses zlib, and one that is Rust and uses zlib-rs.
inline constexpr std::array<const char*, 2> kFastWarcVersions = {"0.16.0", "1.1.0"};

// A Python that has this version of FastWARC, installed if need be; empty: it cannot be had.
std::string python_with_fastwarc(const std::string& version);

// FastWARC's iterator over the same files, with a process for each core: records that may be of a
// visit, with their HTTP heads parsed, are counted; nothing is made of them. Nullopt: it is not
// there and cannot be installed.
base::Result<std::optional<ImportCost>> measure_fastwarc(const std::string& version,
                                                         const std::vector<std::string>& paths,
                                                         const std::string& dir);

}  // namespace meguri::bench
