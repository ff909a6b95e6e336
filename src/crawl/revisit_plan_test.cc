#include "crawl/revisit_plan.h"

#include <gtest/gtest.h>

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kBegin = Instant::from_ms(1'767'225'600'000);

RevisitPlan plan_of(const RevisitOptions& options = {}) {
  return RevisitPlan::make(options).value();
}

Report report_at(Instant date, VisitOutcome outcome) {
  Report report;
  report.date = date;
  report.outcome = outcome;
  return report;
}

TEST(RevisitPlan, RefusesAPolicyThatThereIsNot) {
  RevisitOptions options;
  options.policy = "psychic";
  EXPECT_EQ(RevisitPlan::make(options).error().code(), base::ErrorCode::kInvalid);
}

TEST(RevisitPlan, VisitsAgainWhenThePolicySays) {
  PageRecord record;
  plan_of().take_visit(report_at(kBegin, VisitOutcome::kChanged), 0.5, record);
  EXPECT_EQ(record.state, PageState::kVisited);
  EXPECT_EQ(record.reason, revisit::Reason::kFirst);
  EXPECT_EQ(record.next_visit, kBegin + record.changes.interval);
  EXPECT_GT(record.next_visit, kBegin);
}

TEST(RevisitPlan, SparesAnOverloadedHostAndStillKnowsThePagesPace) {
  PageRecord at_ease;
  PageRecord spared;
  Report report = report_at(kBegin, VisitOutcome::kChanged);
  plan_of().take_visit(report, 0.5, at_ease);
  report.host.factor = 3;
  plan_of().take_visit(report, 0.5, spared);
  EXPECT_EQ(spared.changes.interval, at_ease.changes.interval);
  EXPECT_EQ(spared.next_visit - kBegin, (at_ease.next_visit - kBegin) * 3);
  EXPECT_DOUBLE_EQ(load_of(spared), load_of(at_ease));
  report.host = {.factor = 1, .added = Duration::days(2)};
  PageRecord delayed;
  plan_of().take_visit(report, 0.5, delayed);
  EXPECT_EQ(delayed.next_visit, at_ease.next_visit + Duration::days(2));
}

TEST(RevisitPlan, TakesARedirectForChangedOnlyWhenItLeadsElsewhere) {
  PageRecord record;
  Report report = report_at(kBegin, VisitOutcome::kRedirected);
  report.target = 1;
  plan_of().take_visit(report, 0, record);
  report.date = kBegin + Duration::days(1);
  plan_of().take_visit(report, 0, record);
  EXPECT_EQ(revisit::outcome_at(record.changes, 0), revisit::Outcome::kUnchanged);
  report.date = kBegin + Duration::days(2);
  report.target = 2;
  plan_of().take_visit(report, 0, record);
  EXPECT_EQ(revisit::outcome_at(record.changes, 0), revisit::Outcome::kChanged);
}

TEST(RevisitPlan, AsksAgainForWhatWasRefused) {
  RevisitOptions options;
  options.refused_wait = Duration::days(9);
  PageRecord record;
  plan_of(options).take_refusal(Refusal::kRobots, kBegin, record);
  EXPECT_EQ(record.state, PageState::kRefused);
  EXPECT_EQ(record.next_visit, kBegin + Duration::days(9));
  EXPECT_EQ(load_of(record), 0);
}

TEST(RevisitPlan, LetsGoOfRetiredPagesWhereItIsTold) {
  RevisitOptions options;
  PageRecord record;
  Instant now = kBegin;
  for (int i = 0; i < 20; ++i) {
    plan_of().take_visit(report_at(now, VisitOutcome::kGone), 0.5, record);
    now = record.next_visit;
  }
  EXPECT_EQ(record.reason, revisit::Reason::kRetired);
  EXPECT_TRUE(plan_of(options).is_visited_again(record));
  options.pace.forgets_retired = true;
  EXPECT_FALSE(plan_of(options).is_visited_again(record));
  EXPECT_LT(load_of(record), 1.0 / 200);  // hardly a burden, whatever its pace was
}

}  // namespace
}  // namespace meguri::crawl
