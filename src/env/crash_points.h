// Crash at every write: runs a workload again and again with the power cut at each of its changes,
// and checks what is there afterwards.
#pragma once

#include <cstdint>
#include <functional>

#include "env/faulty_file_system.h"

namespace meguri::env {

// Which run it is. The same plan and point give the same run again.
struct CrashPoint {
  std::uint64_t change = 0;   // the change of the workload during which the power went
  std::uint64_t outcome = 0;  // 0: all that was not synced is lost; above: chance decides
  bool was_cut = false;       // false: the workload ran to its end and the power went afterwards
};

struct CrashPlan {
  std::uint64_t seed = 1;
  std::uint64_t outcomes = 4;  // runs for each change
};

// For every change `workload` makes: a new disk, `setup` without faults, `workload` with the power
// cut at that change, the crash, then `check`. `workload` stops at its first error and notes
// outside what was acknowledged to it; `check` opens everything again and compares. Whatever
// `setup` or `workload` opened must be gone when they return. Returns how many changes the workload
// has.
//
//   for_each_crash_point({}, [&](FaultyFileSystem& fs) { acknowledged.clear(); ... },
//                        [&](FaultyFileSystem& fs) { write_all(fs, &acknowledged); },
//                        [&](FaultyFileSystem& fs, CrashPoint point) {
//                          SCOPED_TRACE(point.change);
//                          ...
//                        });
std::uint64_t for_each_crash_point(const CrashPlan& plan,
                                   const std::function<void(FaultyFileSystem&)>& setup,
                                   const std::function<void(FaultyFileSystem&)>& workload,
                                   const std::function<void(FaultyFileSystem&, CrashPoint)>& check);

}  // namespace meguri::env
