// Clock: the only door to time. Real, scaled (for the virtual web), and virtual (simulation).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/time.h"

namespace meguri::env {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual base::Instant utc() const = 0;
  virtual base::Ticks ticks() const = 0;

  // Nanoseconds of a monotonic clock, for measuring how long a piece of our own work took: real
  // ones, also where the clock is scaled.
  virtual std::int64_t nanoseconds() const = 0;

  // How long a thread must really sleep for `duration` of this clock to pass.
  virtual std::chrono::nanoseconds real_time(base::Duration duration) const = 0;
};

class RealClock final : public Clock {
 public:
  base::Instant utc() const override;
  base::Ticks ticks() const override;
  std::int64_t nanoseconds() const override;
  std::chrono::nanoseconds real_time(base::Duration duration) const override;
};

// The real clock, running `speed` times as fast from the moment it is made.
class ScaledClock final : public Clock {
 public:
  explicit ScaledClock(double speed);  // requires speed > 0
  // Agrees with every other clock of this speed and origin, in any process: it is as if it had run
  // fast since `origin`, a moment of real time. Requires an origin that has come.
  ScaledClock(double speed, base::Instant origin);

  base::Instant utc() const override;
  base::Ticks ticks() const override;
  std::int64_t nanoseconds() const override;
  std::chrono::nanoseconds real_time(base::Duration duration) const override;

 private:
  std::int64_t scaled_ns() const;  // since the start, scaled

  RealClock real_;
  double speed_;
  base::Instant start_utc_;
  std::int64_t start_ns_;
};

// Stands still until advanced. One thread advances, any may read.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(base::Instant start = base::Instant::from_ms(1'767'225'600'000));  // 2026

  base::Instant utc() const override;
  base::Ticks ticks() const override;
  std::int64_t nanoseconds() const override;
  std::chrono::nanoseconds real_time(base::Duration duration) const override;

  void advance(base::Duration duration);   // both clocks; never back
  void advance_to(base::Ticks time);       // nothing happens if `time` has passed
  void jump_utc(base::Duration duration);  // only UTC, forwards or back, as an operator might

 private:
  std::atomic<std::int64_t> ticks_ms_{0};
  std::atomic<std::int64_t> utc_offset_ms_;  // utc = ticks + offset
};

}  // namespace meguri::env
