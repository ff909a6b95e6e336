#include "crawl/registry.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "crawl/retry_policy.h"
#include "web/url.h"

namespace meguri::crawl {

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

}  // namespace

std::size_t lane_of(const PageRecord& record) {
  if (record.is_done()) return DueQueue::kKnownLane;
  const Candidate& candidate = record.candidate;
  if (candidate.offer == Offer::kEmbed || candidate.offer == Offer::kRedirect) return 0;
  if (candidate.is_last) return 5;
  if (candidate.depth == 0) return 1;
  if (candidate.depth == 1) return 2;
  return candidate.depth <= 3 ? 3 : 4;
}

Registry::Registry(const CrawlOptions& options)
    : pages_max_total_(options.pages_max),
      per_host_max_total_(options.per_host_max),
      tries_max_(std::max<std::uint32_t>(1, options.tries_max)),
      hold_max_(options.crawl_delay_max),
      rules_(options),
      revisit_(options.revisit),
      pulls_(options.revisit.is_on && options.hints.pulls),
      queued_max_(std::max<std::size_t>(1, options.queued_max)),
      store_options_{.store = {.pool_bytes = options.store_pool_bytes,
                               .log_bytes_max = options.store_log_bytes},
                     .known = {.cache_bytes = options.known_cache_bytes}} {}

std::uint64_t Registry::share_of(std::uint64_t total) const {
  const std::uint64_t rest = instance_index() < total % instance_count() ? 1 : 0;
  return total / instance_count() + rest;
}

base::Status Registry::restore(flow::EpochId /*epoch*/, std::string_view state) {
  ASSIGN_OR_RETURN(restored_, RegistryState::decode(state));
  return {};
}

base::Status Registry::start() {
  ASSIGN_OR_RETURN(plan_, RevisitPlan::make(revisit_));
  pages_max_ = pages_max_total_ == 0 ? kNoLimit : share_of(pages_max_total_);
  queue_ = std::make_unique<DueQueue>(std::max<std::uint64_t>(1, share_of(per_host_max_total_)));
  const std::string dir = state_dir() + "/" + name();
  ASSIGN_OR_RETURN(pages_, PageStore::open(files(), pages_dir(dir), store_options_, restored_.pages,
                                           clock().utc()));
  ASSIGN_OR_RETURN(host_counts_,
                   HostPageCounts::open(files(), host_counts_dir(dir), restored_.hosts));
  if (revisit_.remedy == Remedy::kGroup) {
    const auto seconds = static_cast<std::uint32_t>(clock().utc().ms() / 1000);
    ASSIGN_OR_RETURN(groups_,
                     PageGroups::open(files(), groups_dir(dir), restored_.groups,
                                      std::max<std::uint64_t>(1, share_of(revisit_.group_kept)),
                                      std::max<std::uint32_t>(1, seconds)));
  }
  counts_.known = restored_.known;
  counts_.done = restored_.done;
  counts_.waiting = restored_.known - restored_.done;
  std::ranges::copy(restored_.visited, counts_.visited.begin());
  std::ranges::copy(restored_.refused, counts_.refused.begin());
  load_hosts();
  if (pages_->undecided() > 0) decide_soon();
  if (pulls_) serve_hints_soon();  // those of before
  return {};
}

void Registry::load_hosts() {
  for (Index i = 0; i < host_counts_->size(); ++i) {
    const HostPageCounts::Host& host = (*host_counts_)[i];
    CHECK(queue_->host(host_hash_of(host.name)) == i, "two hosts have the same hash");
    is_paused_.push_back(rules_.of(host.name).is_paused);
    if (is_paused_[i]) {
      queue_->rest(i);
      paused_waiting_ += host.pages - host.done;
    }
  }
  counts_.hosts = queue_->hosts();
}

base::Result<std::string> Registry::commit(flow::EpochId epoch) {
  RegistryState state;
  state.known = counts_.known;
  state.done = counts_.done;
  std::ranges::copy(counts_.visited, state.visited.begin());
  std::ranges::copy(counts_.refused, state.refused.begin());
  ASSIGN_OR_RETURN(state.pages, pages_->commit(epoch));
  ASSIGN_OR_RETURN(state.hosts, host_counts_->commit(epoch));
  if (groups_) {
    ASSIGN_OR_RETURN(state.groups, groups_->commit(epoch));
  }
  return state.encode();
}

void Registry::on_durable(flow::EpochId epoch) {
  if (!check(pages_->on_durable(epoch)) || !check(host_counts_->on_durable(epoch))) return;
  if (groups_) check(groups_->on_durable(epoch));
}

