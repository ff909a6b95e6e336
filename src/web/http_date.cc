#include "web/http_date.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::web {

namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::string_view kBlanks = " \t\r\n\f";

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays = {"sunday",   "monday", "tuesday", "wednesday",
                                                       "thursday", "friday", "saturday"};

struct Zone {
  std::string_view name;
  int offset_minutes;
};

// RFC 822's names, and those that feeds use. A name of several meanings has the one that feeds
// mean most often.
constexpr std::array kZones = {
    Zone{"gmt", 0},    Zone{"utc", 0},    Zone{"ut", 0},     Zone{"z", 0},      Zone{"est", -300},
    Zone{"edt", -240}, Zone{"cst", -360}, Zone{"cdt", -300}, Zone{"mst", -420}, Zone{"mdt", -360},
    Zone{"pst", -480}, Zone{"pdt", -420}, Zone{"wet", 0},    Zone{"west", 60},  Zone{"bst", 60},
    Zone{"cet", 60},   Zone{"cest", 120}, Zone{"eet", 120},  Zone{"eest", 180}, Zone{"msk", 180},
    Zone{"jst", 540},  Zone{"kst", 540},  Zone{"aest", 600}, Zone{"aedt", 660}, Zone{"nzst", 720},
    Zone{"nzdt", 780},
};

// Parts of a date as they are found; -1: not yet.
struct DateParts {
  int year = -1;
  int month = -1;
  int day = -1;
  int hour = -1;
  int minute = 0;
  int second = 0;
  int ms = 0;
  bool has_zone = false;
  int offset_minutes = 0;  // local time minus UTC
};

std::optional<base::Instant> instant_of(const DateParts& p) {
  if (p.year < 0 || p.year > 9999 || p.month < 1 || p.day < 1) return std::nullopt;
  const auto date = std::chrono::year(p.year) / std::chrono::month(static_cast<unsigned>(p.month)) /
                    std::chrono::day(static_cast<unsigned>(p.day));
  const int hour = std::max(p.hour, 0);
  if (!date.ok() || hour > 23 || p.minute > 59 || p.second > 60) return std::nullopt;
  // A leap second is the last millisecond before it, as in base::Instant.
  const std::int64_t second_ms = p.second == 60 ? 59'999 : p.second * std::int64_t{1000} + p.ms;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t minutes = hour * std::int64_t{60} + p.minute - p.offset_minutes;
  return base::Instant::from_ms(days * kDayMs + minutes * kMinuteMs + second_ms);
}

// The index of the name that `word` begins, by three letters or more; -1: none.
template <std::size_t N>
int index_of_name(const std::array<std::string_view, N>& names, std::string_view word) {
  if (word.size() < 3) return -1;
  for (std::size_t i = 0; i < N; ++i) {
    if (starts_with_ignoring_case(names[i], word)) return static_cast<int>(i);
  }
  return -1;
}

