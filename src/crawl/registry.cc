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

std::size_t lane_of(const Candidate& candidate) {
  if (candidate.offer == Offer::kEmbed || candidate.offer == Offer::kRedirect) return 0;
  if (candidate.depth == 0) return 1;
  if (candidate.depth == 1) return 2;
  return candidate.depth <= 3 ? 3 : 4;
}

// Counters have one writer, so they need no atomic addition.
void add(RegistryCounts::Count& count, std::uint64_t n = 1) {
  count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}
void subtract(RegistryCounts::Count& count) { add(count, std::uint64_t(-1)); }

}  // namespace

Registry::Registry(const CrawlOptions& options)
    : pages_max_total_(options.pages_max),
      per_host_max_total_(options.per_host_max),
      tries_max_(std::max<std::uint32_t>(1, options.tries_max)),
      hold_max_(options.crawl_delay_max),
      rules_(options),
      queued_max_(std::max<std::size_t>(1, options.queued_max)),
      store_options_{.store = {.pool_bytes = options.store_pool_bytes},
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
  pages_max_ = pages_max_total_ == 0 ? kNoLimit : share_of(pages_max_total_);
  queue_ = std::make_unique<DueQueue>(std::max<std::uint64_t>(1, share_of(per_host_max_total_)));
  const std::string dir = state_dir() + "/" + name();
  ASSIGN_OR_RETURN(pages_, PageStore::open(files(), pages_dir(dir), store_options_, restored_.pages,
                                           clock().utc()));
  ASSIGN_OR_RETURN(host_counts_,
                   HostPageCounts::open(files(), host_counts_dir(dir), restored_.hosts));
  counts_.known = restored_.known;
  counts_.done = restored_.done;
  counts_.waiting = restored_.known - restored_.done;
  std::ranges::copy(restored_.visited, counts_.visited.begin());
  std::ranges::copy(restored_.refused, counts_.refused.begin());
  load_hosts();
  if (pages_->undecided() > 0) decide_soon();
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
  return state.encode();
}

void Registry::on_durable(flow::EpochId epoch) {
  if (check(pages_->on_durable(epoch))) check(host_counts_->on_durable(epoch));
}

bool Registry::check(const base::Status& status) {
  if (!status) fail(status.error());
  return status.has_value();
}

void Registry::count_done(Index host, const PageRecord& record) {
  add(counts_.done);
  add(record.state == PageState::kVisited
          ? counts_.visited[static_cast<std::size_t>(record.outcome)]
          : counts_.refused[static_cast<std::size_t>(record.refusal)]);
  host_counts_->count_done(host);
}

// --- What comes in.

void Registry::on_candidate(Candidate&& item) {
  const base::Id id = page_id_of(item.url);
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
  check(pages_->hold(id, *record));
}

void Registry::take_new(const base::Id& id, Candidate&& candidate) {
  const auto url = web::Url::parse(candidate.url);
  if (!url) return;  // UrlFilter lets none pass
  const std::uint64_t host_hash = host_hash_of(url->host());
  if (!has_room_for(url->host(), host_hash)) return;
  PageRecord record;
  record.candidate = std::move(candidate);
  record.host = host_hash;
  const Index host = host_of(url->host(), host_hash);
  host_counts_->count_page(host);
  add(counts_.known);
  count_waiting(host, 1);
  counts_.hosts = queue_->hosts();
  if (pages_->out() < queued_max_ && has_share_left(host)) {
    if (check(pages_->add_out(id, record))) queue_->push(host, lane_of(record.candidate), id);
    return;
  }
  const bool is_full = pages_->out() >= queued_max_;
  check(pages_->add(id, record, is_full ? clock().utc() : next_slot(host)));
  set_timer_for_store();
}

// Whether one more of its pages may stand in the queue.
bool Registry::has_share_left(Index host) const {
  if (pages_->out() < queued_max_ / 2) return true;
  const std::size_t share = std::max(kHostShareMin, queued_max_ / queue_->hosts());
  return queue_->waiting_of(host) < share;
}

