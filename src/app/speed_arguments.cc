#include "app/speed_arguments.h"

#include "app/values.h"

namespace meguri::app {
namespace {

constexpr double kSpeedMax = 1e6;

}  // namespace

void SpeedArguments::declare(Options options) {
  options.option("--speed", "X", speed_, "The clock runs X times as fast (default: 1)");
  options.option("--clock-origin", "TIME", origin_,
                 "It has run so since then; programs of one speed and origin agree (default: now)");
}

base::Result<std::unique_ptr<env::Clock>> SpeedArguments::make() const {
  const base::Instant now = env::RealClock().utc();
  double speed = 1;
  if (!speed_.empty()) {
    ASSIGN_OR_RETURN(speed, parse_number("--speed", speed_));
    if (!(speed > 0 && speed <= kSpeedMax)) {
      return base::fail(base::ErrorCode::kInvalid, "--speed takes more than 0 and at most {}",
                        kSpeedMax);
    }
  }
  base::Instant origin = now;
  if (!origin_.empty()) {
    ASSIGN_OR_RETURN(origin, parse_time("--clock-origin", origin_, now));
    if (origin > now) {
      return base::fail(base::ErrorCode::kInvalid, "--clock-origin takes a time that has come");
    }
  }
  return std::make_unique<env::ScaledClock>(speed, origin);
}

}  // namespace meguri::app
