// What `bench archive` measures of snapshots: a temporal index of many entries, and walks over it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace meguri::bench {

// Fills the index of a new archive in folder `archive` as a crawl does: rounds over pages of the
// virtual web, each in an order without any sense, a page with two to ten visits, most of which
// find it unchanged. In a child.
struct IndexCost {
  double cpu_seconds = 0;   // of all threads, drawing the entries included
  double real_seconds = 0;  // with its compactions
  double disk_mb = 0;
};
base::Result<IndexCost> make_index(const std::string& archive, std::uint64_t entries);

enum class Walk : std::uint8_t {
  kAt,      // a snapshot of a moment in the middle
  kDuring,  // of a day there, by the default relation
  kBare,    // RocksDB's iterator by itself, from the first key to the last
};

struct WalkCost {
  std::uint64_t entries = 0;  // of the index
  std::uint64_t items = 0;    // of the snapshot
  double cpu_seconds = 0;     // of the threads that walk
  double real_seconds = 0;
  double peak_mb = 0;  // of the process

  double rate() const { return static_cast<double>(entries) / cpu_seconds; }
  double us() const { return cpu_seconds * 1e6 / static_cast<double>(entries); }
};

// In a child, with the files in the page cache. A bare walk has one thread.
base::Result<WalkCost> measure_walk(const std::string& archive, std::uint64_t entries, Walk walk,
                                    std::size_t threads);

}  // namespace meguri::bench