bool Registry::check(const base::Status& status) {
  if (!status) fail(status.error());
  return status.has_value();
}

// Of a page that is done.
RegistryCounts::Count& Registry::end_count_of(const PageRecord& record) {
  return record.state == PageState::kVisited
             ? counts_.visited[static_cast<std::size_t>(record.outcome)]
             : counts_.refused[static_cast<std::size_t>(record.refusal)];
}

void Registry::count_end(Index host, const PageRecord& before, const PageRecord& record) {
  if (before.is_done()) {
    subtract(end_count_of(before));
  } else {
    add(counts_.done);
    host_counts_->count_done(host);
  }
  add(end_count_of(record));
}

// --- What comes in.

void Registry::on_candidate(Candidate&& item) {
  const base::Id id = page_id_of(item.url);
  if (item.modified && !heeds(item)) item.modified.reset();
  if (item.modified) {
    add(counts_.hints_heeded);
    serve_hints_soon();
  }
  const auto answer = pages_->ask(id, item, clock().utc());
  if (!answer) {
    fail(answer.error());
    return;
  }
  switch (*answer) {
    case PageStore::Answer::kNew: take_new(id, std::move(item)); return;
    case PageStore::Answer::kKnown: take_known(id, std::move(item)); return;
    case PageStore::Answer::kLater: decide_soon(); return;
  }
}

void Registry::decide_soon() {
  if (decide_at_ != base::Ticks::never()) return;
  decide_at_ = clock().ticks() + kDecideWithin;
  set_timer_for(decide_at_);
}

// What was asked and has no answer yet gets one.
base::Status Registry::decide() {
  decide_at_ = base::Ticks::never();
  pages_->settle();
  for (;;) {
    ASSIGN_OR_RETURN(auto decision, pages_->next_decision(clock().utc()));
    if (!decision) return {};
    if (decision->is_known) {
      take_known(decision->id, std::move(decision->candidate));
    } else {
      take_new(decision->id, std::move(decision->candidate));
    }
  }
}

// A page that waits is visited as what it is nearest to the seeds as, because its links inherit
// its depth. It keeps its place.
void Registry::take_known(const base::Id& id, Candidate&& candidate) {
  add(counts_.offered_again);
  const auto known = pages_->glance(id);
  if (!known || known->state != PageState::kWaiting || !is_nearer(candidate, *known)) return;
  auto record = pages_->get(id);
  record->candidate = std::move(candidate);
  record->candidate.modified.reset();
  record->candidate.history.clear();
  check(pages_->hold(id, *record));
}

void Registry::take_new(const base::Id& id, Candidate&& candidate) {
  const auto url = web::Url::parse(candidate.url);
  if (!url) return;  // UrlFilter lets none pass
  const std::uint64_t host_hash = host_hash_of(url->host());
  if (!has_room_for(url->host(), host_hash)) return;
  PageRecord record;
  record.candidate = std::move(candidate);
  record.candidate.modified.reset();
  record.host = host_hash;
  const Index host = host_of(url->host(), host_hash);
  host_counts_->count_page(host);
  add(counts_.known);
  counts_.hosts = queue_->hosts();
  if (!record.candidate.history.empty() && take_history(id, record, host)) return;
  count_waiting(host, 1);
  if (pages_->out() < queued_max_ && has_share_left(host, false)) {
    if (check(pages_->add_out(id, record))) queue_->push(host, lane_of(record), id);
    return;
  }
  const bool is_full = pages_->out() >= queued_max_;
  check(pages_->add(id, record, is_full ? clock().utc() : next_slot(host)));
  set_timer_for_store();
}

// Whether one more of its pages may stand in the queue.
bool Registry::has_share_left(Index host, bool is_again) const {
  const std::size_t waiting =
      is_again ? queue_->known_waiting_of(host) : queue_->new_waiting_of(host);
  const std::size_t parts = revisit_.is_on ? 2 : 1;
  if (revisit_.is_on) {
    const auto in_time = static_cast<std::size_t>(kQueuedTime.ms() / pace_of(host).ms());
    if (waiting >= std::max(kHostShareMin, in_time / parts)) return false;
  }
  if (pages_->out() < queued_max_ / 2) return true;
  return waiting < std::max(kHostShareMin, queued_max_ / queue_->hosts()) / parts;
}

// From one visit to the next, as far as is known.
base::Duration Registry::pace_of(Index host) const {
  const base::Duration pace = host < paces_.size() ? paces_[host] : base::Duration();
  return std::max(pace, base::Duration::seconds(1));
}

