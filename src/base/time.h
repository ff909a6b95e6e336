// Instant and Duration: UTC milliseconds since 1970 and their differences; Ticks: the monotonic
// clock. Nothing here reads a clock: env::Clock does.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"

namespace meguri::base {

// A signed length of time in milliseconds.
class Duration {
 public:
  constexpr Duration() = default;

  static constexpr Duration from_ms(std::int64_t ms) { return Duration(ms); }
  static constexpr Duration seconds(std::int64_t n) { return Duration(n * 1000); }
  static constexpr Duration minutes(std::int64_t n) { return Duration(n * 60'000); }
  static constexpr Duration hours(std::int64_t n) { return Duration(n * 3'600'000); }
  static constexpr Duration days(std::int64_t n) { return Duration(n * 86'400'000); }
  static constexpr Duration max() { return Duration(std::numeric_limits<std::int64_t>::max()); }

  // "90" (seconds), "250ms", "1.5s", "10m", "3h", "7d", "2w"; units may follow each other, the
  // larger first: "1h30m". Not negative, at most 10,000 years.
  static Result<Duration> parse(std::string_view text);

  constexpr std::int64_t ms() const { return ms_; }
  constexpr double in_seconds() const { return static_cast<double>(ms_) / 1000.0; }

  // For people, at most two units, the rest dropped: "3.1s", "2m05s", "4h10m", "12d03h".
  std::string to_string() const;

  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) { return Duration(a.ms_ + b.ms_); }
  friend constexpr Duration operator-(Duration a, Duration b) { return Duration(a.ms_ - b.ms_); }
  friend constexpr Duration operator*(Duration a, std::int64_t n) { return Duration(a.ms_ * n); }
  friend constexpr Duration operator/(Duration a, std::int64_t n) { return Duration(a.ms_ / n); }

 private:
  explicit constexpr Duration(std::int64_t ms) : ms_(ms) {}
  std::int64_t ms_ = 0;
};

// A moment of UTC. Parses years 0000..9999; moments outside are written as the nearest one inside.
class Instant {
 public:
  constexpr Instant() = default;

  static constexpr Instant from_ms(std::int64_t ms_since_1970) { return Instant(ms_since_1970); }
  static constexpr Instant max() { return Instant(std::numeric_limits<std::int64_t>::max()); }

  // RFC 3339: "2026-11-15T08:09:10Z", fractions of a second (kept to milliseconds), numeric
  // offsets. A leap second is read as the last millisecond before it.
  static Result<Instant> parse_rfc3339(std::string_view text);

  // The archive world's 14 digits, "20261115080910", or 17 with milliseconds. Exactly that many.
  static Result<Instant> parse_digits(std::string_view text);

  constexpr std::int64_t ms() const { return ms_; }

  std::string to_rfc3339() const;     // "2026-11-15T08:09:10Z"; ".123" before Z when not zero
  std::string to_rfc3339_ms() const;  // "2026-11-15T08:09:10.123Z" always
  std::string to_digits() const;      // "20261115080910"; milliseconds are dropped
  std::string to_digits_ms() const;   // "20261115080910123"

  friend constexpr auto operator<=>(Instant, Instant) = default;
  friend constexpr Instant operator+(Instant t, Duration d) { return Instant(t.ms_ + d.ms()); }
  friend constexpr Instant operator-(Instant t, Duration d) { return Instant(t.ms_ - d.ms()); }
  friend constexpr Duration operator-(Instant a, Instant b) {
    return Duration::from_ms(a.ms_ - b.ms_);
  }

 private:
  explicit constexpr Instant(std::int64_t ms) : ms_(ms) {}
  std::int64_t ms_ = 0;
};

// A moment of the monotonic clock: never goes back, says nothing of the date, means nothing after
// a restart. Waits and delays are measured with it.
class Ticks {
 public:
  constexpr Ticks() = default;

  static constexpr Ticks from_ms(std::int64_t ms) { return Ticks(ms); }
  static constexpr Ticks never() { return Ticks(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t ms() const { return ms_; }

  friend constexpr auto operator<=>(Ticks, Ticks) = default;
  friend constexpr Ticks operator+(Ticks t, Duration d) { return Ticks(t.ms_ + d.ms()); }
  friend constexpr Duration operator-(Ticks a, Ticks b) { return Duration::from_ms(a.ms_ - b.ms_); }

 private:
  explicit constexpr Ticks(std::int64_t ms) : ms_(ms) {}
  std::int64_t ms_ = 0;
};

}  // namespace meguri::base
