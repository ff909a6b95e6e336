#include "crawl/revisit_plan.h"

#include <algorithm>
#include <utility>

#include "revisit/hints.h"

namespace meguri::crawl {

namespace {

// A page that redirects changes when it leads elsewhere.
revisit::Outcome outcome_of(const Report& report, const PageRecord& before) {
  switch (report.outcome) {
    case VisitOutcome::kChanged: return revisit::Outcome::kChanged;
    case VisitOutcome::kUnchanged: return revisit::Outcome::kUnchanged;
    case VisitOutcome::kGone: return revisit::Outcome::kGone;
    case VisitOutcome::kRedirected: break;
    case VisitOutcome::kError: return revisit::Outcome::kError;
  }
  return report.target == before.target ? revisit::Outcome::kUnchanged : revisit::Outcome::kChanged;
}

}  // namespace

base::Result<RevisitPlan> RevisitPlan::make(const RevisitOptions& options) {
  ASSIGN_OR_RETURN(auto policy, revisit::make_policy(options.policy, options.pace));
  return RevisitPlan(options, std::move(policy));
}

void RevisitPlan::take_visit(const Report& report, double chance, PageRecord& record) const {
  const revisit::Visit visit{.time = report.date,
                             .outcome = outcome_of(report, record),
                             .counts = report.counts,
                             .may_pass = report.may_pass,
                             .last_modified = report.last_modified};
  record.changes = revisit::with_visit(std::move(record.changes), visit);
  const revisit::Plan plan = policy_->next(
      record.changes,
      {.host = {.factor = std::max(1.0, report.host.factor), .added = report.host.added}},
      // Sitemaps and feeds change often, and tell of other pages.
      report.is_list ? 0 : chance);
  record.changes.interval = plan.interval;
  record.reason = plan.reason;
  record.next_visit = record.changes.last_visit + plan.wait;
  record.target = report.outcome == VisitOutcome::kRedirected ? report.target : 0;
  record.state = PageState::kVisited;
  record.outcome = report.outcome;
  record.hint.reset();
}

void RevisitPlan::take_refusal(Refusal reason, base::Instant now, PageRecord& record) const {
  record.state = PageState::kRefused;
  record.refusal = reason;
  record.reason = revisit::Reason::kFixed;
  record.next_visit = now + options_.refused_wait;
  record.hint.reset();
}

void RevisitPlan::take_hint(std::optional<base::Instant> modified, double trust,
                            PageRecord& record) const {
  if (record.hint) modified = std::max(modified, std::optional(record.hint->modified));
  record.hint.reset();
  if (!modified || *modified <= record.visited || record.state != PageState::kVisited) return;
  const base::Instant last = record.changes.last_visit;
  const auto visit = revisit::hinted_visit(last, record.next_visit, trust);
  if (!visit) return;
  record.hint = {.modified = *modified,
                 .visit = std::max(*visit, last + options_.pace.interval_min)};
}

bool RevisitPlan::is_visited_again(const PageRecord& record) const {
  return !options_.pace.forgets_retired || record.reason != revisit::Reason::kRetired ||
         record.hint;
}

base::Duration interval_of(const PageRecord& record) {
  if (record.state != PageState::kVisited) return {};
  // How long its host is spared is not its own pace; how long it is left alone after failures is.
  const bool has_failed = record.changes.failures > 0;
  const base::Duration interval =
      has_failed ? record.next_visit - record.changes.last_visit : record.changes.interval;
  return std::max(interval, base::Duration());
}

double load_of(const PageRecord& record) {
  const base::Duration interval = interval_of(record);
  if (interval == base::Duration()) return 0;
  return static_cast<double>(base::Duration::days(1).ms()) / static_cast<double>(interval.ms());
}

}  // namespace meguri::crawl
