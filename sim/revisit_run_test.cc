#include "sim/revisit_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "env/posix_file_system.h"
#include "revisit/baselines.h"

namespace meguri::sim {
namespace {

using base::Duration;

revisit::PolicyOptions hourly() {
  revisit::PolicyOptions options;
  options.interval_min = Duration::hours(1);
  return options;
}

double versus(const RevisitReport& report, const RevisitReport& oracle) {
  return static_cast<double>(report.holdings.versions_held) /
         static_cast<double>(oracle.holdings.versions_held);
}

RevisitWorld mixed_world(std::size_t pages, Duration period) {
  return RevisitWorld::poisson(1, draw_intervals(1, pages), period);
}

TEST(DrawIntervals, ATenthAreDailyOrFaster) {
  std::size_t daily = 0;
  const std::vector<Duration> intervals = draw_intervals(5, 20'000);
  for (const Duration interval : intervals) {
    EXPECT_GE(interval, Duration::minutes(30));
    EXPECT_LE(interval, Duration::days(400));
    if (interval <= Duration::days(1)) ++daily;
  }
  EXPECT_NEAR(static_cast<double>(daily) / 20'000, 0.1, 0.01);
}

// With x = λT recall is (1 - e^-x) / x, coverage 2 (1 - e^-x) / x - e^-x, waste e^-x; and at a
// random moment what was shown last is still there with the probability (1 - e^-x) / x.
TEST(RevisitRun, PagesOfOneRateAreHeldAsTheTheorySays) {
  const std::vector<Duration> intervals(300, Duration::days(1));
  const RevisitWorld world = RevisitWorld::poisson(3, intervals, Duration::days(300));
  const revisit::UniformPolicy uniform(hourly(), Duration::days(5));
  const revisit::OraclePolicy oracle(hourly());
  for (const double x : {0.5, 1.0, 2.0}) {
    for (const revisit::Policy* policy : {static_cast<const revisit::Policy*>(&uniform),
                                          static_cast<const revisit::Policy*>(&oracle)}) {
      const RevisitReport report = run_revisits(world, *policy, {.budget = 1 / x});
      const double held = (1 - std::exp(-x)) / x;
      EXPECT_NEAR(report.recall(), held, 0.02) << x;
      EXPECT_NEAR(report.coverage(), 2 * held - std::exp(-x), 0.02) << x;
      EXPECT_NEAR(report.waste(), std::exp(-x), 0.02) << x;
      EXPECT_NEAR(report.showing.error_share(), 1 - held, 0.02) << x;
      EXPECT_NEAR(report.budget_used(), 1, 0.01) << x;
    }
  }
}

TEST(RevisitRun, AnUnevenWorldIsHeldAsTheTheorySays) {
  const std::vector<Duration> intervals = draw_intervals(1, 3'000);
  const RevisitWorld world = RevisitWorld::poisson(1, intervals, Duration::days(365));
  const revisit::UniformPolicy uniform(hourly(), Duration::days(1));
  const revisit::OraclePolicy oracle{revisit::PolicyOptions()};
  for (const double x : {0.5, 1.0, 2.0}) {
    double rates = 0;
    for (const Duration interval : intervals) rates += 1 / interval.in_seconds();
    const double visits = rates / x / 3'000;  // of each page
    double captured = 0;
    for (const Duration interval : intervals) {
      captured += visits * -std::expm1(-1 / interval.in_seconds() / visits);
    }
    const RevisitReport evenly = run_revisits(world, uniform, {.budget = 1 / x});
    const RevisitReport best = run_revisits(world, oracle, {.budget = 1 / x});
    EXPECT_NEAR(evenly.recall(), captured / rates, 0.02) << x;
    EXPECT_NEAR(best.recall(), (1 - std::exp(-x)) / x, 0.02) << x;
    EXPECT_NEAR(versus(evenly, best), captured / rates / ((1 - std::exp(-x)) / x), 0.02) << x;
  }
}

// What REVISIT's table says of a year at x = 1.
void expect_the_table(const RevisitWorld& world) {
  const RevisitReport oracle =
      run_revisits(world, revisit::OraclePolicy{revisit::PolicyOptions()}, {});
  const auto share = [&](const revisit::Policy& policy) {
    const RevisitReport report = run_revisits(world, policy, {});
    EXPECT_LE(report.budget_used(), 1.005);
    return versus(report, oracle);
  };
  EXPECT_GE(share(revisit::PaperPolicy(hourly())), 0.95);
  EXPECT_NEAR(share(revisit::UniformPolicy(hourly(), Duration::days(1))), 0.46, 0.02);
  EXPECT_NEAR(share(revisit::StepPolicy(hourly(), revisit::nutch_rule())), 0.74, 0.02);
}

TEST(RevisitRun, PoliciesAreAsGoodAsExpected) {
  expect_the_table(mixed_world(5'000, Duration::days(365)));
}

TEST(LongRevisitRun, YearOfAHundredThousandPages) {
  expect_the_table(mixed_world(100'000, Duration::days(365)));
}

TEST(RevisitRun, TheBudgetIsKeptAndUsed) {
  const RevisitWorld world = mixed_world(2'000, Duration::days(200));
  for (const double budget : {0.25, 1.0, 3.0}) {
    const RevisitReport paper =
        run_revisits(world, revisit::PaperPolicy(hourly()), {.budget = budget});
    EXPECT_LE(paper.budget_used(), 1.005) << budget;
    EXPECT_GE(paper.budget_used(), 0.93) << budget;
    const RevisitReport nutch = run_revisits(
        world, revisit::StepPolicy(hourly(), revisit::nutch_rule()), {.budget = budget});
    EXPECT_LE(nutch.budget_used(), 1.005) << budget;
  }
}

TEST(RevisitRun, TheSameSeedGivesTheSame) {
  const RevisitWorld world = mixed_world(200, Duration::days(60));
  const revisit::PaperPolicy policy(hourly());
  const RevisitReport one = run_revisits(world, policy, {.seed = 7});
  const RevisitReport two = run_revisits(world, policy, {.seed = 7});
  const RevisitReport other = run_revisits(world, policy, {.seed = 8});
  EXPECT_EQ(one.visits, two.visits);
  EXPECT_EQ(one.holdings.lifetime_held, two.holdings.lifetime_held);
  EXPECT_NE(one.holdings.lifetime_held, other.holdings.lifetime_held);
}

TEST(RevisitRun, PagesOfATraceAppearAndGo) {
  const char* folder = std::getenv("MEGURI_TEST_DATA");
  const std::string data = folder != nullptr ? folder : "../shared/data";
  env::PosixFileSystem fs;
  const auto trace = Trace::read(fs, data + "/../traces/mdn-content.tsv.gz");
  if (!trace && trace.error().code() == base::ErrorCode::kNotFound) {
    GTEST_SKIP() << "no traces beside MEGURI_TEST_DATA";
  }
  ASSERT_TRUE(trace) << trace.error().message();
  const RevisitWorld world = RevisitWorld::recorded(*trace, 3'000, Duration::days(1000));
  const RevisitReport oracle =
      run_revisits(world, revisit::OraclePolicy{revisit::PolicyOptions()}, {});
  const RevisitReport paper = run_revisits(world, revisit::PaperPolicy(hourly()), {});
  EXPECT_GT(paper.pages, 2'000U);
  EXPECT_EQ(paper.holdings.versions, oracle.holdings.versions);
  EXPECT_LE(paper.budget_used(), 1.005);
  EXPECT_GT(paper.recall(), 0.1);
  EXPECT_LT(paper.recall(), 1);
}

}  // namespace
}  // namespace meguri::sim
