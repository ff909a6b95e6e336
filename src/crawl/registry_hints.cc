// What the Registry makes of hints.
#include <algorithm>

#include "crawl/registry.h"
#include "revisit/hints.h"
#include "web/url.h"

namespace meguri::crawl {

double Registry::trust_in(Index host) const {
  return revisit::trust_of((*host_counts_)[host].hints, clock().utc());
}

// Whether its date may be news: the host is believed at all, and was known by then.
bool Registry::heeds(const Candidate& candidate) const {
  if (!pulls_) return false;
  const auto url = web::Url::parse(candidate.url);
  const Index host = url ? queue_->find_host(host_hash_of(url->host())) : kNoIndex;
  return host != kNoIndex && *candidate.modified > (*host_counts_)[host].since &&
         trust_in(host) >= revisit::kHintTrustMin;
}

void Registry::serve_hints_soon() {
  if (hints_at_ != base::Ticks::never()) return;
  hints_at_ = std::max(clock().ticks() + kHintsWithin, hints_not_before_);
  hints_took_ = {};
  set_timer_for(hints_at_);
}

// Those of one bucket.
base::Status Registry::serve_hints() {
  const base::Ticks began = clock().ticks();
  ASSIGN_OR_RETURN(const bool has_more, pages_->serve_hints());
  const base::Ticks now = clock().ticks();
  hints_took_ = hints_took_ + (now - began);
  if (has_more) return {};
  hints_at_ = base::Ticks::never();
  hints_not_before_ = now + hints_took_ * kHintsRest;
  set_timer_for_store();
  return {};
}

// A page whose visit is owed to a hint, or may be: it is due, or goes back to the store until then.
base::Result<bool> Registry::goes_back(const base::Id& id, PageRecord& record,
                                       std::optional<base::Instant> modified, Index host) {
  const auto before = record.hint;
  plan_->take_hint(modified, trust_in(host), record);
  if (record.due() > clock().utc()) {
    RETURN_IF_ERROR(pages_->reschedule(id, record, record.due()));
    return true;
  }
  if (record.hint != before) RETURN_IF_ERROR(pages_->hold(id, record));
  return false;
}

// A visit that failed says nothing of whether the page has changed. One that came at the page's own
// time was not owed to the hint.
void Registry::count_hint(const Report& report, const PageRecord& before, const PageRecord& record,
                          Index host) {
  const revisit::Outcome outcome = revisit::outcome_at(record.changes, 0);
  if (outcome == revisit::Outcome::kError || report.date >= before.next_visit) return;
  const bool has_changed = outcome == revisit::Outcome::kChanged && report.counts;
  const base::Duration elapsed = report.date - before.changes.last_visit;
  const double chance = revisit::change_chance(elapsed, before.changes.interval);
  host_counts_->set_hints(
      host, revisit::with_hint((*host_counts_)[host].hints, has_changed, chance, report.date));
  add(has_changed ? counts_.hints_right : counts_.hints_wrong);
}

}  // namespace meguri::crawl
