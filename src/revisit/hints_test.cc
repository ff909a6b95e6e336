#include "revisit/hints.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace meguri::revisit {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'800'000'000'000);

TEST(HintedVisit, IsNowForHostsThatAreMostlyRight) {
  const Instant next = kStart + Duration::days(100);
  EXPECT_EQ(hinted_visit(kStart, next, 1), kStart);
  EXPECT_EQ(hinted_visit(kStart, next, 2.0 / 3), kStart);
}

TEST(HintedVisit, KeepsMoreOfTheIntervalTheLessAHostIsBelieved) {
  const Instant next = kStart + Duration::days(100);
  const auto wait = [&](double trust) {
    return static_cast<double>((hinted_visit(kStart, next, trust).value() - kStart).ms()) /
           static_cast<double>(Duration::days(1).ms());
  };
  EXPECT_NEAR(wait(0.5), 30.7, 0.1);
  EXPECT_NEAR(wait(0.3), 64.3, 0.1);
  EXPECT_NEAR(wait(kHintTrustMin), 89.5, 0.1);
  // The chance that it has changed by then is that of its own time.
  const double anyway = change_chance(
      Duration::from_ms(static_cast<std::int64_t>(wait(0.3) * 1000)), Duration::from_ms(100'000));
  EXPECT_NEAR(0.3 + 0.7 * anyway, 1 - std::exp(-1), 1e-4);
}

TEST(HintedVisit, BringsNothingForwardWithoutTrust) {
  EXPECT_FALSE(hinted_visit(kStart, kStart + Duration::days(1), 0.09));
  EXPECT_FALSE(hinted_visit(kStart, kStart, 1));
}

TEST(HintRecord, BeginsInTheMiddleAndFollowsWhatIsFound) {
  HintRecord record;
  EXPECT_DOUBLE_EQ(trust_of(record, kStart), 0.5);
  const HintRecord right = with_hint(record, true, 0, kStart);
  EXPECT_DOUBLE_EQ(right.right, 1);
  EXPECT_DOUBLE_EQ(trust_of(right, kStart), 2.0 / 3);
  for (int i = 0; i < 9; ++i) record = with_hint(record, false, 0.5, kStart);
  EXPECT_DOUBLE_EQ(record.wrong, 9);
  EXPECT_LT(trust_of(record, kStart), kHintTrustMin);
}

TEST(HintRecord, AChangeThatWasLikelyAnywayProvesLittle) {
  const HintRecord record = with_hint({}, true, 1, kStart);
  EXPECT_DOUBLE_EQ(record.right, 0.5);
  EXPECT_DOUBLE_EQ(record.wrong, 0.5);
  EXPECT_DOUBLE_EQ(trust_of(record, kStart), 0.5);
}

TEST(HintRecord, Fades) {
  HintRecord record;
  for (int i = 0; i < 40; ++i) record = with_hint(record, false, 0, kStart);
  EXPECT_LT(trust_of(record, kStart), 0.03);
  EXPECT_NEAR(faded(record, kStart + kHintHalfLife).wrong, 20, 1e-9);
  EXPECT_GT(trust_of(record, kStart + kHintHalfLife * 3), kHintTrustMin);
  // A clock that goes back changes nothing.
  EXPECT_EQ(faded(record, kStart - Duration::days(1)), record);
}

TEST(HintRecord, AGoodNameIsLostWithinAFewDozenLies) {
  HintRecord record;
  for (int i = 0; i < 10'000; ++i) record = with_hint(record, true, 0.1, kStart);
  EXPECT_LE(record.right + record.wrong, kHintsMax + 1e-9);
  EXPECT_GT(trust_of(record, kStart), 0.9);
  int lies = 0;
  for (; trust_of(record, kStart) >= kHintTrustMin; ++lies)
    record = with_hint(record, false, 0, kStart);
  EXPECT_GT(lies, 32);
  EXPECT_LT(lies, 200);
}

// Pages that change on their own, and a host that always says they did: its word comes to weigh
// next to nothing, though many of the visits find a change.
TEST(HintRecord, WordsThatAreTrueByChanceAreNotBelieved) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform;
  HintRecord record;
  const Duration interval = Duration::days(10);
  Duration waited;
  constexpr int kVisits = 2000;
  for (int i = 0; i < kVisits; ++i) {
    const auto hinted = hinted_visit(kStart, kStart + interval, trust_of(record, kStart));
    if (!hinted) {
      waited = waited + interval;
      continue;
    }
    const Duration wait = *hinted - kStart;
    waited = waited + wait;
    const double chance = change_chance(wait, interval);
    record = with_hint(record, uniform(random) < chance, chance, kStart);
  }
  EXPECT_GT(waited, interval * (kVisits * 8 / 10));
}

// And a host that tells the truth of the same pages is believed.
TEST(HintRecord, WordsThatAreTrueAreBelieved) {
  HintRecord record;
  for (int i = 0; i < 10; ++i) {
    record = with_hint(record, true, change_chance(Duration::days(1), Duration::days(10)), kStart);
  }
  EXPECT_GT(trust_of(record, kStart), 0.8);
}

}  // namespace
}  // namespace meguri::revisit
