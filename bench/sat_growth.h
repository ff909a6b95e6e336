// How the cost of a record grows with their number.
#pragma once

#include "base/result.h"
#include "bench/report.h"
#include "bench/sat_plan.h"

namespace meguri::bench {

// The state store with 1 to 100 million records (up to --records) under the load and in the memory
// of the plan: what a record costs, and how long the store takes to open after a kill.
base::Status measure_sat_growth(const Options& options, const SatPlan& plan, Report& report);

}  // namespace meguri::bench
