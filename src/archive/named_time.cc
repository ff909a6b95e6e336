#include "archive/named_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/text.h"
#include "web/ascii.h"

namespace meguri::archive {

namespace {

using base::Duration;
using base::ErrorCode;
using base::Instant;

constexpr std::string_view kAgo = " ago";
constexpr std::string_view kFirst = "00000101000000000";  // what is left out of the digits
constexpr std::array<std::size_t, 7> kSizes = {4, 6, 8, 10, 12, 14, 17};

TimeSpan millisecond_of(Instant time) { return {time, time + Duration::from_ms(1)}; }

// The first moment of the next month or year.
Instant next_month(Instant begin, unsigned months) {
  using namespace std::chrono;
  const sys_days day = floor<days>(sys_time<milliseconds>(milliseconds(begin.ms())));
  const year_month_day next = year_month_day(day) + std::chrono::months(months);
  return Instant::from_ms(milliseconds(sys_days(next).time_since_epoch()).count());
}

// From the first moment that so many digits name.
TimeSpan period_of(Instant begin, std::size_t digits) {
  switch (digits) {
    case 4: return {begin, next_month(begin, 12)};
    case 6: return {begin, next_month(begin, 1)};
    case 8: return {begin, begin + Duration::days(1)};
    case 10: return {begin, begin + Duration::hours(1)};
    case 12: return {begin, begin + Duration::minutes(1)};
    case 14: return {begin, begin + Duration::seconds(1)};
    default: return millisecond_of(begin);
  }
}

std::optional<TimeSpan> parse_digits(std::string_view text) {
  const bool is_size = std::ranges::find(kSizes, text.size()) != kSizes.end();
  if (!is_size || !std::ranges::all_of(text, web::is_digit)) return std::nullopt;
  const std::string whole = std::string(text) + std::string(kFirst.substr(text.size()));
  const auto begin = Instant::parse_digits(std::string_view(whole).substr(0, 14));
  if (!begin) return std::nullopt;
  int ms = 0;
  for (const char c : whole.substr(14)) ms = ms * 10 + (c - '0');
  return period_of(*begin + Duration::from_ms(ms), text.size());
}

// "2026-11-16T08:09" and shorter ones, which are digits with signs between them.
std::optional<TimeSpan> parse_short_form(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.ends_with('Z') && text.size() > 1) text.remove_suffix(1);
  if (text.size() > kForm.size()) return std::nullopt;
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kForm[i] == '0') {
      digits += text[i];
    } else if (text[i] != kForm[i] && !(kForm[i] == 'T' && text[i] == ' ')) {
      return std::nullopt;
    }
  }
  // A sign at the end would be lost.
  if (text.empty() || !web::is_digit(text.back())) return std::nullopt;
  return parse_digits(digits);
}

std::optional<TimeSpan> parse_rfc3339(std::string_view text) {
  const auto time = Instant::parse_rfc3339(text);
  if (!time) return std::nullopt;
  const bool has_fraction = text.find('.') != std::string_view::npos;
  return has_fraction ? millisecond_of(*time) : TimeSpan{*time, *time + Duration::seconds(1)};
}

}  // namespace

base::Result<TimeSpan> parse_named_time(std::string_view text, Instant now) {
  if (text == "now") return millisecond_of(now);
  if (text.ends_with(kAgo)) {
    const std::string_view time = text.substr(0, text.size() - kAgo.size());
    const bool has_unit = !time.empty() && !web::is_digit(time.back());
    const auto ago = Duration::parse(time);
    if (has_unit && ago && *ago >= Duration() && *ago <= now - Instant())
      return millisecond_of(now - *ago);
  }
  if (const auto period = parse_digits(text)) return *period;
  if (const auto period = parse_short_form(text)) return *period;
  if (const auto period = parse_rfc3339(text)) return *period;
  return base::fail(ErrorCode::kInvalid,
                    "{} names no time; write 2026-11-16T08:09:10Z or less of it, 20261116080910 or "
                    "less of it, now, or 7d ago",
                    base::quoted(text));
}

base::Result<Instant> parse_moment(std::string_view text, Instant now) {
  ASSIGN_OR_RETURN(const TimeSpan named, parse_named_time(text, now));
  return named.end - Duration::from_ms(1);
}

base::Result<TimeSpan> parse_period(std::string_view text, Instant now) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return parse_named_time(text, now);
  const std::string_view first = text.substr(0, dots);
  const std::string_view last = text.substr(dots + 2);
  TimeSpan period;
  if (!first.empty()) {
    ASSIGN_OR_RETURN(const TimeSpan named, parse_named_time(first, now));
    period.begin = named.begin;
  }
  if (!last.empty()) {
    ASSIGN_OR_RETURN(const TimeSpan named, parse_named_time(last, now));
    // A second or less is a moment, and periods do not have the one they end at.
    const bool is_moment = named.end - named.begin <= Duration::seconds(1);
    period.end = is_moment ? named.begin : named.end;
  }
  if (period.empty()) {
    return base::fail(ErrorCode::kInvalid, "{} ends before it begins", base::quoted(text));
  }
  return period;
}

}  // namespace meguri::archive
