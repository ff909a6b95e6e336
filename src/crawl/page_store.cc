#include "crawl/page_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "flow/codec.h"
#include "sat/store_inspector.h"

namespace meguri::crawl {

namespace {

constexpr std::uint8_t kSchema = 1;

// What a message to a page begins with.
constexpr char kOffered = 'c';   // a candidate follows
constexpr char kModified = 'm';  // when

std::string modified_message(base::Instant modified) {
  std::string message(1, kModified);
  flow::put_fixed(message, static_cast<std::uint64_t>(modified.ms()));
  return message;
}

// Nullopt is before any time.
void heed(const std::optional<base::Instant>& said, std::optional<base::Instant>& modified) {
  if (said && (!modified || *modified < *said)) modified = said;
}

// Both are of one page: the nearer one, with the later date.
Candidate joined(const Candidate& a, const Candidate& b) {
  Candidate one = is_nearer(b, PageGlance::of(PageState::kWaiting, a)) ? b : a;
  heed(a.modified, one.modified);
  heed(b.modified, one.modified);
  return one;
}

// What a page was told since it was stored.
struct Told {
  std::vector<Candidate> offers;
  std::optional<base::Instant> modified;

  void take(std::string_view message) {
    if (message.empty()) return;
    const char kind = message.front();
    message.remove_prefix(1);
    Candidate offer;
    std::uint64_t ms = 0;
    if (kind == kOffered && flow::Codec<Candidate>::decode(message, offer)) {
      offers.push_back(std::move(offer));
    } else if (kind == kModified && flow::take_fixed(message, ms)) {
      heed(base::Instant::from_ms(static_cast<std::int64_t>(ms)), modified);
    }
  }
};

}  // namespace

bool is_nearer(const Candidate& offered, const PageGlance& known) {
  return std::tuple(offered.is_last, offered.depth, offered.hops, !offered.is_seed()) <
         std::tuple(known.is_last, known.depth, known.hops, !known.is_seed);
}

namespace {

// The two parts of a position, both empty at the beginning. kCorrupt: it is none.
struct Parts {
  std::string_view of_store;
  std::string_view of_candidates;

