#include "sim/revisit_world.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "sim/dice.h"
#include "sim/history.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

enum Purpose : std::uint64_t { kInterval = 400, kChanges };

constexpr double kDayMs = 86'400'000;
constexpr double kMedianMs = 13 * kDayMs;
constexpr double kDeviation = 2;
constexpr Duration kShortest = Duration::minutes(30);
constexpr Duration kLongest = Duration::days(400);

// Worlds are the same at all times, so they begin at a fixed one.
constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

Duration draw_interval(std::uint64_t seed, std::uint64_t page) {
  Dice dice{kInterval, seed, page};
  while (true) {
    const double ms = kMedianMs * exp_of(kDeviation * dice.normal());
    if (ms < static_cast<double>(kShortest.ms()) || ms > static_cast<double>(kLongest.ms())) {
      continue;
    }
    return Duration::from_ms(static_cast<std::int64_t>(ms));
  }
}

}  // namespace

std::vector<Duration> draw_intervals(std::uint64_t seed, std::size_t pages) {
  std::vector<Duration> intervals;
  intervals.reserve(pages);
  for (std::size_t i = 0; i < pages; ++i) intervals.push_back(draw_interval(seed, i));
  return intervals;
}

RevisitWorld RevisitWorld::poisson(std::uint64_t seed, std::span<const Duration> intervals,
                                   Duration period) {
  RevisitWorld world(period);
  for (std::size_t page = 0; page < intervals.size(); ++page) {
    const HistoryTraits traits{.interval = intervals[page], .day_offset = {}};
    const History history(Dice{kChanges, seed, page}.bits(), traits);
    world.events_.push_back(0);
    const auto versions =
        history.versions(kStart, kStart + period, std::numeric_limits<std::size_t>::max());
    for (const Version& version : versions) {
      const auto seconds = static_cast<std::uint32_t>((version.since - kStart).ms() / 1000);
      if (version.since > kStart && seconds > world.events_.back()) {
        world.events_.push_back(seconds);
      }
    }
    world.ends_.push_back(world.events_.size());
    world.rates_.push_back(kDayMs / static_cast<double>(intervals[page].ms()));
  }
  return world;
}

RevisitWorld RevisitWorld::recorded(const Trace& trace, std::size_t pages, Duration period) {
  RevisitWorld world(period);
  const auto seconds = static_cast<std::uint64_t>(period.ms() / 1000);
  for (std::size_t page = 0; page < std::min(pages, trace.pages()); ++page) {
    const auto events = trace.events_of(page);
    std::size_t versions = 0;
    for (const std::uint32_t event : events) {
      if ((event & ~RecordedChanges::kDeletion) >= seconds) break;
      world.events_.push_back(event);
      if ((event & RecordedChanges::kDeletion) == 0) ++versions;
    }
    world.ends_.push_back(world.events_.size());
    const double days =
        events.empty()
            ? 0
            : static_cast<double>(seconds - std::min<std::uint64_t>(seconds, events[0])) / 86'400;
    world.rates_.push_back(versions > 1 && days > 0 ? static_cast<double>(versions - 1) / days : 0);
  }
  return world;
}

std::span<const std::uint32_t> RevisitWorld::events_of(std::size_t page) const {
  CHECK(page < ends_.size());
  const std::size_t first = page == 0 ? 0 : ends_[page - 1];
  return std::span(events_).subspan(first, ends_[page] - first);
}

}  // namespace meguri::sim
