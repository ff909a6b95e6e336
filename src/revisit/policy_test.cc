#include "revisit/policy.h"

#include <gtest/gtest.h>

#include "revisit/baselines.h"

namespace meguri::revisit {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);
constexpr auto kChanged = Outcome::kChanged;
constexpr auto kUnchanged = Outcome::kUnchanged;
constexpr auto kGone = Outcome::kGone;
constexpr auto kError = Outcome::kError;

PolicyOptions first_week() {
  PolicyOptions options;
  options.first_max = Duration::days(7);
  options.growth = 2;
  return options;
}

// A page that is visited when its policy says so.
class Visited {
 public:
  explicit Visited(const Policy& policy) : policy_(policy) {}

  Plan visit(Outcome outcome, const Context& context = {}, double chance = 0.5) {
    return visit({.outcome = outcome}, context, chance);
  }
  Plan visit(Visit visit, const Context& context = {}, double chance = 0.5) {
    visit.time = now_;
    state = with_visit(state, visit);
    const Plan plan = policy_.next(state, context, chance);
    state.interval = plan.interval;
    now_ = now_ + plan.wait;
    return plan;
  }

  ChangeState state;

 private:
  const Policy& policy_;
  Instant now_ = kStart;
};

TEST(PaperPolicy, TheFirstIntervalIsUniform) {
  const PaperPolicy policy{first_week()};
  for (const double chance : {0.0, 0.25, 0.75}) {
    const Plan plan = Visited(policy).visit(kChanged, {}, chance);
    EXPECT_EQ(plan.reason, Reason::kFirst);
    EXPECT_EQ(plan.wait.ms(), (Duration::hours(1) + Duration::from_ms(static_cast<std::int64_t>(
                                                        chance * 167 * 3'600'000)))
                                  .ms());
  }
}

TEST(PaperPolicy, IntervalsGrowWhileNothingChangesAndShrinkWhileEverythingDoes) {
  const PaperPolicy policy{first_week()};
  Visited still(policy);
  Duration wait = still.visit(kChanged).wait;
  for (int i = 0; i < 6; ++i) {
    const Plan plan = still.visit(kUnchanged);
    EXPECT_EQ(plan.reason, Reason::kNeverChanged);
    EXPECT_EQ(plan.wait, wait * 2);
    wait = plan.wait;
  }
  Visited restless(policy);
  wait = restless.visit(kChanged).wait;
  for (int i = 0; i < 6; ++i) {
    const Plan plan = restless.visit(kChanged);
    EXPECT_EQ(plan.reason, Reason::kAlwaysChanged);
    EXPECT_NEAR(plan.wait.in_seconds(), wait.in_seconds() / 2, 1);
    wait = plan.wait;
  }
  for (int i = 0; i < 30; ++i) wait = restless.visit(kChanged).wait;
  EXPECT_EQ(wait, Duration::minutes(1));
}

TEST(PaperPolicy, BeyondTheLongestIntervalVisitsAreFar) {
  const PaperPolicy policy{first_week()};
  Visited still(policy);
  still.visit(kChanged);
  Plan plan;
  for (int i = 0; i < 20; ++i) plan = still.visit(kUnchanged, {}, 0.25);
  EXPECT_EQ(plan.reason, Reason::kFar);
  EXPECT_EQ(plan.wait, Duration::days(325));
}

