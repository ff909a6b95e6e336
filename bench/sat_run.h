// Runs one store over the load of `meguri bench sat`, in processes of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bench/sat_load.h"
#include "bench/sat_stores.h"

namespace meguri::bench {

// Of all steps together.
struct SatCost {
  std::uint64_t updates = 0;
  std::uint64_t messages = 0;
  double seconds = 0;        // real
  double cpu_seconds = 0;    // of all threads
  double worst_step_us = 0;  // per record
  double read_bytes = 0;     // from and to the disk, as the system counts for the process
  double written_bytes = 0;
  double disk_bytes = 0;  // what the store takes after loading
  double load_seconds = 0;
  double peak_mb = 0;
  double files_dropped = 0;  // times that the page cache held more than the limit

  double us(double total) const { return total * 1e6 / static_cast<double>(updates); }
};

enum class SatStart : std::uint8_t { kCold, kCached };

// Loads the store, drops its files from the page cache (unless kCached) and measures all steps.
// kCold also keeps the store within setting.memory_bytes, process and page cache together: after a
// step that ends above it, the store's files are synced, which counts, and dropped, which does not.
base::Result<SatCost> measure_sat(std::string_view name, const SatSetting& setting,
                                  const SatLoad& load, SatStart start);

// Seconds to read so many bytes once and write them once, front to back, synced, from a cold start.
struct SequentialCost {
  double read_seconds = 0;
  double write_seconds = 0;
};
base::Result<SequentialCost> measure_sequential(const std::string& dir, std::uint64_t bytes);

}  // namespace meguri::bench