// A second after the last page of the host that was sent away.
base::Instant Registry::next_slot(Index host) {
  if (host >= slots_.size()) slots_.resize(queue_->hosts());
  const base::Instant soonest = clock().utc() + base::Duration::minutes(1);
  slots_[host] = std::max(slots_[host] + base::Duration::seconds(1), soonest);
  return slots_[host];
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
  CHECK(host_counts_->add_host(name) == host);
  is_paused_.push_back(rules_.of(name).is_paused);
  if (is_paused_[host]) queue_->rest(host);
  return host;
}

void Registry::count_waiting(Index host, std::uint64_t n) {
  add(counts_.waiting, n);
  if (is_paused_[host]) paused_waiting_ += n;
}

// The page's host, if it was out; its credit is back.
std::optional<Index> Registry::come_home(const base::Id& id) {
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return std::nullopt;
  const Index host = found->second;
  in_flight_.erase(found);
  queue_->came_back(host);
  due.give_back();
  return host;
}

void Registry::on_report(Report&& item) {
  const auto host = come_home(item.id);
  auto record = host ? pages_->get(item.id) : std::nullopt;
  if (!record) {
    add(counts_.reports_ignored);
    return;
  }
  subtract(counts_.in_flight);
  ++record->visits;
  record->outcome = item.outcome;
  record->fetch = item.fetch;
  record->status = static_cast<std::uint16_t>(std::clamp(item.status, 0, 999));
  record->visited = std::max(item.date, record->visited);
  if (item.version) record->prior = std::move(item.version);
  record->failures = item.may_pass ? record->failures + 1 : 0;
  if (may_try_again(item, *record)) {
    record->not_before = item.date + std::max(retry_wait(record->failures), item.hold);
    count_waiting(*host, 1);
    add(counts_.tries_failed);
    check(wait_for_try(item.id, *record, *host));
    return;
  }
  record->state = PageState::kVisited;
  check(finish(item.id, *record, *host));
}

base::Status Registry::finish(const base::Id& id, const PageRecord& record, Index host) {
  count_done(host, record);
  return pages_->reschedule(id, record, clock().utc() + kDoneWait);
}

// In memory while there is room, so that it comes to the second.
base::Status Registry::wait_for_try(const base::Id& id, const PageRecord& record, Index host) {
  if (pages_->out() >= queued_max_ / 2) {
    set_timer_for_store();
    return pages_->reschedule(id, record, record.not_before);
  }
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
  const auto host = come_home(item.id);
  auto record = host ? pages_->get(item.id) : std::nullopt;
  if (!record) {
    add(counts_.reports_ignored);
    return;
  }
  subtract(counts_.in_flight);
  if (comes_again(item.reason)) {
    const bool is_said = item.reason == Refusal::kLater;
    wait_again(item.id, *record, *host, is_said ? std::clamp(item.wait, kRest, kRestMax) : kRest);
    return;
  }
  record->state = PageState::kRefused;
  record->refusal = item.reason;
  check(finish(item.id, *record, *host));
  notes.emit({clock().utc(), std::move(record->candidate), item.reason});
}

// At the end of its lane; and the host rests, else the page could be handed out and refused for
// ever without any time going by.
void Registry::wait_again(const base::Id& id, const PageRecord& record, Index host,
                          base::Duration rest) {
  queue_->push(host, lane_of(record.candidate), id);
  count_waiting(host, 1);
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
    queue_->push(host, lane_of(record->candidate), id);
  }
  if (decide_at_ <= now) check(decide());
  if (!resting_.empty()) set_timer_for(resting_.top().first);
  if (!later_.empty()) set_timer_for(std::get<0>(later_.top()));
  if (decide_at_ != base::Ticks::never()) set_timer_for(decide_at_);
  set_timer_for_store();
}

// When more can come from the store, if anything that waits is there.
void Registry::set_timer_for_store() {
  const bool is_full = pages_->out() >= queued_max_;
  if (is_full || counts_.waiting == queue_->waiting() + later_.size()) return;
  const base::Duration wait = pages_->next_due_at() - clock().utc();
  set_timer_for(clock().ticks() + std::clamp(wait, base::Duration::from_ms(1), kRestMax));
}

// --- What goes out.

