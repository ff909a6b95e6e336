#include "base/time.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "base/text.h"

namespace meguri::base {

namespace {

constexpr std::int64_t kSecondMs = 1000;
constexpr std::int64_t kMinuteMs = 60 * kSecondMs;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr std::int64_t kWeekMs = 7 * kDayMs;

constexpr std::int64_t ms_of_day(std::chrono::year_month_day date) {
  return std::chrono::sys_days(date).time_since_epoch().count() * kDayMs;
}

constexpr std::int64_t kFirstMs = ms_of_day(std::chrono::year(0) / std::chrono::January / 1);
constexpr std::int64_t kLastMs = ms_of_day(std::chrono::year(10000) / std::chrono::January / 1) - 1;

// Longer durations are refused, so that adding one to any moment of those years stays in range.
constexpr std::int64_t kDurationMsMax = kLastMs - kFirstMs + 1;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes texts apart from the front. Every taker says whether it found what it wants.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  bool at_digit() const { return !rest_.empty() && is_digit(rest_.front()); }

  // Exactly `count` digits.
  bool take_number(std::size_t count, int* value) {
    if (rest_.size() < count) return false;
    int number = 0;
    for (const char c : rest_.substr(0, count)) {
      if (!is_digit(c)) return false;
      number = number * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    *value = number;
    return true;
  }

  bool take(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }

  // The character taken, if it is one of `set`; otherwise '\0'.
  char take_any(std::string_view set) {
    if (rest_.empty() || !set.contains(rest_.front())) return '\0';
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  // All digits at the front as a number; anything larger than `max` becomes `max`.
  bool take_digits(std::int64_t max, std::int64_t* value) {
    if (!at_digit()) return false;
    *value = 0;
    for (; at_digit(); rest_.remove_prefix(1)) {
      const int digit = rest_.front() - '0';
      *value = *value > (max - digit) / 10 ? max : *value * 10 + digit;
    }
    return true;
  }

  // All digits at the front as a fraction with `places` places; further digits are dropped.
  bool take_fraction(int places, std::int64_t* value) {
    if (!at_digit()) return false;
    *value = 0;
    for (int i = 0; i < places || at_digit(); ++i) {
      const int digit = at_digit() ? rest_.front() - '0' : 0;
      if (at_digit()) rest_.remove_prefix(1);
      if (i < places) *value = *value * 10 + digit;
    }
    return true;
  }

 private:
  std::string_view rest_;
};

// The parts of a moment as people write it.
struct Fields {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t ms = 0;
  int offset_minutes = 0;  // local time minus UTC
};

std::chrono::year_month_day date_of(const Fields& f) {
  return std::chrono::year(f.year) / std::chrono::month(static_cast<unsigned>(f.month)) /
         std::chrono::day(static_cast<unsigned>(f.day));
}

// Leap seconds come only at the end of the last UTC day of a month.
bool may_be_leap_second(std::int64_t minute_start_ms) {
  const auto next = std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::milliseconds(minute_start_ms + kMinuteMs));
  const auto day = std::chrono::floor<std::chrono::days>(next);
  return next == day && std::chrono::year_month_day(day).day() == std::chrono::day(1);
}

// The moment, or nullopt if there is none with these parts in the years 0000..9999.
std::optional<std::int64_t> ms_of(const Fields& f) {
  const auto date = date_of(f);
  if (!date.ok() || f.hour > 23 || f.minute > 59 || f.second > 60) return std::nullopt;
  const std::int64_t minute_start =
      ms_of_day(date) + f.hour * kHourMs + (f.minute - f.offset_minutes) * kMinuteMs;
  std::int64_t ms = minute_start + f.second * kSecondMs + f.ms;
  if (f.second == 60) {
    if (!may_be_leap_second(minute_start)) return std::nullopt;
    ms = minute_start + kMinuteMs - 1;
  }
  if (ms < kFirstMs || ms > kLastMs) return std::nullopt;
  return ms;
}

bool take_date_and_time(Reader* in, Fields* f) {
  return in->take_number(4, &f->year) && in->take("-") && in->take_number(2, &f->month) &&
         in->take("-") && in->take_number(2, &f->day) && in->take_any("Tt ") != '\0' &&
         in->take_number(2, &f->hour) && in->take(":") && in->take_number(2, &f->minute) &&
         in->take(":") && in->take_number(2, &f->second);
}

bool take_offset(Reader* in, Fields* f) {
  if (in->take_any("Zz") != '\0') return true;
  const char sign = in->take_any("+-");
  int hours = 0;
  int minutes = 0;
  if (sign == '\0' || !in->take_number(2, &hours) || !in->take(":") ||
      !in->take_number(2, &minutes) || hours > 23 || minutes > 59) {
    return false;
  }
  f->offset_minutes = (hours * 60 + minutes) * (sign == '-' ? -1 : 1);
  return true;
}

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

// "ms" stands before "m" because the first match is taken.
constexpr std::array kUnits = {Unit{"ms", 1},      Unit{"w", kWeekMs},   Unit{"d", kDayMs},
                               Unit{"h", kHourMs}, Unit{"m", kMinuteMs}, Unit{"s", kSecondMs}};

std::optional<std::int64_t> take_unit(Reader* in) {
  for (const Unit& unit : kUnits) {
    if (in->take(unit.name)) return unit.ms;
  }
  return std::nullopt;
}

enum class Part : std::uint8_t { kTaken, kMalformed, kTooLong };

// One number with its unit. A number without a unit counts seconds and must stand alone.
Part take_part(Reader* in, bool is_first, std::int64_t* unit_ms, std::int64_t* total_ms) {
  constexpr int kPlaces = 9;
  constexpr std::int64_t kScale = 1'000'000'000;
  std::int64_t whole = 0;
  std::int64_t fraction = 0;
  if (!in->take_digits(kDurationMsMax + 1, &whole)) return Part::kMalformed;
  if (in->take(".") && !in->take_fraction(kPlaces, &fraction)) return Part::kMalformed;
  const bool has_no_unit = is_first && in->empty();
  const auto unit = has_no_unit ? std::optional(kSecondMs) : take_unit(in);
  if (!unit || *unit >= *unit_ms) return Part::kMalformed;  // units must shrink: "1h30m"
  *unit_ms = *unit;
  if (whole > kDurationMsMax / *unit) return Part::kTooLong;
  *total_ms += whole * *unit + fraction * *unit / kScale;
  return *total_ms > kDurationMsMax ? Part::kTooLong : Part::kTaken;
}

void put_digits(std::int64_t value, std::size_t count, char* out) {
  for (std::size_t i = count; i > 0; --i) {
    out[i - 1] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// The 17 digits of a moment; moments outside the years 0000..9999 become the nearest inside.
std::array<char, 17> digits_of(std::int64_t ms) {
  const auto time = std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::milliseconds(std::clamp(ms, kFirstMs, kLastMs)));
  const auto midnight = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(midnight);
  const std::int64_t in_day = (time - midnight).count();
  std::array<char, 17> out{};
  put_digits(static_cast<int>(date.year()), 4, &out[0]);
  put_digits(static_cast<unsigned>(date.month()), 2, &out[4]);
  put_digits(static_cast<unsigned>(date.day()), 2, &out[6]);
  put_digits(in_day / kHourMs, 2, &out[8]);
  put_digits(in_day / kMinuteMs % 60, 2, &out[10]);
  put_digits(in_day / kSecondMs % 60, 2, &out[12]);
  put_digits(in_day % kSecondMs, 3, &out[14]);
  return out;
}

// "4h10m" of a length of 4 * large + 10 * small; "4h" if nothing of `small` is left.
std::string two_units(std::uint64_t ms, const Unit& large, const Unit& small) {
  const auto large_ms = static_cast<std::uint64_t>(large.ms);
  const std::uint64_t rest = ms % large_ms / static_cast<std::uint64_t>(small.ms);
  if (rest == 0) return fmt::format("{}{}", ms / large_ms, large.name);
  return fmt::format("{}{}{:02}{}", ms / large_ms, large.name, rest, small.name);
}

std::string length_to_string(std::uint64_t ms) {
  if (ms == 0) return "0s";
  if (ms < kSecondMs) return fmt::format("{}ms", ms);
  if (ms < kMinuteMs) {
    const std::uint64_t tenths = ms / 100 % 10;
    return tenths == 0 ? fmt::format("{}s", ms / 1000) : fmt::format("{}.{}s", ms / 1000, tenths);
  }
  if (ms < kHourMs) return two_units(ms, {"m", kMinuteMs}, {"s", kSecondMs});
  if (ms < kDayMs) return two_units(ms, {"h", kHourMs}, {"m", kMinuteMs});
  return two_units(ms, {"d", kDayMs}, {"h", kHourMs});
}

}  // namespace

Result<Duration> Duration::parse(std::string_view text) {
  Reader in(text);
  std::int64_t total_ms = 0;
  std::int64_t unit_ms = std::numeric_limits<std::int64_t>::max();
  bool is_first = true;
  do {
    switch (take_part(&in, is_first, &unit_ms, &total_ms)) {
      case Part::kTaken: break;
      case Part::kTooLong:
        return fail(ErrorCode::kInvalid, "{} is longer than 10,000 years", quoted(text));
      case Part::kMalformed:
        return fail(ErrorCode::kInvalid, "{} is not a duration such as 90, 250ms, 1.5s or 1h30m",
                    quoted(text));
    }
    is_first = false;
  } while (!in.empty());
  return Duration(total_ms);
}

std::string Duration::to_string() const {
  // Negation in unsigned arithmetic, because the smallest value has no positive twin.
  if (ms_ < 0) return "-" + length_to_string(0 - static_cast<std::uint64_t>(ms_));
  return length_to_string(static_cast<std::uint64_t>(ms_));
}

Result<Instant> Instant::parse_rfc3339(std::string_view text) {
  Reader in(text);
  Fields fields;
  const bool is_well_formed = take_date_and_time(&in, &fields) &&
                              (!in.take(".") || in.take_fraction(3, &fields.ms)) &&
                              take_offset(&in, &fields) && in.empty();
  const auto ms = is_well_formed ? ms_of(fields) : std::nullopt;
  if (!ms) {
    return fail(ErrorCode::kInvalid, "{} is not a time such as 2026-11-15T08:09:10Z", quoted(text));
  }
  return Instant(*ms);
}

Result<Instant> Instant::parse_digits(std::string_view text) {
  Reader in(text);
  Fields f;
  const bool is_well_formed =
      in.take_number(4, &f.year) && in.take_number(2, &f.month) && in.take_number(2, &f.day) &&
      in.take_number(2, &f.hour) && in.take_number(2, &f.minute) && in.take_number(2, &f.second) &&
      (in.empty() || (text.size() == 17 && in.take_fraction(3, &f.ms))) && in.empty();
  const auto ms = is_well_formed ? ms_of(f) : std::nullopt;
  if (!ms) {
    return fail(ErrorCode::kInvalid, "{} is not a time of 14 digits such as 20261115080910",
                quoted(text));
  }
  return Instant(*ms);
}

std::string Instant::to_rfc3339() const {
  std::string text = to_rfc3339_ms();
  if (text.ends_with(".000Z")) text.replace(text.size() - 5, 5, "Z");
  return text;
}

std::string Instant::to_rfc3339_ms() const {
  const std::array<char, 17> digits = digits_of(ms_);
  std::string out = "0000-00-00T00:00:00.000Z";
  std::size_t next = 0;
  for (char& c : out) {
    if (c == '0') c = digits.at(next++);
  }
  return out;
}

std::string Instant::to_digits() const {
  const std::array<char, 17> digits = digits_of(ms_);
  return {digits.data(), 14};
}

std::string Instant::to_digits_ms() const {
  const std::array<char, 17> digits = digits_of(ms_);
  return {digits.data(), digits.size()};
}

}  // namespace meguri::base
