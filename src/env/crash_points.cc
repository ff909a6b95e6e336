#include "env/crash_points.h"

#include "base/check.h"
#include "base/hash.h"

namespace meguri::env {

std::uint64_t for_each_crash_point(
    const CrashPlan& plan, const std::function<void(FaultyFileSystem&)>& setup,
    const std::function<void(FaultyFileSystem&)>& workload,
    const std::function<void(FaultyFileSystem&, CrashPoint)>& check) {
  CHECK(plan.outcomes > 0);
  constexpr std::uint64_t kChangesMax = 1'000'000;
  for (std::uint64_t change = 0; change < kChangesMax; ++change) {
    bool was_cut = true;
    for (std::uint64_t outcome = 0; outcome < plan.outcomes; ++outcome) {
      Random random(base::mix64(plan.seed) ^ base::mix64(change * plan.outcomes + outcome));
      FaultyFileSystem fs(random.next());
      setup(fs);
      fs.cut_power_after(change);
      workload(fs);
      was_cut = fs.power_is_off();
      fs.crash(outcome == 0 ? nullptr : &random);
      check(fs, {change, outcome, was_cut});
    }
    if (!was_cut) return change;
  }
  CHECK(false, "a workload of more than {} changes never ends", kChangesMax);
  return 0;
}

}  // namespace meguri::env