// Takes texts apart from the front. Takers say whether they found what they want, and take nothing
// otherwise, except where said.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  bool empty() const { return rest_.empty(); }
  char front() const { return rest_.empty() ? '\0' : rest_.front(); }
  char second() const { return rest_.size() < 2 ? '\0' : rest_[1]; }
  void skip_one() { rest_.remove_prefix(1); }
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // All digits at the front, if there are so many.
  bool take_number(std::size_t digits_min, std::size_t digits_max, int* value,
                   std::size_t* digits = nullptr) {
    const auto end = std::ranges::find_if_not(rest_, is_digit);
    const auto count = static_cast<std::size_t>(end - rest_.begin());
    if (count < digits_min || count > digits_max) return false;
    *value = 0;
    for (const char c : rest_.substr(0, count)) *value = *value * 10 + (c - '0');
    rest_.remove_prefix(count);
    if (digits != nullptr) *digits = count;
    return true;
  }

  std::string_view take_word() {
    const auto end = std::ranges::find_if_not(rest_, is_alpha);
    const std::string_view word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(word.size());
    return word;
  }

  // A text in parentheses, which has no meaning.
  bool skip_comment() {
    const std::size_t end = rest_.find(')');
    if (end == std::string_view::npos) return false;
    rest_.remove_prefix(end + 1);
    return true;
  }

  // Behind "hh": ":mm", ":mm:ss", ":mm:ss.fraction".
  bool take_time_after_hour(DateParts* parts) {
    if (!take(':') || !take_number(1, 2, &parts->minute)) return false;
    if (!take(':')) return true;
    if (!take_number(1, 2, &parts->second)) return false;
    if ((front() != '.' && front() != ',') || !is_digit(second())) return true;
    skip_one();
    for (int unit = 100; is_digit(front()); unit /= 10, skip_one()) {
      parts->ms += (front() - '0') * unit;
    }
    return true;
  }

  // "+hhmm", "-hh:mm", "+hh".
  bool take_offset(DateParts* parts) {
    const bool is_negative = front() == '-';
    skip_one();
    int number = 0;
    std::size_t digits = 0;
    if (!take_number(1, 4, &number, &digits)) return false;
    int minutes = digits > 2 ? number % 100 : 0;
    const int hours = digits > 2 ? number / 100 : number;
    if (digits <= 2 && take(':') && !take_number(2, 2, &minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    parts->offset_minutes = (hours * 60 + minutes) * (is_negative ? -1 : 1);
    parts->has_zone = true;
    return true;
  }

  // "GMT", "PST". Of RFC 822's single letters only Z: the others are used in both directions.
  bool take_zone_name(std::string_view word, DateParts* parts) {
    const auto* const zone = std::ranges::find_if(
        kZones, [&](const Zone& known) { return equals_ignoring_case(known.name, word); });
    if (zone == kZones.end() || parts->has_zone) return false;
    parts->has_zone = true;
    parts->offset_minutes = zone->offset_minutes;
    // "GMT+0200" means the offset.
    const bool may_have_offset = zone->offset_minutes == 0 && (front() == '+' || front() == '-');
    return !may_have_offset || !is_digit(second()) || take_offset(parts);
  }

 private:
  std::string_view rest_;
};

int full_year_of(int year, std::size_t digits, int year_now) {
  if (digits == 3) return 1900 + year;  // a year counted from 1900, as some programs did
  if (digits > 2) return year;
  const int full = year_now / 100 * 100 + year;
  return full > year_now + 50 ? full - 100 : full;
}

// A number: the hour if a colon follows, else the day, else the year.
bool take_number_part(DateReader* reader, int year_now, DateParts* parts) {
  int number = 0;
  std::size_t digits = 0;
  if (!reader->take_number(1, 4, &number, &digits)) return false;
  if (reader->front() == ':') {
    if (parts->hour >= 0 || digits > 2) return false;
    parts->hour = number;
    return reader->take_time_after_hour(parts);
  }
  if (parts->day < 0 && digits <= 2) {
    parts->day = number;
  } else if (parts->year < 0 && digits >= 2) {
    parts->year = full_year_of(number, digits, year_now);
  } else {
    return false;
  }
  // "6th November"
  const bool is_ordinal = digits <= 2 && is_alpha(reader->front());
  if (!is_ordinal) return true;
  const std::string_view word = reader->take_word();
  if (std::ranges::any_of(std::array<std::string_view, 4>{"st", "nd", "rd", "th"},
                          [&](auto end) { return equals_ignoring_case(end, word); })) {
    return true;
  }
  parts->month = parts->month < 0 ? index_of_name(kMonths, word) + 1 : 0;  // "06Nov1994"
  return parts->month > 0;
}

bool take_word_part(DateReader* reader, DateParts* parts) {
  const std::string_view word = reader->take_word();
  if (index_of_name(kWeekdays, word) >= 0) return true;
  const int month = index_of_name(kMonths, word) + 1;
  if (month > 0 && parts->month < 0) {
    parts->month = month;
    return true;
  }
  return parts->hour >= 0 && reader->take_zone_name(word, parts);
}

// A '-' is a zone's behind a blank or behind a whole date, and else stands between parts.
bool is_offset_next(const DateReader& reader, const DateParts& parts, char before) {
  if (parts.hour < 0 || parts.has_zone || !is_digit(reader.second())) return false;
  if (reader.front() == '+') return true;
  return reader.front() == '-' && (parts.year >= 0 || kBlanks.contains(before));
}

using SysTime = std::chrono::sys_time<std::chrono::milliseconds>;

// The nearest moment of the years 0000..9999.
SysTime clamped(base::Instant time) {
  constexpr std::int64_t kFirstMs = -62'167'219'200'000;
  constexpr std::int64_t kLastMs = 253'402'300'799'999;
  return SysTime(std::chrono::milliseconds(std::clamp(time.ms(), kFirstMs, kLastMs)));
}

}  // namespace

