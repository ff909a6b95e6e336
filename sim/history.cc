#include "sim/history.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "sim/dice.h"

namespace meguri::sim {
namespace {

enum Purpose : std::uint64_t { kTraits = 200, kEvents, kVersion };

// Changes expected in a window: the unit in which they are drawn. Few windows are empty.
constexpr double kWindowChanges = 16;

constexpr double kDayMs = 86'400'000;
constexpr double kWeekMs = 7 * kDayMs;
constexpr double kHourMs = 3'600'000;
constexpr double kNightMs = 6 * kHourMs;
constexpr double kWorkBeginMs = 9 * kHourMs;
constexpr double kWorkMs = 9 * kHourMs;
// 1970 began on a Thursday; weeks are counted from the Monday before.
constexpr double kMondayMs = 3 * kDayMs;

// Shares of pages whose mean interval is below each.
struct Quantile {
  double share;
  double seconds;
};
constexpr auto kIntervals = std::to_array<Quantile>({{0, 30},
                                                     {0.0003, 60},
                                                     {0.02, 3600},
                                                     {0.162, 86'400},
                                                     {0.651, 30 * 86'400.0},
                                                     {1, 400 * 86'400.0}});

constexpr double kDailyChance = 0.2;
constexpr double kWeeklyChance = 0.1;
constexpr double kShiftChance = 0.1;
constexpr double kLaterBirthChance = 0.2;
constexpr double kDeathChance = 0.1;
constexpr double kBirthSpanMs = 730 * kDayMs;
constexpr double kLifeMs = 365 * kDayMs;

// Milliseconds of the page's own time since 1970, and back. Both rise, and each is the inverse of
// the other where the page is active.
double own_time(double ms, Rhythm rhythm) {
  if (rhythm == Rhythm::kDaily) {
    const double day = std::floor(ms / kDayMs);
    const double within = ms - day * kDayMs;
    const double active = std::max(0.0, within - kNightMs) / (kDayMs - kNightMs);
    return (day + active) * kDayMs;
  }
  if (rhythm == Rhythm::kWeekly) {
    const double shifted = ms + kMondayMs;
    const double week = std::floor(shifted / kWeekMs);
    const double within = shifted - week * kWeekMs;
    const double day = std::min(std::floor(within / kDayMs), 5.0);
    const double hours = std::clamp(within - day * kDayMs - kWorkBeginMs, 0.0, kWorkMs);
    const double worked = day >= 5 ? 5 : day + hours / kWorkMs;
    return (week + worked / 5) * kWeekMs;
  }
  return ms;
}

double world_time(double own, Rhythm rhythm) {
  if (rhythm == Rhythm::kDaily) {
    const double day = std::floor(own / kDayMs);
    const double active = own / kDayMs - day;
    return day * kDayMs + kNightMs + active * (kDayMs - kNightMs);
  }
  if (rhythm == Rhythm::kWeekly) {
    const double week = std::floor(own / kWeekMs);
    const double worked = (own / kWeekMs - week) * 5;
    const double day = std::min(std::floor(worked), 4.0);
    return week * kWeekMs + day * kDayMs + kWorkBeginMs + (worked - day) * kWorkMs - kMondayMs;
  }
  return own;
}

double ms_of(base::Instant t) { return static_cast<double>(t.ms()); }

}  // namespace

base::Duration interval_of_quantile(double u) {
  for (std::size_t i = 1; i < kIntervals.size(); ++i) {
    const Quantile& a = kIntervals[i - 1];
    const Quantile& b = kIntervals[i];
    if (u >= b.share && i + 1 < kIntervals.size()) continue;
    const double within = (u - a.share) / (b.share - a.share);
    const double seconds = a.seconds * exp_of(within * log_of(b.seconds / a.seconds));
    return base::Duration::from_ms(static_cast<std::int64_t>(seconds * 1000));
  }
  return base::Duration::days(400);
}

HistoryTraits draw_traits(std::uint64_t seed, std::uint64_t host, std::uint64_t page,
                          base::Instant start) {
  Dice dice{kTraits, seed, host, page};
  HistoryTraits traits;
  traits.interval = interval_of_quantile(dice.uniform());
  const double rhythm = dice.uniform();
  if (rhythm < kDailyChance) {
    traits.rhythm = Rhythm::kDaily;
  } else if (rhythm < kDailyChance + kWeeklyChance) {
    traits.rhythm = Rhythm::kWeekly;
  }
  traits.day_offset = base::Duration::hours(static_cast<std::int64_t>(dice.below(24)));
  const auto after = [&](double ms) {
    return start + base::Duration::from_ms(static_cast<std::int64_t>(ms));
  };
  if (dice.chance(kShiftChance)) {
    traits.shift = after(dice.uniform() * kLifeMs);
    traits.shift_factor = dice.chance(0.5) ? 10 : 0.1;
  }
  // The home page is always there.
  const double birth = dice.chance(kLaterBirthChance) ? dice.uniform() * kBirthSpanMs : -1;
  const double life = dice.chance(kDeathChance) ? dice.exponential() * kLifeMs : -1;
  if (page != 0 && birth >= 0) traits.birth = after(birth);
  if (page != 0 && life >= 0) traits.death = after(std::max(birth, 0.0) + life);
  return traits;
}

double History::activity_at(base::Instant t) const {
  const auto since_1970 = [&](base::Instant when) {
    const double own =
        own_time(ms_of(when) - static_cast<double>(traits_.day_offset.ms()), traits_.rhythm);
    return own / static_cast<double>(traits_.interval.ms());
  };
  if (!traits_.shift || t <= *traits_.shift) return since_1970(t);
  const double before = since_1970(*traits_.shift);
  return before + (since_1970(t) - before) * traits_.shift_factor;
}

base::Instant History::time_of(double activity) const {
  if (traits_.shift) {
    const double before = activity_at(*traits_.shift);
    if (activity > before) activity = before + (activity - before) / traits_.shift_factor;
  }
  const double own = activity * static_cast<double>(traits_.interval.ms());
  const double ms = world_time(own, traits_.rhythm) + static_cast<double>(traits_.day_offset.ms());
  return base::Instant::from_ms(static_cast<std::int64_t>(std::floor(ms)));
}

std::vector<History::Event> History::events_in(std::int64_t window) const {
  static const Poisson changes(kWindowChanges);
  Dice dice{kEvents, key_, static_cast<std::uint64_t>(window)};
  std::vector<double> places(dice.poisson(changes));
  for (double& place : places) place = dice.uniform();
  std::ranges::sort(places);
  std::vector<Event> events;
  events.reserve(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double activity = (static_cast<double>(window) + places[i]) * kWindowChanges;
    events.push_back({window, static_cast<std::uint32_t>(i), time_of(activity)});
  }
  return events;
}

Version History::version_of(const Event& event) const {
  Dice dice{kVersion, key_, static_cast<std::uint64_t>(event.window), event.index};
  return {dice.bits(), event.time};
}

Version History::born() const {
  Dice dice{kVersion, key_};
  return {dice.bits(), *traits_.birth};
}

std::vector<Version> History::recent(base::Instant t, std::size_t count) const {
  CHECK(exists(t), "a page was asked for a version of a time when it was not there");
  CHECK(count > 0);
  t = seen_at(t);
  if (recorded_) return recorded_recent(t, count);
  std::vector<Version> found;
  auto window = static_cast<std::int64_t>(std::floor(activity_at(t) / kWindowChanges));
  // Rounding may put an event of the next window before its own.
  for (++window;; --window) {
    const std::vector<Event> events = events_in(window);
    for (std::size_t i = events.size(); i-- > 0;) {
      if (events[i].time > t) continue;
      if (traits_.birth && events[i].time <= *traits_.birth) {
        found.push_back(born());
        return found;
      }
      // Of changes in the same millisecond nobody could see but the last.
      if (found.empty() || found.back().since != events[i].time) {
        found.push_back(version_of(events[i]));
      }
      if (found.size() == count) return found;
    }
  }
}

std::vector<Version> History::versions(base::Instant from, base::Instant to,
                                       std::size_t count_max) const {
  if (still_at_) {
    if (from >= to || count_max == 0 || !exists(from)) return {};
    return {at(from)};
  }
  if (recorded_) return recorded_versions(from, to, count_max);
  std::vector<Version> found;
  if (traits_.birth) from = std::max(from, *traits_.birth);
  if (traits_.death) to = std::min(to, *traits_.death);
  if (from >= to || count_max == 0) return found;
  found.push_back(at(from));
  auto window = static_cast<std::int64_t>(std::floor(activity_at(from) / kWindowChanges));
  const auto last = static_cast<std::int64_t>(std::floor(activity_at(to) / kWindowChanges));
  for (; window <= last + 1; ++window) {
    for (const Event& event : events_in(window)) {
      if (event.time <= from || event.time >= to) continue;
      if (event.time == found.back().since) found.pop_back();  // nobody could see it
      if (found.size() >= count_max) return found;
      found.push_back(version_of(event));
    }
  }
  return found;
}

}  // namespace meguri::sim
