// How the Registry takes pages that were visited before this crawl.
#include <algorithm>
#include <string>
#include <utility>

#include "crawl/registry.h"

namespace meguri::crawl {

// False: it is of no use here, and the page is as any other.
bool Registry::take_history(const base::Id& id, PageRecord& record, Index host) {
  const std::string history = std::exchange(record.candidate.history, {});
  PageRecord known;
  if (!revisit_.is_on || !flow::Codec<PageRecord>::decode(history, known) || !known.is_done()) {
    return false;
  }
  known.candidate = std::move(record.candidate);
  known.host = record.host;
  const base::Instant now = clock().utc();
  if (known.candidate.is_seed()) {
    known.next_visit = now;
  } else if (known.next_visit <= now) {
    const base::Duration within =
        std::clamp(interval_of(known), base::Duration::minutes(1), kQueuedTime);
    const double wait = static_cast<double>(within.ms()) * random().uniform();
    known.next_visit = now + base::Duration::from_ms(static_cast<std::int64_t>(wait));
  }
  count_end(host, record, known);
  host_counts_->change_load(host, load_of(known));
  add(counts_.from_history);
  if (known.candidate.is_seed() && pages_->out() < queued_max_) {
    if (check(pages_->add_out(id, known))) queue_->push(host, lane_of(known), id);
    add(counts_.due_again);
    return true;
  }
  check(pages_->add(id, known, known.next_visit));
  set_timer_for_store();
  return true;
}

}  // namespace meguri::crawl
