#include "env/clock.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace meguri::env {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

// A wait is never longer than this, so that adding it to any clock stays in range. Callers loop on
// their condition anyway.
constexpr double kRealNsMax = 365.0 * 86'400.0 * 1e9;

// 292 years, so that nanoseconds() of a virtual clock stays in range. Ticks::never() is not a time
// to advance to.
constexpr std::int64_t kVirtualMsMax = std::numeric_limits<std::int64_t>::max() / kNsPerMs;

std::chrono::nanoseconds real_ns(base::Duration duration, double speed) {
  const double ns = static_cast<double>(duration.ms()) * static_cast<double>(kNsPerMs) / speed;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(ns, 0.0, kRealNsMax)));
}

}  // namespace

base::Instant RealClock::utc() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return base::Instant::from_ms(std::chrono::floor<std::chrono::milliseconds>(now).count());
}

base::Ticks RealClock::ticks() const { return base::Ticks::from_ms(nanoseconds() / kNsPerMs); }

std::int64_t RealClock::nanoseconds() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::chrono::nanoseconds RealClock::real_time(base::Duration duration) const {
  return real_ns(duration, 1.0);
}

ScaledClock::ScaledClock(double speed)
    : speed_(speed), start_utc_(real_.utc()), start_ns_(real_.nanoseconds()) {
  CHECK(speed > 0, "the speed of a clock must be positive, not {}", speed);
}

ScaledClock::ScaledClock(double speed, base::Instant origin) : ScaledClock(speed) {
  CHECK(origin <= start_utc_, "a clock cannot have its origin in the future");
  const auto passed = static_cast<double>((start_utc_ - origin).ms()) * speed;
  start_utc_ = origin + base::Duration::from_ms(static_cast<std::int64_t>(passed));
}
std::int64_t ScaledClock::scaled_ns() const {
  // Stops after 292 scaled years instead of overflowing.
  constexpr double kNsMax = 9.2e18;
  const auto real = static_cast<double>(real_.nanoseconds() - start_ns_);
  return static_cast<std::int64_t>(std::min(real * speed_, kNsMax));
}

base::Instant ScaledClock::utc() const {
  return start_utc_ + base::Duration::from_ms(scaled_ns() / kNsPerMs);
}

base::Ticks ScaledClock::ticks() const { return base::Ticks::from_ms(scaled_ns() / kNsPerMs); }

std::int64_t ScaledClock::nanoseconds() const { return real_.nanoseconds(); }

std::chrono::nanoseconds ScaledClock::real_time(base::Duration duration) const {
  return real_ns(duration, speed_);
}

VirtualClock::VirtualClock(base::Instant start) : utc_offset_ms_(start.ms()) {}

base::Instant VirtualClock::utc() const {
  return base::Instant::from_ms(ticks_ms_.load() + utc_offset_ms_.load());
}

base::Ticks VirtualClock::ticks() const { return base::Ticks::from_ms(ticks_ms_.load()); }

std::int64_t VirtualClock::nanoseconds() const { return ticks_ms_.load() * kNsPerMs; }

std::chrono::nanoseconds VirtualClock::real_time(base::Duration /*duration*/) const {
  return std::chrono::nanoseconds(0);  // sleeping does not make this clock go
}

void VirtualClock::advance(base::Duration duration) {
  CHECK(duration >= base::Duration(), "a virtual clock cannot go back by {}", duration.to_string());
  CHECK(duration.ms() <= kVirtualMsMax, "a virtual clock cannot advance by {}",
        duration.to_string());
  advance_to(ticks() + duration);
}

void VirtualClock::advance_to(base::Ticks time) {
  CHECK(time.ms() <= kVirtualMsMax, "a virtual clock cannot advance to {} ms", time.ms());
  if (time > ticks()) ticks_ms_.store(time.ms());
}

void VirtualClock::jump_utc(base::Duration duration) { utc_offset_ms_.fetch_add(duration.ms()); }

}  // namespace meguri::env