bool Registry::produce() {
  if (draining()) return false;
  const bool is_hungry = queue_->waiting() == 0 && pages_->undecided() > 0;
  if ((is_hungry || pages_->has_decisions()) && !check(decide())) return false;
  const auto refilled = refill();
  if (!refilled) {
    fail(refilled.error());
    return false;
  }
  for (int i = 0; i < kHandOutAtOnce; ++i) {
    if (due.credits() == 0 || !hand_out_one()) return *refilled;
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
    const PageRecord& record = due_page->record;
    const Index host = queue_->find_host(record.host);
    if (host == kNoIndex) {
      return base::fail(base::ErrorCode::kCorrupt, "page {} is of no known host",
                        due_page->id.to_hex());
    }
    RETURN_IF_ERROR(queue_or_store(due_page->id, record, host));
  }
  return true;
}

base::Status Registry::queue_or_store(const base::Id& id, const PageRecord& record, Index host) {
  const base::Instant now = clock().utc();
  if (record.is_done()) return pages_->reschedule(id, record, now + kDoneWait);
  if (record.not_before > now) {
    wait_until(record.not_before, id, host);
  } else if (has_share_left(host)) {
    queue_->push(host, lane_of(record.candidate), id);
  } else {
    return pages_->reschedule(id, record, next_slot(host));
  }
  return {};
}

// False: no page may leave now.
bool Registry::hand_out_one() {
  const auto next = queue_->pop();
  if (!next) return false;
  auto record = pages_->get(next->id);
  CHECK(record, "a page waits that is not out of the store");
  CHECK(in_flight_.emplace(next->id, next->host).second, "a page was handed out twice");
  count_waiting(next->host, std::uint64_t(-1));
  add(counts_.in_flight);
  add(counts_.handed_out);
  due.emit({.id = next->id,
            .candidate = std::move(record->candidate),
            .prior = std::move(record->prior),
            .host_pages = (*host_counts_)[next->host].pages * instance_count()});
  return true;
}

// --- Questions.

HostPages Registry::pages_of(Index host) const {
  const HostPageCounts::Host& counts = (*host_counts_)[host];
  HostPages pages;
  pages.host = counts.name;
  pages.pages = counts.pages;
  pages.out = queue_->out_of(host);
  pages.waiting = counts.pages - counts.done - pages.out;
  return pages;
}

// Linear in the number of hosts: a question of people, now and then.
std::vector<HostPages> Registry::first_hosts(HostOrder order, std::size_t limit) const {
  std::vector<std::pair<std::uint64_t, Index>> all;
  all.reserve(queue_->hosts());
  for (Index i = 0; i < queue_->hosts(); ++i) {
    const HostPageCounts::Host& host = (*host_counts_)[i];
    all.emplace_back(order == HostOrder::kPages ? host.pages : host.pages - host.done, i);
  }
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(limit, all.size()));
  std::ranges::partial_sort(all, end, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<HostPages> first;
  for (auto it = all.begin(); it != end; ++it) first.push_back(pages_of(it->second));
  return first;
}

void Registry::on_question(RegistryQuestion&& question) {
  RegistryAnswer answer{.ticket = question.ticket};
  if (question.page) {
    auto record = pages_->find(*question.page);
    if (!record) {
      fail(record.error());
      return;
    }
    if (*record) {
      const std::size_t lane = lane_of((*record)->candidate);
      answer.page = {**std::move(record), lane, in_flight_.contains(*question.page)};
    }
    const Index host = question.hosts.empty() ? kNoIndex : queue_->find_host(question.hosts[0]);
    answer.is_full = counts_.known >= pages_max_;
    answer.is_host_full = host != kNoIndex && (*host_counts_)[host].pages >=
                                                  host_limit_of(rules_.of(question.page_host));
  }
  for (const std::uint64_t hash : question.hosts) {
    const Index host = queue_->find_host(hash);
    if (host != kNoIndex) answer.hosts.push_back(pages_of(host));
  }
  if (question.order) answer.hosts = first_hosts(*question.order, question.limit);
  answers.emit(std::move(answer));
}

bool Registry::idle() const {
  if (!in_flight_.empty()) return false;
  if (!draining() && pages_->undecided() > 0) return false;
  return draining() || counts_.waiting.load(std::memory_order_relaxed) == paused_waiting_;
}

}  // namespace meguri::crawl