// Behind the last page of the host that was sent away, if it can be asked for that soon enough.
base::Instant Registry::next_slot(Index host) {
  if (host >= slots_.size()) slots_.resize(queue_->hosts());
  const base::Instant now = clock().utc();
  const base::Instant slot =
      std::max(slots_[host] + pace_of(host), now + base::Duration::minutes(1));
  if (revisit_.is_on && slot > now + kQueuedTime) return now + kOverloadWait;
  slots_[host] = slot;
  return slot;
}

std::uint64_t Registry::host_limit_of(const HostPolicy& policy) const {
  return policy.pages_max == 0 ? kNoLimit : share_of(policy.pages_max);
}

bool Registry::has_room_for(std::string_view host_name, std::uint64_t host_hash) {
  if (counts_.known >= pages_max_) {
    add(counts_.over_pages_max);
    return false;
  }
  const Index host = queue_->find_host(host_hash);
  const std::uint64_t pages = host == kNoIndex ? 0 : (*host_counts_)[host].pages;
  const HostPolicy& policy = rules_.of(host_name);
  if (pages >= host_limit_of(policy) || policy.is_skipped) {
    add(counts_.over_host_max);
    return false;
  }
  return true;
}

// Its index in the queue. A new one that is paused rests from the beginning, and no timer wakes it.
Index Registry::host_of(std::string_view name, std::uint64_t hash) {
  const Index host = queue_->host(hash);
  if (host < host_counts_->size()) return host;
  CHECK(host_counts_->add_host(name, clock().utc()) == host);
  is_paused_.push_back(rules_.of(name).is_paused);
  if (is_paused_[host]) queue_->rest(host);
  return host;
}

void Registry::count_waiting(Index host, std::uint64_t n) {
  add(counts_.waiting, n);
  if (is_paused_[host]) paused_waiting_ += n;
}

// Nullopt: the page was not out. Else its credit is back.
std::optional<Registry::InFlight> Registry::come_home(const base::Id& id) {
  const auto found = in_flight_.extract(id);
  if (!found) return std::nullopt;
  const InFlight& page = found.mapped();
  subtract(counts_.in_flight);
  if (page.is_again) {
    subtract(counts_.in_flight_again);
    --again_out_[page.host];
  }
  queue_->came_back(page.host);
  due.give_back();
  return page;
}

// It waits in memory, for its turn or for another try.
void Registry::count_waiting(const PageRecord& record, Index host) {
  record.is_done() ? add(counts_.due_again) : count_waiting(host, 1);
}

void Registry::on_report(Report&& item) {
  const auto page = come_home(item.id);
  auto record = page ? pages_->get(item.id) : std::nullopt;
  if (!record) {
    add(counts_.reports_ignored);
    return;
  }
  if (item.host.access > base::Duration()) {
    if (page->host >= paces_.size()) paces_.resize(queue_->hosts());
    paces_[page->host] = item.host.access;
  }
  const PageRecord before = *record;
  ++record->visits;
  if (!before.is_done()) record->outcome = item.outcome;  // else by which it is counted
  record->fetch = item.fetch;
  record->status = static_cast<std::uint16_t>(std::clamp(item.status, 0, 999));
  record->visited = std::max(item.date, record->visited);
  if (item.version) record->prior = std::move(item.version);
  record->failures = item.may_pass ? record->failures + 1 : 0;
  if (may_try_again(item, *record)) {
    record->not_before = item.date + std::max(retry_wait(record->failures), item.hold);
    add(counts_.tries_failed);
    check(wait_for_try(item.id, *record, page->host));
    return;
  }
  record->failures = 0;
  plan_visit(item, *record, page->host);
  if (before.is_due_by_hint()) count_hint(item, before, *record, page->host);
  if (groups_) count_in_group(item.id, before, *record, item.host);
  check(finish(item.id, before, *record, page->host));
}

void Registry::plan_visit(const Report& item, PageRecord& record, Index host) {
  Report seen = item;
  if (groups_ && item.host.factor > 1) {
    const GroupMember page{record.host, item.id, record.candidate.url};
    seen.host.factor = groups_->factor_of(page, (*host_counts_)[host].load, item.host.factor);
  }
  plan_->take_visit(seen, random().uniform(), record);
}