  static base::Result<Parts> of(std::string_view position, const std::string& dir) {
    Parts parts;
    if (position.empty()) return parts;
    if (flow::take_text(position, parts.of_store) &&
        flow::take_text(position, parts.of_candidates) && position.empty()) {
      return parts;
    }
    return base::fail(base::ErrorCode::kCorrupt, "where {} stands cannot be decoded", dir);
  }
};

}  // namespace

base::Result<std::unique_ptr<PageStore>> PageStore::open(env::FileSystem& files,
                                                         const std::string& dir,
                                                         const sat::IdStoreOptions& options,
                                                         std::string_view position,
                                                         base::Instant now) {
  ASSIGN_OR_RETURN(const Parts parts, Parts::of(position, dir));
  auto pages = std::make_unique<PageStore>();
  ASSIGN_OR_RETURN(pages->store_, sat::IdStore::open(files, dir, options, parts.of_store, now));
  ASSIGN_OR_RETURN(pages->candidates_,
                   DurableMap::open(files, dir + "/candidates", parts.of_candidates));
  std::vector<base::Id> waiting;
  pages->candidates_->for_each([&](std::string_view key, std::string_view /*value*/) {
    if (const auto id = id_of_page_key(key)) waiting.push_back(*id);
  });
  std::ranges::sort(waiting);
  for (const base::Id& id : waiting) pages->begin_asking(id);
  return pages;
}

base::Result<PageRecord> PageStore::decode(const base::Id& id, std::string_view body) {
  PageRecord record;
  if (flow::Codec<PageRecord>::decode(body, record)) return record;
  return base::fail(base::ErrorCode::kCorrupt,
                    "page {} cannot be decoded: it was written by another version", id.to_hex());
}

base::Status PageStore::for_each(env::FileSystem& files, const std::string& dir,
                                 std::string_view position, const sat::Scratch& scratch,
                                 const UsePage& use) {
  ASSIGN_OR_RETURN(const Parts parts, Parts::of(position, dir));
  if (parts.of_store.empty()) return {};
  ASSIGN_OR_RETURN(
      const auto inspector,
      sat::StoreInspector::open(files, sat::IdStore::store_dir(dir),
                                sat::IdStore::store_position(parts.of_store), scratch));
  std::uint64_t left = inspector->store().counts().records;
  const auto use_record = [&](const sat::InspectedRecord& found) -> base::Result<bool> {
    ASSIGN_OR_RETURN(const PageRecord record, decode(found.record.id, found.record.body));
    RETURN_IF_ERROR(use(record));
    --left;
    return true;
  };
  RETURN_IF_ERROR(inspector->for_each_record(use_record));
  if (left == 0) return {};
  return base::fail(base::ErrorCode::kCorrupt, "{} pages are missing in {}", left, dir);
}

std::string_view PageStore::encode(const PageRecord& record) {
  encoded_.clear();
  flow::Codec<PageRecord>::encode(record, encoded_);
  return encoded_;
}

// --- Which pages are known.

base::Result<PageStore::Answer> PageStore::ask(const base::Id& id, const Candidate& candidate,
                                               base::Instant now) {
  if (is_out(id)) return Answer::kKnown;
  const PageKey key = page_key_of(id);
  if (const auto waiting = candidates_->find(key)) {
    Candidate other;
    CHECK(flow::Codec<Candidate>::decode(*waiting, other), "a candidate was kept that is none");
    const Candidate both = joined(other, candidate);
    if (both != other) keep(key, both);
    return Answer::kLater;
  }
  if (const auto answer = store_->known().ask(id, next_tag_)) {
    if (!answer->is_known) return Answer::kNew;
    RETURN_IF_ERROR(offer(id, answer->seq, candidate, now));
    return Answer::kKnown;
  }
  asked_.emplace(next_tag_++, id);
  keep(key, candidate);
  return Answer::kLater;
}

void PageStore::keep(const PageKey& key, const Candidate& candidate) {
  encoded_.clear();
  flow::Codec<Candidate>::encode(candidate, encoded_);
  candidates_->put(key, encoded_);
}

// Of a page that is out its owner knows. What is due is visited after anything that can be said of
// it now.
base::Status PageStore::offer(const base::Id& id, sat::Seq seq, const Candidate& candidate,
                              base::Instant now) {
  if (is_out(id)) return {};
  if (!candidate.history.empty()) {  // which comes too late
    Candidate plain = candidate;
    plain.history.clear();
    return offer(id, seq, plain, now);
  }
  if (store_->store().is_due(seq, now)) {
    encoded_.assign(1, kOffered);
    flow::Codec<Candidate>::encode(candidate, encoded_);
    return store_->store().send(seq, encoded_);
  }
  if (!candidate.modified) return {};
  RETURN_IF_ERROR(store_->store().send(seq, modified_message(*candidate.modified)));
  return store_->store().pull(seq, now);
}

// A candidate that was kept before a restart: whatever the answer is, next_decision() brings it.
void PageStore::begin_asking(const base::Id& id) {
  asked_.emplace(next_tag_, id);
  if (const auto answer = store_->known().ask(id, next_tag_)) answered_.push_back(*answer);
  ++next_tag_;
}

base::Result<std::optional<PageStore::Decision>> PageStore::next_decision(base::Instant now) {
  std::optional<sat::IdAnswer> answer;
  if (!answered_.empty()) {
    answer = answered_.back();
    answered_.pop_back();
  } else {
    ASSIGN_OR_RETURN(answer, store_->known().next_answer());
  }
  if (!answer) return std::nullopt;
  const auto asked = asked_.extract(answer->tag);
  CHECK(!asked.empty(), "an answer came to no question");
  Decision decision{.id = asked.mapped(), .candidate = {}, .is_known = answer->is_known};
  const PageKey key = page_key_of(decision.id);
  const auto kept = candidates_->find(key);
  CHECK(kept && flow::Codec<Candidate>::decode(*kept, decision.candidate),
        "a candidate was kept that is none");
  candidates_->erase(key);
  if (decision.is_known) {
    RETURN_IF_ERROR(offer(decision.id, answer->seq, decision.candidate, now));
  }
  return decision;
}

// --- Pages.

base::Status PageStore::add(const base::Id& id, const PageRecord& record, base::Instant due) {
  ASSIGN_OR_RETURN(const sat::Seq seq, store_->add(id, kSchema, encode(record), due));
  (void)seq;
  return {};
}

base::Status PageStore::add_out(const base::Id& id, const PageRecord& record) {
  ASSIGN_OR_RETURN(sat::Record added, store_->add_out(id, kSchema, encode(record)));
  added.body = {};
  CHECK(out_.emplace(id, Out{added, encoded_}).second, "a page was added twice");
  return {};
}

std::optional<PageRecord> PageStore::get(const base::Id& id) const {
  const auto found = out_.find(id);
  if (found == out_.end()) return std::nullopt;
  PageRecord record;
  CHECK(flow::Codec<PageRecord>::decode(found->second.body, record),
        "a page was stored that is none");
  return record;
}

std::optional<PageGlance> PageStore::glance(const base::Id& id) const {
  const auto found = out_.find(id);
  if (found == out_.end()) return std::nullopt;
  const auto glance = glance_of(found->second.body);
  CHECK(glance, "a page was stored that is none");
  return glance;
}

base::Result<std::optional<PageStore::Due>> PageStore::next_due(base::Instant now) {
  ASSIGN_OR_RETURN(const auto due, store_->store().next_due(now));
  if (!due) return std::nullopt;
  const sat::Record& record = due->record;
  Due page{.id = record.id, .record = {}, .modified = {}};
  ASSIGN_OR_RETURN(page.record, decode(record.id, record.body));
  Told told;
  for (const std::string& message : due->messages) told.take(message);
  page.modified = told.modified;
  bool is_changed = false;
  for (Candidate& offered : told.offers) {
    const auto glance = PageGlance::of(page.record.state, page.record.candidate);
    if (page.record.is_done() || !is_nearer(offered, glance)) continue;
    page.record.candidate = std::move(offered);
    page.record.candidate.modified.reset();
    is_changed = true;
  }
  Out& out = out_[page.id];
  out.body = record.body;
  out.record = record;
  out.record.body = {};
  if (is_changed) RETURN_IF_ERROR(hold(page.id, page.record));
  return page;
}

base::Instant PageStore::next_due_at() const {
  const sat::Store& store = store_->store();
  return store.layout().end_of(store.front().next_open());
}

base::Status PageStore::hold(const base::Id& id, const PageRecord& record) {
  Out& out = out_.at(id);
  out.record.body = out.body;
  ASSIGN_OR_RETURN(out.record, store_->store().hold(out.record, kSchema, encode(record)));
  out.record.body = {};
  out.body = encoded_;
  return {};
}

base::Status PageStore::reschedule(const base::Id& id, const PageRecord& record,
                                   base::Instant due) {
  const auto found = out_.extract(id);
  CHECK(!found.empty(), "a page is rescheduled that is not out");
  sat::Record before = found.mapped().record;
  before.body = found.mapped().body;
  return store_->store().reschedule(before, kSchema, encode(record), due);
}

base::Result<std::optional<PageRecord>> PageStore::find(const base::Id& id) {
  if (auto record = get(id)) return record;
  ASSIGN_OR_RETURN(const auto found, store_->find(id));
  if (!found) return std::nullopt;
  ASSIGN_OR_RETURN(PageRecord record, decode(id, found->body));
  return record;
}

base::Result<std::string> PageStore::commit(flow::EpochId epoch) {
  ASSIGN_OR_RETURN(const std::string of_store, store_->commit());
  ASSIGN_OR_RETURN(const std::string of_candidates, candidates_->commit(epoch));
  std::string position;
  flow::put_text(position, of_store);
  flow::put_text(position, of_candidates);
  return position;
}

base::Status PageStore::on_durable(flow::EpochId epoch) {
  RETURN_IF_ERROR(store_->on_durable());
  return candidates_->on_durable(epoch);
}

}  // namespace meguri::crawl