TEST(PaperPolicy, OnceBothWereSeenTheEstimateDecides) {
  const PaperPolicy policy{first_week()};
  Visited page(policy);
  page.visit(kChanged);
  page.visit(kUnchanged);
  const Plan plan = page.visit(kChanged);
  EXPECT_EQ(plan.reason, Reason::kEstimate);
  // Seen: 3.5 days without, 7 with a change; 7/ln 3.
  EXPECT_NEAR(plan.wait.in_seconds() / 86'400, 7.0417 / 1.0986, 0.01);
}

TEST(PaperPolicy, APageThatWasPulledForwardIsNotStillForAsLongAsPlanned) {
  const PaperPolicy policy{first_week()};
  ChangeState state;
  state = with_visit(state, {.time = kStart, .outcome = kChanged});
  state.interval = policy.next(state, {}, 0.99).interval;
  state = with_visit(state, {.time = kStart + Duration::hours(2), .outcome = kUnchanged});
  EXPECT_EQ(policy.next(state, {}, 0.5).wait, Duration::hours(4));
}

TEST(Policy, AHostIsSparedByAFactorOrByDays) {
  const PaperPolicy policy{first_week()};
  Visited page(policy);
  const Plan plan = page.visit(kChanged, {.host = {.factor = 3, .added = Duration::days(2)}});
  EXPECT_EQ(plan.wait, plan.interval * 3 + Duration::days(2));
  EXPECT_EQ(plan.interval, Duration::hours(84) + Duration::minutes(30));
  const Plan most = page.visit(kUnchanged, {.host = {.factor = 1e9, .added = {}}});
  EXPECT_EQ(most.wait, Duration::days(400));
  EXPECT_EQ(most.interval, plan.interval * 2) << "the page's own pace is not stretched";
}

TEST(Policy, ErrorsThatMayPassAreTriedSoonButNotForEver) {
  const PaperPolicy policy{first_week()};
  Visited page(policy);
  const Duration own = page.visit(kChanged).interval;
  for (int i = 0; i < 6; ++i) {
    const Plan plan = page.visit(kError);
    EXPECT_EQ(plan.reason, Reason::kRetry);
    EXPECT_EQ(plan.wait, Duration::hours(1LL << i));
    EXPECT_EQ(plan.interval, own);
  }
  Plan plan = page.visit(kError);
  EXPECT_EQ(plan.reason, Reason::kHard);
  EXPECT_EQ(plan.wait, own);
  for (int i = 0; i < 6; ++i) EXPECT_GT(page.visit(kError).wait, own * (1LL << i));
  EXPECT_EQ(page.visit(kError).reason, Reason::kRetired);
  plan = page.visit(kUnchanged);
  EXPECT_EQ(plan.reason, Reason::kNeverChanged) << "it came back";
  EXPECT_EQ(plan.wait, own * 2);
}

TEST(Policy, RetriesAreNeverLaterThanThePageIsDueAnyway) {
  const PaperPolicy policy{first_week()};
  Visited page(policy);
  for (int i = 0; i < 8; ++i) page.visit(kChanged);
  const Duration own = page.state.interval;
  ASSERT_LT(own, Duration::hours(1));
  EXPECT_EQ(page.visit(kError).wait, own);
}

TEST(Policy, WhatIsGoneIsVisitedMoreRarelyAndThenRetired) {
  PolicyOptions options = first_week();
  const PaperPolicy policy(options);
  Visited page(policy);
  const Duration own = page.visit(kChanged).interval;
  Duration last;
  for (int i = 0; i < 7; ++i) {
    const Plan plan = page.visit(kGone);
    EXPECT_EQ(plan.reason, Reason::kHard);
    EXPECT_GT(plan.wait, last);
    EXPECT_EQ(plan.wait, std::min(own * (1LL << i), Duration::days(350)));
    last = plan.wait;
    if (i == 6) break;
  }
  Plan plan = page.visit(kGone);
  EXPECT_EQ(plan.reason, Reason::kRetired);
  EXPECT_FALSE(plan.is_never);
  EXPECT_EQ(plan.wait, Duration::days(350));

  options.forgets_retired = true;
  const PaperPolicy forgetful(options);
  Visited forgotten(forgetful);
  forgotten.visit(kChanged);
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(forgotten.visit(kGone).is_never);
  EXPECT_TRUE(forgotten.visit(kGone).is_never);
}

TEST(Policy, ErrorsThatWillNotPassAreHard) {
  const PaperPolicy policy{first_week()};
  Visited page(policy);
  page.visit(kChanged);
  const Plan plan = page.visit(Visit{.outcome = kError, .may_pass = false});
  EXPECT_EQ(plan.reason, Reason::kHard);
}

TEST(Policy, OptionsThatContradictThemselvesAreRefused) {
  const auto refused = [](auto change) {
    PolicyOptions options;
    change(options);
    return !make_policy("paper", options);
  };
  EXPECT_FALSE(refused([](PolicyOptions& /*options*/) {}));
  EXPECT_TRUE(refused([](PolicyOptions& o) { o.interval_min = Duration(); }));
  EXPECT_TRUE(refused([](PolicyOptions& o) { o.interval_min = Duration::days(401); }));
  EXPECT_TRUE(refused([](PolicyOptions& o) { o.far_min = Duration::days(401); }));
  EXPECT_TRUE(refused([](PolicyOptions& o) { o.first_max = Duration::minutes(1); }));
  EXPECT_TRUE(refused([](PolicyOptions& o) { o.growth = 1; }));
  EXPECT_TRUE(refused([](PolicyOptions& o) { o.hard_first = Duration(); }));
  EXPECT_EQ(make_policy("papre", {}).error().code(), base::ErrorCode::kInvalid);
}

TEST(AdaptivePolicy, FollowsItsFilter) {
  const AdaptivePolicy policy{PolicyOptions()};
  Visited page(policy);
  const Plan first = page.visit(kChanged);
  EXPECT_EQ(first.reason, Reason::kFirst);
  EXPECT_EQ(first.wait, interval_of(kRatePrior, 1));
  Visited still(policy);
  Visited restless(policy);
  Plan longest = still.visit(kChanged);
  Plan shortest = restless.visit(kChanged);
  for (int i = 0; i < 20; ++i) {
    const Plan longer = still.visit(kUnchanged);
    EXPECT_EQ(longer.reason, Reason::kEstimate);
    EXPECT_TRUE(longer.wait > longest.wait || longer.wait == Duration::days(400));
    longest = longer;
    const Plan shorter = restless.visit(kChanged);
    EXPECT_TRUE(shorter.wait < shortest.wait || shorter.wait == Duration::minutes(1));
    shortest = shorter;
  }
  EXPECT_EQ(make_policy("adaptive", {}).value()->next(page.state, {}, 0).interval,
            Duration::from_ms(first.interval.ms() / 4));
}

TEST(StepPolicy, FollowsWhatWasFound) {
  const StepPolicy nutch({}, nutch_rule());
  Visited page(nutch);
  EXPECT_EQ(page.visit(kChanged).wait, Duration::days(14));
  EXPECT_NEAR(page.visit(kChanged).wait.in_seconds() / 86'400, 11.2, 1e-4);
  EXPECT_NEAR(page.visit(kUnchanged).wait.in_seconds() / 86'400, 13.44, 1e-4);
  for (int i = 0; i < 100; ++i) page.visit(kUnchanged);
  EXPECT_EQ(page.state.interval, Duration::days(365));

  const StepPolicy storm({}, storm_crawler_rule());
  Visited other(storm);
  EXPECT_EQ(other.visit(kChanged).wait, Duration::days(1));
  EXPECT_EQ(other.visit(kChanged).wait, Duration::hours(12) + Duration::minutes(30));
  for (int i = 0; i < 100; ++i) other.visit(kUnchanged);
  EXPECT_EQ(other.state.interval, Duration::days(14));
}

TEST(Baselines, KnowOneInterval) {
  const UniformPolicy uniform({}, Duration::days(3));
  EXPECT_EQ(Visited(uniform).visit(kChanged).wait, Duration::days(3));
  const OraclePolicy oracle{PolicyOptions()};
  EXPECT_EQ(Visited(oracle).visit(kChanged, {.known_interval = Duration::hours(5)}).wait,
            Duration::hours(5));
}

}  // namespace
}  // namespace meguri::revisit
