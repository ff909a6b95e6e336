#include "sim/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01
constexpr std::size_t kAll = 1'000'000;

HistoryTraits traits_of(Duration interval, Rhythm rhythm = Rhythm::kSteady) {
  HistoryTraits traits;
  traits.interval = interval;
  traits.rhythm = rhythm;
  return traits;
}

TEST(History, QuantilesAreThoseOfThePaper) {
  EXPECT_EQ(interval_of_quantile(0.0003).ms(), 60'000);
  EXPECT_NEAR(interval_of_quantile(0.02).in_seconds(), 3600, 1);
  EXPECT_NEAR(interval_of_quantile(0.162).in_seconds(), 86'400, 1);
  EXPECT_NEAR(interval_of_quantile(0.651).in_seconds(), 30 * 86'400, 1);
  EXPECT_NEAR(interval_of_quantile(0.999999).in_seconds(), 400 * 86'400, 1000);
  EXPECT_EQ(interval_of_quantile(0).ms(), 30'000);
}

TEST(History, ChangesComeAtTheirMeanInterval) {
  for (const Rhythm rhythm : {Rhythm::kSteady, Rhythm::kDaily, Rhythm::kWeekly}) {
    const History history(1, traits_of(Duration::hours(5), rhythm));
    const auto versions = history.versions(kStart, kStart + Duration::days(4200), kAll);
    const double expected = 4200 * 24 / 5.0;
    EXPECT_NEAR(static_cast<double>(versions.size()), expected, expected * 0.03);
  }
}

TEST(History, AnyMomentAgreesWithTheList) {
  for (std::uint64_t key = 0; key < 200; ++key) {
    const HistoryTraits traits = draw_traits(3, key, 1 + key % 7, kStart);
    const History history(key, traits);
    const Instant end = kStart + Duration::from_ms(traits.interval.ms() * 40);
    const auto versions = history.versions(kStart, end, kAll);
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const Instant next = i + 1 < versions.size() ? versions[i + 1].since : end;
      EXPECT_TRUE(i == 0 || versions[i].since > versions[i - 1].since);
      const Instant from = std::max(versions[i].since, kStart);
      const Instant last = std::min(next - Duration::from_ms(1), end - Duration::from_ms(1));
      if (!history.exists(from) || !history.exists(last)) continue;
      EXPECT_EQ(history.at(from), versions[i]);
      EXPECT_EQ(history.at(last), versions[i]);
    }
  }
}

TEST(History, GapsOfASteadyPageAreExponential) {
  const History history(5, traits_of(Duration::hours(1)));
  const auto versions = history.versions(kStart, kStart + Duration::hours(20'000), kAll);
  int longer_than_mean = 0;
  int longer_than_two = 0;
  for (std::size_t i = 1; i < versions.size(); ++i) {
    const Duration gap = versions[i].since - versions[i - 1].since;
    if (gap > Duration::hours(1)) ++longer_than_mean;
    if (gap > Duration::hours(2)) ++longer_than_two;
  }
  const auto n = static_cast<double>(versions.size());
  EXPECT_NEAR(longer_than_mean / n, 0.3679, 0.015);  // 1/e
  EXPECT_NEAR(longer_than_two / n, 0.1353, 0.01);    // 1/e^2
}

TEST(History, RhythmsRest) {
  const History daily(7, traits_of(Duration::minutes(30), Rhythm::kDaily));
  for (const Version& version : daily.versions(kStart, kStart + Duration::days(30), kAll)) {
    const auto hour = (version.since.ms() / 3'600'000) % 24;
    EXPECT_TRUE(version.since <= kStart || hour >= 6) << hour;
  }
  const History weekly(8, traits_of(Duration::minutes(30), Rhythm::kWeekly));
  for (const Version& version : weekly.versions(kStart, kStart + Duration::days(30), kAll)) {
    if (version.since <= kStart) continue;
    const auto day = (version.since.ms() / 86'400'000 + 3) % 7;  // Monday is 0
    const auto hour = (version.since.ms() / 3'600'000) % 24;
    EXPECT_LT(day, 5);
    EXPECT_TRUE(hour >= 9 && hour <= 18) << hour;
  }
}

TEST(History, AShiftChangesTheRate) {
  HistoryTraits traits = traits_of(Duration::hours(1));
  traits.shift = kStart + Duration::days(100);
  traits.shift_factor = 10;
  const History history(9, traits);
  const auto count = [&](Instant from, Duration length) {
    return static_cast<double>(history.versions(from, from + length, kAll).size());
  };
  EXPECT_NEAR(count(kStart, Duration::days(100)), 2400, 200);
  EXPECT_NEAR(count(*traits.shift, Duration::days(100)), 24'000, 700);
}

TEST(History, PagesAreBornAndDie) {
  HistoryTraits traits = traits_of(Duration::days(1));
  traits.birth = kStart + Duration::days(10);
  traits.death = kStart + Duration::days(20);
  const History history(10, traits);
  EXPECT_FALSE(history.exists(kStart));
  EXPECT_TRUE(history.exists(*traits.birth));
  EXPECT_FALSE(history.exists(*traits.death));
  EXPECT_FALSE(history.is_gone(kStart));
  EXPECT_FALSE(history.is_gone(*traits.birth));
  EXPECT_TRUE(history.is_gone(*traits.death));
  EXPECT_EQ(history.end_after(*traits.birth), traits.death);
  EXPECT_EQ(history.at(*traits.birth).since, *traits.birth);
  const auto versions = history.versions(kStart, kStart + Duration::days(100), kAll);
  EXPECT_EQ(versions.front(), history.at(*traits.birth));
  EXPECT_LT(versions.back().since, *traits.death);
  EXPECT_TRUE(history.versions(*traits.death, kStart + Duration::days(100), kAll).empty());
}

TEST(History, TraitsSpreadAsStated) {
  int daily = 0;
  int weekly = 0;
  int shifts = 0;
  int later = 0;
  int mortal = 0;
  int hourly = 0;
  int monthly = 0;
  constexpr int kPages = 20'000;
  for (std::uint64_t page = 1; page <= kPages; ++page) {
    const HistoryTraits traits = draw_traits(1, 2, page, kStart);
    daily += traits.rhythm == Rhythm::kDaily ? 1 : 0;
    weekly += traits.rhythm == Rhythm::kWeekly ? 1 : 0;
    shifts += traits.shift ? 1 : 0;
    later += traits.birth ? 1 : 0;
    mortal += traits.death ? 1 : 0;
    hourly += traits.interval <= Duration::hours(1) ? 1 : 0;
    monthly += traits.interval <= Duration::days(30) ? 1 : 0;
  }
  const auto share = [](int n) { return static_cast<double>(n) / kPages; };
  EXPECT_NEAR(share(daily), 0.2, 0.015);
  EXPECT_NEAR(share(weekly), 0.1, 0.01);
  EXPECT_NEAR(share(shifts), 0.1, 0.01);
  EXPECT_NEAR(share(later), 0.2, 0.015);
  EXPECT_NEAR(share(mortal), 0.1, 0.01);
  EXPECT_NEAR(share(hourly), 0.02, 0.005);
  EXPECT_NEAR(share(monthly), 0.651, 0.015);
  EXPECT_FALSE(draw_traits(1, 2, 0, kStart).birth);
  EXPECT_FALSE(draw_traits(1, 2, 0, kStart).death);
}

TEST(History, IsTheSameEverywhere) {
  std::uint64_t hash = 0;
  for (std::uint64_t page = 0; page < 100; ++page) {
    const HistoryTraits traits = draw_traits(42, 7, page, kStart);
    const History history(page, traits);
    for (const Version& version : history.versions(kStart, kStart + Duration::days(365), 50)) {
      hash = base::mix64(hash ^ version.id ^ static_cast<std::uint64_t>(version.since.ms()));
    }
  }
  EXPECT_EQ(hash, 5544787762450349977U);
}

}  // namespace
}  // namespace meguri::sim