// Only pages of hosts that were once asked for too much are counted.
void Registry::count_in_group(const base::Id& id, const PageRecord& before, PageRecord& record,
                              const HostPace& pace) {
  const GroupMember page{record.host, id, record.candidate.url};
  if (record.groups == groups_->generation()) {
    groups_->change_load(page, load_of(record) - load_of(before));
  } else if (pace.factor > 1) {
    groups_->add(page, load_of(record));
    record.groups = groups_->generation();
  }
}

base::Status Registry::finish(const base::Id& id, const PageRecord& before,
                              const PageRecord& record, Index host) {
  count_end(host, before, record);
  host_counts_->change_load(host, load_of(record) - load_of(before));
  RETURN_IF_ERROR(pages_->reschedule(id, record, record.next_visit));
  set_timer_for_store();
  return {};
}

// In memory while there is room, so that it comes to the second.
base::Status Registry::wait_for_try(const base::Id& id, const PageRecord& record, Index host) {
  if (pages_->out() >= queued_max_ / 2) {
    if (!record.is_done()) count_waiting(host, 1);
    set_timer_for_store();
    return pages_->reschedule(id, record, record.not_before);
  }
  count_waiting(record, host);
  wait_until(record.not_before, id, host);
  return pages_->hold(id, record);
}

bool Registry::may_try_again(const Report& item, const PageRecord& record) const {
  return item.may_pass && record.failures < tries_max_ && item.hold <= hold_max_;
}

// A clock that was set back must not make the page wait for ever.
void Registry::wait_until(base::Instant time, const base::Id& id, Index host) {
  const base::Duration most = std::max(hold_max_, kRestMax);
  const base::Duration wait = std::clamp(time - clock().utc(), base::Duration(), most);
  later_.emplace(clock().ticks() + wait, id, host);
  set_timer_for(clock().ticks() + wait);
}

void Registry::on_refused(Refused&& item) {
  const auto page = come_home(item.id);
  auto record = page ? pages_->get(item.id) : std::nullopt;
  if (!record) {
    add(counts_.reports_ignored);
    return;
  }
  if (comes_again(item.reason)) {
    const bool is_said = item.reason == Refusal::kLater;
    wait_again(item.id, *record, page->host,
               is_said ? std::clamp(item.wait, kRest, kRestMax) : kRest);
    return;
  }
  const PageRecord before = *record;
  plan_->take_refusal(item.reason, clock().utc(), *record);
  if (item.reason == Refusal::kAlias) record->next_visit = clock().utc() + item.wait;
  check(finish(item.id, before, *record, page->host));
  // An alias comes often, and is told of once.
  const bool is_told = item.reason == Refusal::kAlias && before.state == PageState::kRefused &&
                       before.refusal == Refusal::kAlias;
  if (is_told) return;
  notes.emit({clock().utc(), std::move(record->candidate), item.reason});
}

// At the end of its lane; and the host rests, else the page could be handed out and refused for
// ever without any time going by.
void Registry::wait_again(const base::Id& id, const PageRecord& record, Index host,
                          base::Duration rest) {
  queue_->push(host, lane_of(record), id);
  count_waiting(record, host);
  add(counts_.came_again);
  if (!queue_->rest(host)) return;
  resting_.emplace(clock().ticks() + rest, host);
  set_timer_for(clock().ticks() + rest);
}

void Registry::set_timer_for(base::Ticks at) {
  if (at >= timer_at_) return;
  timer_at_ = at;
  set_timer(at, 0);
}

void Registry::on_timer(std::uint64_t /*tag*/) {
  const base::Ticks now = clock().ticks();
  if (now < timer_at_) return;  // one that was set before an earlier one was wanted
  timer_at_ = base::Ticks::never();
  while (!resting_.empty() && resting_.top().first <= now) {
    queue_->wake(resting_.top().second);
    resting_.pop();
  }
  while (!later_.empty() && std::get<0>(later_.top()) <= now) {
    const auto [at, id, host] = later_.top();
    later_.pop();
    const auto record = pages_->get(id);
    CHECK(record, "a page waits that is not out");
    queue_->push(host, lane_of(*record), id);
  }
  if (decide_at_ <= now) check(decide());
  if (!resting_.empty()) set_timer_for(resting_.top().first);
  if (!later_.empty()) set_timer_for(std::get<0>(later_.top()));
  if (decide_at_ != base::Ticks::never()) set_timer_for(decide_at_);
  if (hints_at_ > now && hints_at_ != base::Ticks::never()) set_timer_for(hints_at_);
  set_timer_for_store();
}

