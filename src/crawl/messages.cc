#include "crawl/messages.h"

#include <array>

namespace meguri::crawl {

std::string_view name_of(Offer offer) {
  constexpr std::array<std::string_view, 7> kNames = {"seed", "link",    "embed",  "redirect",
                                                      "hint", "sitemap", "history"};
  return kNames[static_cast<std::size_t>(offer)];
}

std::string_view name_of(VisitOutcome outcome) {
  constexpr std::array<std::string_view, 5> kNames = {"changed", "unchanged", "gone", "redirected",
                                                      "error"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::string_view name_of(Refusal refusal) {
  constexpr std::array<std::string_view, kRefusals> kNames = {
      "robots",      "unresolved", "forbidden", "full",     "parked",
      "interrupted", "skipped",    "later",     "excluded", "alias"};
  return kNames[static_cast<std::size_t>(refusal)];
}

bool comes_again(Refusal refusal) {
  return refusal == Refusal::kFull || refusal == Refusal::kInterrupted ||
         refusal == Refusal::kLater;
}

base::Id page_id_of(std::string_view canonical_url) { return base::Id::of(canonical_url); }

std::uint64_t host_hash_of(std::string_view host) { return base::hash64(host); }

}  // namespace meguri::crawl

namespace meguri::flow {

namespace {

// What few candidates have.
constexpr unsigned kHasDate = 1;
constexpr unsigned kHasHistory = 2;

}  // namespace

void Codec<crawl::Candidate>::encode(const crawl::Candidate& item, std::string& out) {
  put_text(out, item.url);
  put_text(out, item.via);
  const unsigned kept = (item.modified ? kHasDate : 0U) | (item.history.empty() ? 0U : kHasHistory);
  put_fixed(out, static_cast<std::uint8_t>(kept));
  if (item.modified) put_fixed(out, static_cast<std::uint64_t>(item.modified->ms()));
  if (!item.history.empty()) put_text(out, item.history);
  put_fixed(out, item.depth);
  put_fixed(out, item.hops);
  put_fixed(out, static_cast<std::uint8_t>(item.offer));
  put_fixed(out, static_cast<std::uint8_t>(item.chain));
  put_fixed(out, static_cast<std::uint8_t>(item.is_last ? 1 : 0));
}

bool Codec<crawl::Candidate>::decode(std::string_view bytes, crawl::Candidate& item) {
  std::string_view url;
  std::string_view via;
  std::string_view history;
  std::uint8_t offer = 0;
  std::uint8_t chain = 0;
  std::uint8_t kept = 0;
  std::uint64_t modified = 0;
  std::uint8_t is_last = 0;
  if (!take_text(bytes, url) || !take_text(bytes, via) || !take_fixed(bytes, kept) ||
      kept > (kHasDate | kHasHistory)) {
    return false;
  }
  const bool is_dated = (kept & kHasDate) != 0;
  if ((is_dated && !take_fixed(bytes, modified)) ||
      ((kept & kHasHistory) != 0 && (!take_text(bytes, history) || history.empty()))) {
    return false;
  }
  if (!take_fixed(bytes, item.depth) || !take_fixed(bytes, item.hops) ||
      !take_fixed(bytes, offer) || !take_fixed(bytes, chain) || !take_fixed(bytes, is_last) ||
      is_last > 1 || !bytes.empty()) {
    return false;
  }
  constexpr auto kLast = static_cast<std::uint8_t>(crawl::kLastOffer);
  if (offer > kLast || chain > kLast) return false;
  item.url = url;
  item.via = via;
  item.history = history;
  item.modified.reset();
  if (is_dated) item.modified = base::Instant::from_ms(static_cast<std::int64_t>(modified));
  item.offer = static_cast<crawl::Offer>(offer);
  item.chain = static_cast<crawl::Offer>(chain);
  item.is_last = is_last == 1;
  return true;
}

}  // namespace meguri::flow

FLOW_DEFINE_QUEUES(meguri::crawl::Candidate)
FLOW_DEFINE_QUEUES(meguri::crawl::DuePage)
FLOW_DEFINE_QUEUES(meguri::crawl::Visit)
FLOW_DEFINE_QUEUES(meguri::crawl::AccessEnd)
FLOW_DEFINE_QUEUES(meguri::crawl::Answer)
FLOW_DEFINE_QUEUES(meguri::crawl::Report)
FLOW_DEFINE_QUEUES(meguri::crawl::Refused)
FLOW_DEFINE_QUEUES(meguri::crawl::HostNews)
FLOW_DEFINE_QUEUES(meguri::crawl::AliasChange)
FLOW_DEFINE_QUEUES(meguri::crawl::NameQuestion)
FLOW_DEFINE_QUEUES(meguri::crawl::NameAnswer)
FLOW_DEFINE_QUEUES(meguri::crawl::VisitNote)
FLOW_DEFINE_QUEUES(meguri::crawl::RefusalNote)
FLOW_DEFINE_QUEUES(meguri::crawl::Finding)
