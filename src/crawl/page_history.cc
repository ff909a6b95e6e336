#include "crawl/page_history.h"

#include <utility>

#include "base/hash.h"
#include "crawl/retry_policy.h"

namespace meguri::crawl {

namespace {

bool is_success(int status) { return status >= 200 && status < 300; }

// The same for the same page at the same moment, whoever reads its history.
double chance_of(const base::Id& id, base::Instant date) {
  const std::uint64_t mixed = base::mix64(id.low ^ static_cast<std::uint64_t>(date.ms()));
  return static_cast<double>(mixed >> 11U) * 0x1p-53;
}

}  // namespace

void PageHistory::take(const HistoryVisit& visit) {
  if (record_.changes.visits > 0 && visit.date <= record_.visited) return;
  auto report = report_of(visit);
  if (!report) return;
  if (record_.candidate.url.empty()) {
    record_.candidate.url = visit.url;
    record_.candidate.offer = Offer::kHistory;
  }
  record_.candidate.depth = visit.depth;
  record_.fetch = report->fetch;
  record_.status = visit.status;
  record_.visited = visit.date;
  plan_.take_visit(*report, chance_of(report->id, visit.date), record_);
}

// Nullopt: it tells nothing.
std::optional<Report> PageHistory::report_of(const HistoryVisit& visit) {
  Report report;
  report.id = page_id_of(visit.url);
  report.status = visit.status;
  report.date = visit.date;
  report.last_modified = visit.last_modified;
  report.is_list = visit.is_list;
  if (visit.is_not_modified || is_success(visit.status)) {
    if (visit.is_not_modified && !content_) return std::nullopt;
    take_content(visit, report);
    return report;
  }
  if (may_pass(fetch::FetchOutcome::kAnswered, visit.status)) return std::nullopt;
  if (visit.status == 404 || visit.status == 410) {
    report.outcome = VisitOutcome::kGone;
  } else if (visit.target) {
    report.outcome = VisitOutcome::kRedirected;
    report.target = *visit.target;
  }
  return report;
}

bool PageHistory::is_same(const HistoryVisit& visit) const {
  if (!content_) return false;
  if (visit.is_not_modified) return true;
  if (visit.digest && content_->digest) return *visit.digest == *content_->digest;
  return visit.said_digest != 0 && visit.said_digest == content_->said_digest;
}

void PageHistory::take_content(const HistoryVisit& visit, Report& report) {
  if (is_same(visit)) {
    report.outcome = VisitOutcome::kUnchanged;
    return;
  }
  report.outcome = VisitOutcome::kChanged;
  const bool is_comparable = content_ && content_->sketch && visit.sketch;
  report.counts =
      !is_comparable || web::change_counts(*content_->sketch, *visit.sketch, counts_from_);
  auto sketch = report.counts ? visit.sketch : content_->sketch;
  content_ = {.digest = visit.digest,
              .said_digest = visit.said_digest,
              .sketch = std::move(sketch),
              .date = visit.date};
}

std::optional<PageRecord> PageHistory::end() {
  PageRecord record = std::exchange(record_, {});
  const auto content = std::exchange(content_, std::nullopt);
  if (record.changes.visits == 0) return std::nullopt;
  if (content && content->digest) {
    PriorVersion& prior = record.prior.emplace();
    prior.digest = *content->digest;
    prior.date = content->date;
    prior.sketch = content->sketch;
  }
  return record;
}

}  // namespace meguri::crawl
