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
      rules_(options) {}

std::uint64_t Registry::share_of(std::uint64_t total) const {
  const std::uint64_t rest = instance_index() < total % instance_count() ? 1 : 0;
  return total / instance_count() + rest;
}

base::Status Registry::restore(flow::EpochId /*epoch*/, std::string_view state) {
  restored_ = state;
  return {};
}

base::Status Registry::start() {
  pages_max_ = pages_max_total_ == 0 ? kNoLimit : share_of(pages_max_total_);
  queue_ = std::make_unique<DueQueue>(std::max<std::uint64_t>(1, share_of(per_host_max_total_)));
  ASSIGN_OR_RETURN(pages_, DurableMap::open(files(), state_dir() + "/" + name(), restored_));
  return load_pages();
}

// Counts all pages, and lets those that are not done wait, in the order in which they were found.
base::Status Registry::load_pages() {
  struct Waiting {
    std::uint64_t order;
    base::Id id;
    Index host;
    std::size_t lane;
    base::Instant not_before;
  };
  std::vector<Waiting> waiting;
  bool whole = true;
  PageRecord record;
  pages_->for_each([&](std::string_view page_key, std::string_view value) {
    const auto id = id_of_page_key(page_key);
    if (!id || !flow::Codec<PageRecord>::decode(value, record)) {
      whole = false;
      return;
    }
    const Index host = host_of(record.candidate, record.host);
    ++queue_->pages_of(host);
    note_host(host, *id);
    next_order_ = std::max(next_order_, record.order + 1);
    add(counts_.known);
    if (record.is_done()) {
      count_done(record, true);
    } else {
      waiting.push_back({record.order, *id, host, lane_of(record.candidate), record.not_before});
    }
  });
  if (!whole) {
    return base::fail(base::ErrorCode::kCorrupt,
                      "pages of {} cannot be decoded: they were written by another version",
                      name());
  }
  std::ranges::sort(waiting, {}, [](const Waiting& page) { return std::tie(page.order, page.id); });
  for (const Waiting& page : waiting) {
    if (page.not_before > clock().utc()) {
      wait_until(page.not_before, page.id, page.host);
    } else {
      queue_->push(page.host, page.lane, page.id);
    }
    count_waiting(page.host, 1);
  }
  counts_.hosts = queue_->hosts();
  return {};
}

base::Result<std::string> Registry::commit(flow::EpochId epoch) { return pages_->commit(epoch); }

void Registry::on_durable(flow::EpochId epoch) {
  if (const auto status = pages_->on_durable(epoch); !status) fail(status.error());
}

std::optional<PageRecord> Registry::find(const base::Id& id) const {
  const auto value = pages_->find(page_key_of(id));
  if (!value) return std::nullopt;
  PageRecord record;
  CHECK(flow::Codec<PageRecord>::decode(*value, record), "a page was loaded that is none");
  return record;
}

void Registry::store(const base::Id& id, const PageRecord& record) {
  encoded_.clear();
  flow::Codec<PageRecord>::encode(record, encoded_);
  pages_->put(page_key_of(id), encoded_);
}

void Registry::count_done(const PageRecord& record, bool more) {
  RegistryCounts::Count& by_reason =
      record.state == PageState::kVisited
          ? counts_.visited[static_cast<std::size_t>(record.outcome)]
          : counts_.refused[static_cast<std::size_t>(record.refusal)];
  const std::uint64_t n = more ? 1 : std::uint64_t(-1);
  add(counts_.done, n);
  add(by_reason, n);
}

// --- What comes in.

void Registry::on_candidate(Candidate&& item) {
  const base::Id id = page_id_of(item.url);
  if (const auto known = pages_->find(page_key_of(id))) {
    add(counts_.offered_again);
    offer_again(id, *known, std::move(item));
    return;
  }
  const auto url = web::Url::parse(item.url);
  if (!url) return;  // UrlFilter lets none pass
  const std::uint64_t host_hash = host_hash_of(url->host());
  if (has_room_for(url->host(), host_hash)) register_page(id, std::move(item), host_hash);
}

// A page that waits is visited as what it is nearest to the seeds as, because its links inherit
// its depth. It keeps its place.
void Registry::offer_again(const base::Id& id, std::string_view encoded, Candidate&& candidate) {
  const auto known = glance_of(encoded);
  CHECK(known, "a page was stored that is none");
  // Of two at the same place the seed counts, because the scope follows where it redirects to.
  const std::tuple offered(candidate.depth, candidate.hops, candidate.is_seed() ? 0 : 1);
  const bool is_nearer = offered < std::tuple(known->depth, known->hops, known->is_seed ? 0 : 1);
  if (known->state != PageState::kWaiting || !is_nearer) return;
  auto record = find(id);
  record->candidate = std::move(candidate);
  store(id, *record);
}

std::uint64_t Registry::host_limit_of(const HostPolicy& policy) const {
  return policy.pages_max == 0 ? kNoLimit : share_of(policy.pages_max);
}

bool Registry::has_room_for(std::string_view host_name, std::uint64_t host_hash) {
  if (pages_->size() >= pages_max_) {
    add(counts_.over_pages_max);
    return false;
  }
  const Index host = queue_->find_host(host_hash);
  const std::uint64_t pages = host == kNoIndex ? 0 : queue_->pages_of(host);
  const HostPolicy& policy = rules_.of(host_name);
  if (pages >= host_limit_of(policy) || policy.is_skipped) {
    add(counts_.over_host_max);
    return false;
  }
  return true;
}

