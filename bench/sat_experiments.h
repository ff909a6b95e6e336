// What is measured for the figures of papers 003 and 000.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/sat_figures.h"
#include "bench/sat_load.h"
#include "bench/sat_run.h"

namespace meguri::bench {

// How many records each experiment has.
struct SatScale {
  std::uint32_t drawn_records = 0;   // where periods are only counted
  std::uint32_t hours_records = 0;   // time by hour
  std::uint32_t tree_hours = 0;      // of the B-trees there
  std::uint32_t pools_records = 0;   // time by pool
  std::uint32_t length_records = 0;  // size and throughput by record length
  std::uint32_t length_hours = 0;
  std::uint32_t units_records = 0;  // time by unit and pool
  std::uint32_t units_hours = 0;
  std::uint64_t pool_bytes = 0;      // where it stays the same
  std::vector<std::uint64_t> pools;  // where it does not, rising
  std::vector<std::uint64_t> units_pools;

  static SatScale full();   // at most 25 minutes
  static SatScale quick();  // about a minute
};

// Runs all of them, one store at a time, and says on standard error how far it is. Needs the disk
// for one store. One thread.
class SatExperiments {
 public:
  // `dir` is empty.
  SatExperiments(std::string dir, SatScale scale) : dir_(std::move(dir)), scale_(scale) {}

  base::Status run();
  const std::vector<SatFigure>& figures() const { return figures_; }

 private:
  // One point.
  struct Run {
    const char* store;
    std::uint64_t pool_bytes;
    std::size_t page_bytes;  // 0: as the store has it by itself
  };
  // A series.
  struct Variant {
    const char* store;
    std::size_t page_bytes;
    const char* name;
  };

  void add_composition();
  void add_rates();
  base::Status add_hours();
  base::Status add_pools(SatUnit unit);
  void add_pages();
  base::Status add_lengths();
  base::Status add_units();

  base::Result<SatLoaded> load(const Run& run, const SatLoad& load);
  base::Result<SatCost> measure(const Run& run, const SatLoad& load);
  void clear();
  // Loads a store once, and adds a series for each variant that can run it, by pool.
  base::Status add_by_pool(const std::vector<Variant>& variants, const SatLoad& load,
                           const std::vector<std::uint64_t>& pools, Plot* plot);
  SatSetting setting(const Run& run, const SatLoad& load) const;

  const std::string dir_;
  const SatScale scale_;
  double hourly_tree_us_ = 0;
  std::vector<PlotSeries> by_pages_;  // gathered on the way
  std::vector<SatFigure> figures_;
};

}  // namespace meguri::bench
