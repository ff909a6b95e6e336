// Runs one store over the load of `meguri bench sat`, in processes of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/sat_load.h"
#include "bench/sat_stores.h"

namespace meguri::bench {

// What one step took, with what the system held back.
struct SatStepCost {
  std::uint64_t updates = 0;
  double seconds = 0;

  double us() const {
    return seconds * 1e6 / static_cast<double>(std::max<std::uint64_t>(updates, 1));
  }
};

// Of all steps together.
struct SatCost {
  std::uint64_t updates = 0;
  std::uint64_t messages = 0;
  double seconds = 0;      // real
  double cpu_seconds = 0;  // of all threads
  double read_bytes = 0;   // from and to the disk, as the system counts for the process
  double written_bytes = 0;
  double disk_bytes = 0;  // what the store takes after loading
  double load_seconds = 0;
  double peak_mb = 0;
  bool is_limited = false;     // by a control group
  double group_peak_mb = 0;    // what this had, with files' pages in the cache; 0: not known
  double restart_seconds = 0;  // from a kill after the last step, with nothing in the page cache
  double files_dropped = 0;    // times that the page cache held more than the limit
  std::vector<SatStepCost> steps;

  double us(double total) const { return total * 1e6 / static_cast<double>(updates); }
  double us() const { return us(seconds); }
  double median_step_us() const;
  double worst_step_us() const;
};

enum class SatStart : std::uint8_t { kCold, kCached };

// What loading a store took, and takes on disk.
struct SatLoaded {
  double seconds = 0;
  double disk_bytes = 0;
};
base::Result<SatLoaded> load_sat_store(std::string_view name, const SatSetting& setting,
                                       const SatLoad& load);

// Drops the files of a store that was loaded from the page cache (unless kCached) and measures all
// steps. In kCold an hour or a day goes by between two steps, as it would, in which the system
// writes everything: so what it holds back after a step is written, which counts; every store's
// pages alike, and without a sync for each of its files. kCold also keeps the store within
// setting.memory_bytes, process and page cache together: by a control group if that can be had. If
// not, then after a step that ends above it the store's files are dropped, which does not count.
base::Result<SatCost> run_sat_store(std::string_view name, const SatSetting& setting,
                                    const SatLoad& load, SatStart start);

// Both, after which the store is gone.
base::Result<SatCost> measure_sat(std::string_view name, const SatSetting& setting,
                                  const SatLoad& load, SatStart start);

// Seconds to read so many bytes once and write them once, front to back, synced, from a cold start.
struct SequentialCost {
  double read_seconds = 0;
  double write_seconds = 0;
};
base::Result<SequentialCost> measure_sequential(const std::string& dir, std::uint64_t bytes);

}  // namespace meguri::bench