std::optional<base::Instant> parse_http_date(std::string_view text, int year_now) {
  text = trimmed(text, kBlanks);
  if (text.empty() || text.size() > kDateBytesMax) return std::nullopt;
  DateReader reader(text);
  DateParts parts;
  char before = ' ';
  while (!reader.empty()) {
    const char c = reader.front();
    bool is_good = true;
    if (is_offset_next(reader, parts, before)) {
      is_good = reader.take_offset(&parts);
    } else if (is_digit(c)) {
      is_good = take_number_part(&reader, year_now, &parts);
    } else if (is_alpha(c)) {
      is_good = take_word_part(&reader, &parts);
    } else if (c == '(') {
      is_good = reader.skip_comment();
    } else if (c == ';') {
      break;
    } else {
      is_good = kBlanks.contains(c) || c == ',' || c == '-' || c == '.';
      reader.skip_one();
    }
    if (!is_good) return std::nullopt;
    before = c;
  }
  return instant_of(parts);
}

std::optional<base::Instant> parse_w3c_date(std::string_view text) {
  text = trimmed(text, kBlanks);
  if (text.empty() || text.size() > kDateBytesMax) return std::nullopt;
  DateReader reader(text);
  DateParts parts;
  if (!reader.take_number(4, 4, &parts.year)) return std::nullopt;
  parts.month = parts.day = 1;
  if (reader.empty()) return instant_of(parts);
  if (!reader.take('-') || !reader.take_number(1, 2, &parts.month)) return std::nullopt;
  if (reader.empty()) return instant_of(parts);
  if (!reader.take('-') || !reader.take_number(1, 2, &parts.day)) return std::nullopt;
  if (reader.empty()) return instant_of(parts);
  if (!reader.take('T') && !reader.take('t') && !kBlanks.contains(reader.front())) {
    return std::nullopt;
  }
  reader.skip_blanks();
  if (!reader.take_number(1, 2, &parts.hour) || !reader.take_time_after_hour(&parts)) {
    return std::nullopt;
  }
  reader.skip_blanks();
  if (reader.front() == '+' || reader.front() == '-') {
    if (!reader.take_offset(&parts)) return std::nullopt;
  } else if (is_alpha(reader.front())) {
    if (!reader.take_zone_name(reader.take_word(), &parts)) return std::nullopt;
  }
  return reader.empty() ? instant_of(parts) : std::nullopt;
}

std::optional<base::Instant> parse_any_date(std::string_view text, int year_now) {
  const auto date = parse_w3c_date(text);
  return date ? date : parse_http_date(text, year_now);
}

std::string format_http_date(base::Instant time) {
  constexpr std::array kWeekdayNames = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonthNames = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const SysTime moment = clamped(time);
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(moment - day).count();
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
      kWeekdayNames.at(std::chrono::weekday(day).c_encoding()), static_cast<unsigned>(date.day()),
      kMonthNames.at(static_cast<unsigned>(date.month()) - 1), static_cast<int>(date.year()),
      seconds / 3600, seconds / 60 % 60, seconds % 60);
}

int year_of(base::Instant time) {
  const auto day = std::chrono::floor<std::chrono::days>(clamped(time));
  return static_cast<int>(std::chrono::year_month_day(day).year());
}

}  // namespace meguri::web
