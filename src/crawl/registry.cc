#include "crawl/registry.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "base/check.h"
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
      pages_per_host_max_total_(options.pages_per_host_max),
      per_host_max_total_(options.per_host_max) {}

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
  pages_per_host_max_ =
      pages_per_host_max_total_ == 0 ? kNoLimit : share_of(pages_per_host_max_total_);
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
    const Index host = queue_->host(record.host);
    ++queue_->pages_of(host);
    next_order_ = std::max(next_order_, record.order + 1);
    add(counts_.known);
    if (record.is_done()) {
      count_done(record, true);
    } else {
      waiting.push_back({record.order, *id, host, lane_of(record.candidate)});
    }
  });
  if (!whole) {
    return base::fail(base::ErrorCode::kCorrupt,
                      "pages of {} cannot be decoded: they were written by another version",
                      name());
  }
  std::ranges::sort(waiting, {}, [](const Waiting& page) { return std::tie(page.order, page.id); });
  for (const Waiting& page : waiting) queue_->push(page.host, page.lane, page.id);
  add(counts_.waiting, waiting.size());
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
  if (has_room_for(host_hash)) register_page(id, std::move(item), host_hash);
}

// A page that waits is visited as what it is nearest to the seeds as, because its links inherit
// its depth. It keeps its place.
void Registry::offer_again(const base::Id& id, std::string_view encoded, Candidate&& candidate) {
  const auto known = glance_of(encoded);
  CHECK(known, "a page was stored that is none");
  const bool is_nearer =
      std::tie(candidate.depth, candidate.hops) < std::tie(known->depth, known->hops);
  if (known->state != PageState::kWaiting || !is_nearer) return;
  auto record = find(id);
  record->candidate = std::move(candidate);
  store(id, *record);
}

bool Registry::has_room_for(std::uint64_t host_hash) {
  if (pages_->size() >= pages_max_) {
    add(counts_.over_pages_max);
    return false;
  }
  const Index host = queue_->find_host(host_hash);
  const std::uint64_t pages = host == kNoIndex ? 0 : queue_->pages_of(host);
  if (pages >= pages_per_host_max_) {
    add(counts_.over_host_max);
    return false;
  }
  return true;
}

void Registry::register_page(const base::Id& id, Candidate&& candidate, std::uint64_t host_hash) {
  PageRecord record;
  record.candidate = std::move(candidate);
  record.host = host_hash;
  record.order = next_order_++;
  store(id, record);
  const Index host = queue_->host(host_hash);
  ++queue_->pages_of(host);
  queue_->push(host, lane_of(record.candidate), id);
  add(counts_.known);
  add(counts_.waiting);
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
  if (!record || (record->visits > 0 && item.date <= record->visited)) {
    add(counts_.reports_ignored);
    return;  // visited before, so it was neither waiting nor out
  }
  if (record->is_done()) {
    count_done(*record, false);
  } else {
    subtract(host ? counts_.in_flight : counts_.waiting);
  }
  record->state = PageState::kVisited;
  ++record->visits;
  record->outcome = item.outcome;
  record->fetch = item.fetch;
  record->status = static_cast<std::uint16_t>(std::clamp(item.status, 0, 999));
  record->visited = item.date;
  if (item.version) record->prior = std::move(item.version);
  store(item.id, *record);
  count_done(*record, true);
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
    wait_again(item.id, *record, *host);
    return;
  }
  record->state = PageState::kRefused;
  record->refusal = item.reason;
  store(item.id, *record);
  count_done(*record, true);
}

// At the end of its lane; and the host rests, else the page could be handed out and refused for
// ever without any time going by.
void Registry::wait_again(const base::Id& id, const PageRecord& record, Index host) {
  queue_->push(host, lane_of(record.candidate), id);
  add(counts_.waiting);
  add(counts_.came_again);
  if (!queue_->rest(host)) return;
  resting_.emplace_back(clock().ticks() + kRest, host);
  if (resting_.size() == 1) set_timer(resting_.front().first, 0);
}

void Registry::on_timer(std::uint64_t /*tag*/) {
  while (!resting_.empty() && resting_.front().first <= clock().ticks()) {
    queue_->wake(resting_.front().second);
    resting_.pop_front();
  }
  if (!resting_.empty()) set_timer(resting_.front().first, 0);
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
    subtract(counts_.waiting);
    add(counts_.in_flight);
    add(counts_.handed_out);
    due.emit({next->id, std::move(record->candidate), std::move(record->prior)});
    return true;
  }
  return false;
}

bool Registry::idle() const {
  if (!in_flight_.empty()) return false;
  return draining() || counts_.waiting.load(std::memory_order_relaxed) == 0;
}

}  // namespace meguri::crawl
