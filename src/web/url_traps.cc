// The rules of url_filter.h that look for crawler traps.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "web/ascii.h"
#include "web/percent.h"
#include "web/url_filter.h"

namespace meguri::web {

namespace {

constexpr std::size_t kPeriodMax = 4;  // segments that may repeat together
// Cuts the first piece off `*rest`, up to `by` or the end.
std::string_view take_piece(std::string_view* rest, char by) {
  const std::size_t end = std::min(rest->find(by), rest->size());
  const std::string_view piece = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return piece;
}

struct Argument {
  std::string_view name;
  std::string_view value;
};

Argument argument_of(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  return {text.substr(0, equals), text.substr(std::min(equals + 1, text.size()))};
}

// The number that all of `digits` writes, of `length_min` to `length_max` digits.
std::optional<int> number_of(std::string_view digits, std::size_t length_min,
                             std::size_t length_max) {
  if (digits.size() < length_min || digits.size() > length_max) return std::nullopt;
  int value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

bool is_month(std::string_view text) {
  const auto month = number_of(text, 1, 2);
  return month && *month >= 1 && *month <= 12;
}

bool is_day(std::string_view text) {
  const auto day = number_of(text, 1, 2);
  return day && *day >= 1 && *day <= 31;
}

// The year of "2094-07-15", "2094-07" or "20940715", which may go on after 'T', '+' or '%'.
std::optional<int> year_of_date(std::string_view text) {
  text = text.substr(0, text.find_first_of("T+% "));
  if (text.size() == 8 && is_month(text.substr(4, 2)) && is_day(text.substr(6))) {
    return number_of(text.substr(0, 4), 4, 4);
  }
  const std::string_view year = take_piece(&text, '-');
  const std::string_view month = take_piece(&text, '-');
  if (year.size() != 4 || !is_month(month) || (!text.empty() && !is_day(text))) return std::nullopt;
  return number_of(year, 4, 4);
}

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [name](auto n) { return equals_ignoring_case(name, n); });
}

bool has_distant_year_in_path(std::string_view path, int year_min, int year_max) {
  const auto is_distant = [=](std::optional<int> year) {
    return year && (*year < year_min || *year > year_max);
  };
  std::optional<int> year_before;  // the segment before, if it is a year of four digits
  while (!path.empty()) {
    const std::string_view segment = take_piece(&path, '/');
    if (is_distant(year_before) && is_month(segment)) return true;
    if (segment.contains('-') && is_distant(year_of_date(segment))) return true;
    year_before = number_of(segment, 4, 4);
  }
  return false;
}

}  // namespace

// Compares every segment with the one `period` before it; a run of period * repeats_max equal
// comparisons is one repetition more than allowed. Only the last few segments are held.
bool has_repeating_segments(std::string_view path, std::size_t repeats_max) {
  std::array<std::string_view, kPeriodMax> last{};
  std::array<std::size_t, kPeriodMax + 1> run{};
  std::size_t count = 0;
  while (!path.empty()) {
    const std::string_view segment = take_piece(&path, '/');
    if (segment.empty()) continue;
    for (std::size_t period = 1; period <= std::min(kPeriodMax, count); ++period) {
      const bool same = last[(count - period) % kPeriodMax] == segment;
      run[period] = same ? run[period] + 1 : 0;
      if (run[period] >= period * repeats_max) return true;
    }
    last[count++ % kPeriodMax] = segment;
  }
  return false;
}

bool is_session_argument(std::string_view name, std::string_view value) {
  const bool random =
      value.size() >= 16 && std::ranges::all_of(value, [](char c) {
        return is_alnum(c) || c == '-' || c == '_' || c == '.' || c == '!' || c == ',';
      });
  if (!random) return false;
  if (is_any_of(name, {"jsessionid", "phpsessid", "aspsessionid", "cftoken"})) return true;
  constexpr std::string_view kAsp = "aspsessionid";
  if (name.size() == kAsp.size() + 8 && equals_ignoring_case(name.substr(0, kAsp.size()), kAsp)) {
    return true;
  }
  const bool has_digit = std::ranges::any_of(value, is_digit);
  return has_digit &&
         is_any_of(name, {"sid", "s_id", "sessid", "session", "sessionid", "session_id",
                          "session-id", "oscsid", "zenid", "osadcsid", "xtcsid", "sess", "phpsid"});
}

bool is_session_segment(std::string_view segment) {
  constexpr std::size_t kIdLength = 24;
  if (!segment.starts_with('(') || !segment.ends_with(')')) return false;
  segment = segment.substr(1, segment.size() - 2);
  const auto is_id = [](std::string_view id) {
    return id.size() == kIdLength && std::ranges::all_of(id, is_alnum);
  };
  if (is_id(segment)) return true;
  constexpr std::size_t kGroupLength = kIdLength + 3;  // X(id)
  if (segment.empty() || segment.size() % kGroupLength != 0) return false;
  for (; !segment.empty(); segment.remove_prefix(kGroupLength)) {
    const bool group = is_alpha(segment[0]) && segment[1] == '(' &&
                       is_id(segment.substr(2, kIdLength)) && segment[kGroupLength - 1] == ')';
    if (!group) return false;
  }
  return true;
}

bool has_session_id(std::string_view path, std::string_view query) {
  while (!path.empty()) {
    std::string_view segment = take_piece(&path, '/');
    if (is_session_segment(segment)) return true;
    take_piece(&segment, ';');
    while (!segment.empty()) {
      const Argument argument = argument_of(take_piece(&segment, ';'));
      if (is_session_argument(argument.name, argument.value)) return true;
    }
  }
  while (!query.empty()) {
    const std::size_t end = std::min(query.find_first_of("&;"), query.size());
    const Argument argument = argument_of(query.substr(0, end));
    if (is_session_argument(argument.name, argument.value)) return true;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return false;
}

bool has_distant_date(std::string_view path, std::string_view query, int year_min, int year_max) {
  if (has_distant_year_in_path(path, year_min, year_max)) return true;
  const auto is_distant = [=](std::optional<int> y) {
    return y && (*y < year_min || *y > year_max);
  };
  std::optional<int> year;
  bool has_month = false;
  while (!query.empty()) {
    const Argument argument = argument_of(take_piece(&query, '&'));
    if (is_any_of(argument.name, {"year", "y", "yr", "yyyy", "cal_year"})) {
      year = number_of(argument.value, 4, 4);
    } else if (is_any_of(argument.name, {"month", "m", "mon", "mm", "mo", "cal_month"})) {
      has_month = has_month || is_month(argument.value);
      if (is_distant(year_of_date(argument.value))) return true;
    } else if (is_any_of(argument.name, {"date", "day", "d", "start", "from", "start_date",
                                         "startdate", "cal_date", "calendar", "month_date",
                                         "tribe-bar-date", "eventdate", "week"})) {
      if (is_distant(year_of_date(argument.value))) return true;
    }
  }
  return has_month && is_distant(year);
}

}  // namespace meguri::web