// The host of the page in the queue. A new one that is paused rests from the beginning, and no
// timer wakes it.
Index Registry::host_of(const Candidate& candidate, std::uint64_t host_hash) {
  const Index host = queue_->host(host_hash);
  if (host < is_paused_.size()) return host;
  const auto url = web::Url::parse(candidate.url);
  is_paused_.push_back(url && rules_.of(url->host()).is_paused);
  if (is_paused_[host]) queue_->rest(host);
  return host;
}

void Registry::count_waiting(Index host, std::uint64_t n) {
  add(counts_.waiting, n);
  if (is_paused_[host]) paused_waiting_ += n;
}

void Registry::register_page(const base::Id& id, Candidate&& candidate, std::uint64_t host_hash) {
  PageRecord record;
  record.candidate = std::move(candidate);
  record.host = host_hash;
  record.order = next_order_++;
  store(id, record);
  const Index host = host_of(record.candidate, host_hash);
  ++queue_->pages_of(host);
  note_host(host, id);
  queue_->push(host, lane_of(record.candidate), id);
  add(counts_.known);
  count_waiting(host, 1);
  counts_.hosts = queue_->hosts();
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
  auto record = find(item.id);
  const bool was_waiting = record && !record->is_done();
  const bool is_old = record && record->visits > 0 && item.date <= record->visited;
  // What was out counts, even if the clock was set back between two tries.
  if (!record || (is_old && !(host && was_waiting))) {
    add(counts_.reports_ignored);
    return;
  }
  if (record->is_done()) {
    count_done(*record, false);
  } else {
    if (host) {
      subtract(counts_.in_flight);
    } else {
      count_waiting(queue_->find_host(record->host), std::uint64_t(-1));
    }
  }
  ++record->visits;
  record->outcome = item.outcome;
  record->fetch = item.fetch;
  record->status = static_cast<std::uint16_t>(std::clamp(item.status, 0, 999));
  record->visited = std::max(item.date, record->visited);
  if (item.version) record->prior = std::move(item.version);
  record->failures = item.may_pass ? record->failures + 1 : 0;
  if (was_waiting && may_try_again(item, *record)) {
    record->not_before = item.date + std::max(retry_wait(record->failures), item.hold);
    store(item.id, *record);
    count_waiting(queue_->find_host(record->host), 1);
    add(counts_.tries_failed);
    if (host) wait_until(record->not_before, item.id, *host);
    return;
  }
  record->state = PageState::kVisited;
  store(item.id, *record);
  count_done(*record, true);
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
  auto record = find(item.id);
  if (!host || !record || record->is_done()) {
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
  store(item.id, *record);
  count_done(*record, true);
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
    const auto record = find(id);
    CHECK(record, "a page waits that is not known");
    if (!record->is_done()) queue_->push(host, lane_of(record->candidate), id);
  }
  if (!resting_.empty()) set_timer_for(resting_.top().first);
  if (!later_.empty()) set_timer_for(std::get<0>(later_.top()));
}

// --- What goes out.

bool Registry::produce() {
  if (draining()) return false;
  for (int i = 0; i < kHandOutAtOnce; ++i) {
    if (due.credits() == 0 || !hand_out_one()) return false;
  }
  return true;
}

// False: no page may leave now.
bool Registry::hand_out_one() {
  while (const auto next = queue_->pop()) {
    auto record = find(next->id);
    CHECK(record, "a page waits that is not known");
    if (record->is_done()) {  // a report came although it was not out
      queue_->came_back(next->host);
      continue;
    }
    CHECK(in_flight_.emplace(next->id, next->host).second, "a page was handed out twice");
    count_waiting(next->host, std::uint64_t(-1));
    add(counts_.in_flight);
    add(counts_.handed_out);
    due.emit({.id = next->id,
              .candidate = std::move(record->candidate),
              .prior = std::move(record->prior),
              .host_pages = queue_->pages_of(next->host) * instance_count()});
    return true;
  }
  return false;
}

// --- Questions.

void Registry::note_host(Index host, const base::Id& page) {
  if (host >= host_pages_.size()) host_pages_.resize(host + 1, page);
}

HostPages Registry::pages_of(Index host) const {
  HostPages pages;
  const auto record = find(host_pages_[host]);
  const auto url = web::Url::parse(record ? record->candidate.url : "");
  if (url) pages.host = url->host();
  pages.pages = queue_->pages_of(host);
  pages.waiting = queue_->waiting_of(host);
  pages.out = queue_->out_of(host);
  return pages;
}

// Linear in the number of hosts: a question of people, now and then.
std::vector<HostPages> Registry::first_hosts(HostOrder order, std::size_t limit) const {
  std::vector<std::pair<std::uint64_t, Index>> all;
  all.reserve(queue_->hosts());
  for (Index i = 0; i < queue_->hosts(); ++i) {
    const bool by_pages = order == HostOrder::kPages;
    all.emplace_back(by_pages ? queue_->pages_of(i) : queue_->waiting_of(i) + queue_->out_of(i), i);
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
    if (auto record = find(*question.page)) {
      const std::size_t lane = lane_of(record->candidate);
      answer.page = {*std::move(record), lane, in_flight_.contains(*question.page)};
    }
    const Index host = question.hosts.empty() ? kNoIndex : queue_->find_host(question.hosts[0]);
    answer.is_full = pages_->size() >= pages_max_;
    answer.is_host_full =
        host != kNoIndex && queue_->pages_of(host) >= host_limit_of(rules_.of(question.page_host));
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
  return draining() || counts_.waiting.load(std::memory_order_relaxed) == paused_waiting_;
}

}  // namespace meguri::crawl
