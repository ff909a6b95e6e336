#include "sim/recall.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "sim/dice.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);  // 2026-01-01

History history_of(Duration interval, std::uint64_t key = 1) {
  HistoryTraits traits;
  traits.interval = interval;
  return {key, traits};
}

std::vector<Instant> every(Duration interval, Duration length) {
  std::vector<Instant> times;
  for (Instant t = kStart; t < kStart + length; t = t + interval) times.push_back(t);
  return times;
}

// Visits every T of a page that changes at rate 1/interval: with x = T / interval, recall is
// (1 - e^-x) / x, and coverage 2 (1 - e^-x) / x - e^-x.
TEST(Recall, RegularVisitsHoldWhatTheTheorySays) {
  const Duration length = Duration::days(20'000);
  const History history = history_of(Duration::days(1));
  for (const double x : {0.5, 1.0, 2.0}) {
    const auto step = Duration::from_ms(static_cast<std::int64_t>(x * 86'400'000));
    const Holdings holdings = holdings_of(history, every(step, length), kStart, kStart + length);
    EXPECT_NEAR(holdings.recall(), (1 - std::exp(-x)) / x, 0.01) << x;
    EXPECT_NEAR(holdings.coverage(), 2 * (1 - std::exp(-x)) / x - std::exp(-x), 0.015) << x;
    EXPECT_NEAR(holdings.waste(), std::exp(-x), 0.01) << x;
  }
}

TEST(Recall, NothingCapturedHoldsNothing) {
  const History history = history_of(Duration::days(1));
  const Holdings holdings = holdings_of(history, {}, kStart, kStart + Duration::days(100));
  EXPECT_GT(holdings.versions, 50U);
  EXPECT_EQ(holdings.recall(), 0);
  EXPECT_EQ(holdings.coverage(), 0);
  EXPECT_EQ(holdings.lifetime, Duration::days(100));
}

TEST(Recall, EveryVersionCapturedHoldsAll) {
  const History history = history_of(Duration::days(1));
  const Instant end = kStart + Duration::days(100);
  std::vector<Instant> times;
  for (const Version& version : history.versions(kStart, end, 1000)) {
    times.push_back(std::max(version.since, kStart));
  }
  std::vector<Instant> reversed(times.rbegin(), times.rend());
  const Holdings holdings = holdings_of(history, reversed, kStart, end);
  EXPECT_EQ(holdings.recall(), 1);
  EXPECT_EQ(holdings.coverage(), 1);
  EXPECT_EQ(holdings.waste(), 0);
}

TEST(Recall, CapturesOutsideLifeAndPeriodDoNotCount) {
  HistoryTraits traits;
  traits.interval = Duration::days(1000);
  traits.birth = kStart + Duration::days(10);
  traits.death = kStart + Duration::days(20);
  const History history(3, traits);
  const std::vector<Instant> times = {kStart, kStart + Duration::days(25)};
  Holdings holdings = holdings_of(history, times, kStart, kStart + Duration::days(100));
  EXPECT_EQ(holdings.captures, 0U);
  EXPECT_EQ(holdings.recall(), 0);
  EXPECT_EQ(holdings.lifetime, Duration::days(10));
  holdings += holdings_of(history, times, kStart, kStart + Duration::days(5));
  EXPECT_EQ(holdings.lifetime, Duration::days(10));
  EXPECT_EQ(Holdings().recall(), 1);
}

// A recorded page that comes and goes, and visits of it, all at random.
struct RandomPage {
  explicit RandomPage(std::uint64_t seed) {
    Dice dice{1, seed};
    std::uint32_t second = static_cast<std::uint32_t>(dice.below(100));
    bool is_there = false;
    for (std::size_t i = 0; i < 40; ++i) {
      const bool is_deletion = is_there && dice.chance(0.2);
      events.push_back(is_deletion ? second | RecordedChanges::kDeletion : second);
      is_there = !is_deletion;
      second += 1 + static_cast<std::uint32_t>(dice.below(50));
    }
    for (std::uint32_t time = events[0]; time < 1000;) {
      times.push_back(Duration::seconds(time));
      time += static_cast<std::uint32_t>(dice.below(60));
    }
  }

  std::vector<std::uint32_t> events;
  std::vector<Duration> times;
};

TEST(RunningHoldings, AreThoseThatAreFoundAfterwards) {
  const Duration end = Duration::seconds(1000);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomPage page(seed);
    const History history(1, RecordedChanges{.events = page.events, .origin = kStart});
    std::vector<Instant> times;
    RunningHoldings running(page.events, end);
    for (const Duration time : page.times) {
      times.push_back(kStart + time);
      const bool is_there = history.exists(kStart + time);
      EXPECT_EQ(running.visit(time) == Found::kGone, !is_there);
    }
    running.finish();
    const Holdings after = holdings_of(history, times, kStart, kStart + end);
    EXPECT_EQ(running.holdings().versions, after.versions);
    EXPECT_EQ(running.holdings().versions_held, after.versions_held);
    EXPECT_EQ(running.holdings().captures, after.captures);
    EXPECT_EQ(running.holdings().captures_wasted, after.captures_wasted);
    EXPECT_EQ(running.holdings().lifetime, after.lifetime);
    EXPECT_EQ(running.holdings().lifetime_held, after.lifetime_held);
  }
}

TEST(RunningHoldings, WhatIsShownIsWrongFromItsReplacementOn) {
  const std::vector<std::uint32_t> events = {100, 200, 210 | RecordedChanges::kDeletion, 300};
  RunningHoldings running(events, Duration::seconds(400));
  EXPECT_EQ(running.visit(Duration::seconds(100)), Found::kNew);
  EXPECT_EQ(running.visit(Duration::seconds(150)), Found::kKnown);
  EXPECT_EQ(running.visit(Duration::seconds(250)), Found::kGone);  // wrong for 50
  running.finish();                                                // and for 100
  EXPECT_EQ(running.showing().time, Duration::seconds(300));
  EXPECT_EQ(running.showing().wrong, Duration::seconds(150));
  EXPECT_DOUBLE_EQ(running.showing().error_share(), 0.5);
  EXPECT_EQ(running.showing().error_mean().ms(), (50 * 50 / 2 + 100 * 100 / 2) * 1000 / 300);
}

}  // namespace
}  // namespace meguri::sim
