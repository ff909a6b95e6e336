// The benchmarks, one file each, and the list of them all.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "bench/report.h"

namespace meguri::bench {

// What only `sat` takes; empty: as it is by itself.
struct SatOptions {
  std::string records;
  std::string unit;
  std::string fixed;
  std::string memory;
  std::string pool;
  std::string page;
  std::string stores;
  bool messages = false;
  bool growth = false;
};

struct Options {
  bool quick = false;   // the same on a smaller load, within a minute
  std::string dir;      // an empty folder to write in; removed afterwards
  std::string figures;  // a folder for them, of those that draw some; empty: none are drawn
  SatOptions sat;
};

base::Status run_archive(const Options& options, Report& report);
base::Status run_crawl(const Options& options, Report& report);
base::Status run_flow(const Options& options, Report& report);
base::Status run_hosts(const Options& options, Report& report);
base::Status run_revisits(const Options& options, Report& report);
base::Status run_sat(const Options& options, Report& report);
base::Status run_scan(const Options& options, Report& report);
base::Status run_scheduler(const Options& options, Report& report);
base::Status run_seen(const Options& options, Report& report);
base::Status run_virtual_web(const Options& options, Report& report);
base::Status run_web(const Options& options, Report& report);

struct Bench {
  const char* name;
  const char* summary;
  base::Status (*run)(const Options& options, Report& report);
};

// In the order in which `meguri bench list` shows them.
std::span<const Bench> benches();

}  // namespace meguri::bench
