// What `meguri bench sat` was asked to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/benches.h"
#include "bench/sat_load.h"
#include "bench/sat_stores.h"

namespace meguri::bench {

inline constexpr std::uint32_t kSatRecords = 17'496'056;  // as the papers have

struct SatPlan {
  std::uint32_t records = kSatRecords;
  std::uint32_t steps = 36;
  std::size_t fixed_bytes = 100;
  SatUnit unit = SatUnit::kHour;
  std::uint64_t memory_bytes = std::uint64_t{768} << 20U;
  std::uint64_t pool_bytes = std::uint64_t{32} << 20U;
  std::size_t page_bytes = 0;  // of ours; 0: as a store has it by itself
  std::vector<std::string> stores;

  SatLoad load() const { return load(unit); }
  SatLoad load(SatUnit other) const { return {records, fixed_bytes, other, steps}; }
  // `dir` is the benchmark's, in which the store gets one of its own.
  SatSetting setting(const std::string& dir, const std::string& store) const;
};

// kInvalid: an option is none.
base::Result<SatPlan> make_sat_plan(const Options& options);

// Whether a store is somebody else's.
bool is_sat_peer(std::string_view store);

// Bytes: "4096", "64K", "768M" or "2G". kInvalid: it is nothing of these, or zero.
base::Result<std::uint64_t> parse_size(std::string_view text);

}  // namespace meguri::bench
