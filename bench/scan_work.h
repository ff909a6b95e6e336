// What `bench scan` measures: one scan of an archive, in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "scan/dispatcher.h"

namespace meguri::bench {

// Writes the list of all pages of an archive to `path`; how many there are.
base::Result<std::uint64_t> write_scan_list(const std::string& archive, const std::string& path);

struct ScanSetting {
  std::string archive;
  std::string list;
  std::string dir;  // a new folder for the run
  scan::DispatchMode mode = scan::DispatchMode::kPipelined;
  std::size_t workers = 1;
  std::uint64_t restart_after = 0;
  std::string burn;  // the argument of the analyser: "skewed", "poisoned" or "nothing"
};

struct ScanWorkerCost {
  double results = 0;
  double busy_share = 0;   // of the run's time, in which it had a document
  double cpu_seconds = 0;  // with its analyser
  double end_seconds = 0;  // when its last result came, since the start
  // Seconds since the start, and CPU seconds used up by then.
  std::vector<std::pair<double, double>> trace;
};

struct ScanCost {
  double results = 0;
  double skipped = 0;
  double failures = 0;  // of workers
  double restarts = 0;  // of workers, after so many documents
  double real_seconds = 0;
  double dispatcher_cpu_seconds = 0;
  double memory_mb = 0;         // of the dispatcher, at most
  double memory_growth_mb = 0;  // of that, since a tenth of the documents
  std::vector<ScanWorkerCost> workers;

  double worker_cpu_seconds() const;
  double least_busy_share() const;
  // How long after the first worker the last one ended, as a share of the run.
  double end_spread() const;
};

// Results go to a run's folder, as with `meguri scan -o`.
base::Result<ScanCost> measure_scan(const ScanSetting& setting);

}  // namespace meguri::bench
