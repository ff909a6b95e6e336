#include "crawl/page_record.h"

#include "crawl/record_bytes.h"
#include "flow/codec.h"

namespace meguri::crawl {

PageKey::PageKey(const base::Id& id) {
  for (unsigned i = 0; i < 8; ++i) {  // as put_fixed() has it
    bytes_[i] = static_cast<char>(id.high >> (8 * i));
    bytes_[8 + i] = static_cast<char>(id.low >> (8 * i));
  }
}

std::optional<base::Id> id_of_page_key(std::string_view key) {
  base::Id id;
  if (!flow::take_fixed(key, id.high) || !flow::take_fixed(key, id.low) || !key.empty()) {
    return std::nullopt;
  }
  return id;
}

namespace {

using base::put_text;
using base::take_text;

constexpr std::uint8_t kVersion = 6;

void put_prior(std::string& out, const PriorVersion& prior) {
  put_text(out, prior.etag);
  put_text(out, prior.last_modified);
  put_bytes(out, prior.digest.bytes);
  put_bytes(out, prior.record.bytes);
  put_instant(out, prior.date);
  put_text(out, prior.url);
  put_fixed(out, static_cast<std::uint8_t>(prior.sketch ? 1 : 0));
  if (prior.sketch) put_sketch(out, *prior.sketch);
}

bool take_prior(std::string_view& bytes, PriorVersion& prior) {
  std::string_view etag;
  std::string_view last_modified;
  std::string_view url;
  std::uint8_t has_sketch = 0;
  if (!take_text(bytes, etag) || !take_text(bytes, last_modified) ||
      !take_bytes(bytes, prior.digest.bytes) || !take_bytes(bytes, prior.record.bytes) ||
      !take_instant(bytes, prior.date) || !take_text(bytes, url) ||
      !take_fixed(bytes, has_sketch) || has_sketch > 1) {
    return false;
  }
  if (has_sketch == 1 && !take_sketch(bytes, prior.sketch.emplace())) return false;
  prior.etag = etag;
  prior.last_modified = last_modified;
  prior.url = url;
  return true;
}

bool take_hint(std::string_view& bytes, std::optional<PageHint>& hint) {
  std::uint8_t has_hint = 0;
  hint.reset();
  if (!take_fixed(bytes, has_hint) || has_hint > 1) return false;
  if (has_hint == 0) return true;
  hint.emplace();
  return take_instant(bytes, hint->modified) && take_instant(bytes, hint->visit);
}

bool take_changes(std::string_view& bytes, PageRecord& record) {
  std::string_view changes;
  record.changes = {};
  return take_text(bytes, changes) &&
         (changes.empty() || revisit::decode(changes, record.changes)) &&
         take_fixed(bytes, record.target) && take_instant(bytes, record.next_visit) &&
         take_enum(bytes, revisit::Reason::kHint, record.reason) &&
         take_fixed(bytes, record.groups) && take_hint(bytes, record.hint);
}

void put_changes(std::string& out, const PageRecord& record) {
  std::string changes;
  if (record.changes.visits > 0) revisit::encode(record.changes, changes);
  put_text(out, changes);
  put_fixed(out, record.target);
  put_instant(out, record.next_visit);
  put_fixed(out, static_cast<std::uint8_t>(record.reason));
  put_fixed(out, record.groups);
  put_fixed(out, static_cast<std::uint8_t>(record.hint ? 1 : 0));
  if (!record.hint) return;
  put_instant(out, record.hint->modified);
  put_instant(out, record.hint->visit);
}

// All but the candidate, which comes last.
bool take_head(std::string_view& bytes, PageRecord& record) {
  std::uint8_t version = 0;
  std::uint8_t has_prior = 0;
  const bool whole =
      take_fixed(bytes, version) && version == kVersion && take_fixed(bytes, record.host) &&
      take_enum(bytes, PageState::kRefused, record.state) && take_fixed(bytes, record.visits) &&
      take_enum(bytes, VisitOutcome::kError, record.outcome) &&
      take_enum(bytes, fetch::FetchOutcome::kLocalFailure, record.fetch) &&
      take_fixed(bytes, record.status) && take_instant(bytes, record.visited) &&
      take_fixed(bytes, record.failures) && take_instant(bytes, record.not_before) &&
      take_enum(bytes, Refusal::kAlias, record.refusal) && take_fixed(bytes, has_prior) &&
      has_prior <= 1;
  if (!whole) return false;
  record.prior.reset();
  if (has_prior == 1 && !take_prior(bytes, record.prior.emplace())) return false;
  return take_changes(bytes, record);
}

// Version and host stand before the state, and the candidate's URLs before its last fields.
constexpr std::size_t kStateAt = 1 + 8;
constexpr std::size_t kCandidateEndBytes = 4 + 1 + 1 + 1 + 1;

}  // namespace

PageGlance PageGlance::of(PageState state, const Candidate& candidate) {
  return {.state = state,
          .depth = candidate.depth,
          .hops = candidate.hops,
          .is_seed = candidate.is_seed(),
          .is_last = candidate.is_last};
}

std::optional<PageGlance> glance_of(std::string_view record) {
  if (record.size() < kStateAt + 1 + kCandidateEndBytes) return std::nullopt;
  PageState page = PageState::kWaiting;
  Candidate last;
  std::uint8_t is_last = 0;
  std::string_view state = record.substr(kStateAt);
  std::string_view end = record.substr(record.size() - kCandidateEndBytes);
  const bool whole = take_enum(state, PageState::kRefused, page) && take_fixed(end, last.depth) &&
                     take_fixed(end, last.hops) && take_enum(end, kLastOffer, last.offer) &&
                     take_enum(end, kLastOffer, last.chain) && take_fixed(end, is_last);
  if (!whole) return std::nullopt;
  last.is_last = is_last != 0;
  return PageGlance::of(page, last);
}

}  // namespace meguri::crawl

namespace meguri::flow {

void Codec<crawl::PageRecord>::encode(const crawl::PageRecord& item, std::string& out) {
  put_fixed(out, crawl::kVersion);
  put_fixed(out, item.host);
  put_fixed(out, static_cast<std::uint8_t>(item.state));
  put_fixed(out, item.visits);
  put_fixed(out, static_cast<std::uint8_t>(item.outcome));
  put_fixed(out, static_cast<std::uint8_t>(item.fetch));
  put_fixed(out, item.status);
  crawl::put_instant(out, item.visited);
  put_fixed(out, item.failures);
  crawl::put_instant(out, item.not_before);
  put_fixed(out, static_cast<std::uint8_t>(item.refusal));
  put_fixed(out, static_cast<std::uint8_t>(item.prior ? 1 : 0));
  if (item.prior) crawl::put_prior(out, *item.prior);
  crawl::put_changes(out, item);
  Codec<crawl::Candidate>::encode(item.candidate, out);
}

bool Codec<crawl::PageRecord>::decode(std::string_view bytes, crawl::PageRecord& item) {
  return crawl::take_head(bytes, item) && Codec<crawl::Candidate>::decode(bytes, item.candidate);
}

}  // namespace meguri::flow