// When more can come from the store, if anything that waits is there.
void Registry::set_timer_for_store() {
  if (pages_->out() >= queued_max_ || draining()) return;
  const std::uint64_t new_in_memory = queue_->waiting() + later_.size() - counts_.due_again;
  if (!revisit_.is_on && counts_.waiting == new_in_memory) return;
  const base::Duration wait = pages_->next_due_at() - clock().utc();
  set_timer_for(clock().ticks() + std::clamp(wait, base::Duration::from_ms(1), kRestMax));
}

// --- What goes out.

bool Registry::produce() {
  if (draining()) return false;
  const bool is_hungry = queue_->waiting() == 0 && pages_->undecided() > 0;
  if ((is_hungry || pages_->has_decisions()) && !check(decide())) return false;
  const bool has_hints = hints_at_ <= clock().ticks();
  if (has_hints && !check(serve_hints())) return false;
  const auto refilled = refill();
  if (!refilled) {
    fail(refilled.error());
    return false;
  }
  for (int i = 0; i < kHandOutAtOnce; ++i) {
    if (due.credits() == 0 || !hand_out_one()) return *refilled || has_hints;
  }
  return true;
}

// Takes some of what is due into the queue. True: there may be more.
base::Result<bool> Registry::refill() {
  for (int i = 0; i < kHandOutAtOnce; ++i) {
    if (pages_->out() >= queued_max_) return false;
    ASSIGN_OR_RETURN(auto due_page, pages_->next_due(clock().utc()));
    if (!due_page) {
      set_timer_for_store();
      return false;
    }
    const Index host = queue_->find_host(due_page->record.host);
    if (host == kNoIndex) {
      return base::fail(base::ErrorCode::kCorrupt, "page {} is of no known host",
                        due_page->id.to_hex());
    }
    RETURN_IF_ERROR(take_due(*std::move(due_page), host));
  }
  return true;
}

base::Status Registry::take_due(PageStore::Due&& page, Index host) {
  if (page.record.is_done() && (page.modified || page.record.hint)) {
    ASSIGN_OR_RETURN(const bool is_back, goes_back(page.id, page.record, page.modified, host));
    if (is_back) return {};
  }
  return queue_or_store(page.id, page.record, host);
}

base::Status Registry::queue_or_store(const base::Id& id, const PageRecord& record, Index host) {
  const base::Instant now = clock().utc();
  if (record.is_done() && (!revisit_.is_on || !plan_->is_visited_again(record))) {
    return pages_->reschedule(id, record, now + kDoneWait);
  }
  if (record.not_before > now) {
    wait_until(record.not_before, id, host);
  } else if (has_share_left(host, record.is_done())) {
    queue_->push(host, lane_of(record), id);
  } else {
    return pages_->reschedule(id, record, next_slot(host));
  }
  if (record.is_done()) add(counts_.due_again);
  return {};
}

// False: no page may leave now.
bool Registry::hand_out_one() {
  const auto next = queue_->pop();
  if (!next) return false;
  auto record = pages_->get(next->id);
  CHECK(record, "a page waits that is not out of the store");
  const bool is_again = record->is_done();
  if (record->hint) {
    const auto is_back = goes_back(next->id, *record, std::nullopt, next->host);
    if (!is_back) fail(is_back.error());
    if (!is_back || *is_back) {
      subtract(counts_.due_again);
      queue_->came_back(next->host);
      return is_back.has_value();
    }
    if (record->is_due_by_hint()) add(counts_.hinted);
  }
  CHECK(in_flight_.emplace(next->id, InFlight{next->host, is_again}).second,
        "a page was handed out twice");
  if (is_again) {
    if (next->host >= again_out_.size()) again_out_.resize(queue_->hosts());
    ++again_out_[next->host];
    subtract(counts_.due_again);
    add(counts_.in_flight_again);
    add(counts_.handed_out_again);
  } else {
    count_waiting(next->host, std::uint64_t(-1));
  }
  add(counts_.in_flight);
  add(counts_.handed_out);
  due.emit({.id = next->id,
            .candidate = std::move(record->candidate),
            .prior = std::move(record->prior),
            .host_pages = (*host_counts_)[next->host].pages * instance_count(),
            .host_load = (*host_counts_)[next->host].load * static_cast<double>(instance_count())});
  return true;
}

bool Registry::idle() const {
  if (!in_flight_.empty()) return false;
  if (!draining() && (revisit_.is_on || pages_->undecided() > 0)) return false;
  return draining() || counts_.waiting.load(std::memory_order_relaxed) == paused_waiting_;
}

}  // namespace meguri::crawl
