// PageRecord: what the Registry knows of a page, and its bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/time.h"
#include "crawl/messages.h"
#include "revisit/change_state.h"
#include "revisit/policy.h"

namespace meguri::crawl {

enum class PageState : std::uint8_t {
  kWaiting,  // to be visited; what is in flight counts as this on disk
  kVisited,  // done, with an outcome
  kRefused,  // done, with a reason
};

// A sitemap or feed says that a page has changed since its last visit.
struct PageHint {
  base::Instant modified;  // when
  base::Instant visit;     // when the page is visited for it

  friend bool operator==(const PageHint&, const PageHint&) = default;
};

struct PageRecord {
  Candidate candidate;
  std::uint64_t host = 0;  // host_hash_of its name
  PageState state = PageState::kWaiting;

  std::uint32_t visits = 0;  // of this crawl; changes.visits counts those before it too
  // Of the last visit, if there was one.
  VisitOutcome outcome = VisitOutcome::kError;
  fetch::FetchOutcome fetch = fetch::FetchOutcome::kAnswered;
  std::uint16_t status = 0;
  base::Instant visited;
  std::optional<PriorVersion> prior;

  std::uint32_t failures = 0;  // visits in a row that failed in a way that may pass
  base::Instant not_before;    // of a page that waits for another try; zero: at any time

  Refusal refusal = Refusal::kFull;  // of a page that is refused

  // How it changes, by its visits so far; those that were tried again do not count.
  revisit::ChangeState changes = {};
  std::uint64_t target = 0;                          // of a redirect: the hash of where it leads
  base::Instant next_visit = {};                     // of a page that is done: at its own pace
  revisit::Reason reason = revisit::Reason::kFirst;  // why then
  std::uint32_t groups = 0;                          // generation of PageGroups that count it
  std::optional<PageHint> hint = {};                 // brings the visit forward

  bool is_done() const { return state != PageState::kWaiting; }
  // Of a page that is done: when it is due, and why then.
  bool is_due_by_hint() const { return hint && hint->visit < next_visit; }
  base::Instant due() const { return is_due_by_hint() ? hint->visit : next_visit; }
  revisit::Reason due_reason() const { return is_due_by_hint() ? revisit::Reason::kHint : reason; }

  friend bool operator==(const PageRecord&, const PageRecord&) = default;
};

// What an offer of a known page is held against, without the rest of the record.
struct PageGlance {
  PageState state = PageState::kWaiting;
  std::uint32_t depth = 0;
  std::uint8_t hops = 0;
  bool is_seed = false;
  bool is_last = false;

  static PageGlance of(PageState state, const Candidate& candidate);
};
// Of the bytes of a record that was encoded here. Nullopt: not such bytes.
std::optional<PageGlance> glance_of(std::string_view record);

// The 16 bytes a page is kept under, and back. Nullopt: not such bytes.
class PageKey {
 public:
  explicit PageKey(const base::Id& id);
  operator std::string_view() const {  // NOLINT(google-explicit-constructor): it is nothing else
    return {bytes_.data(), bytes_.size()};
  }

 private:
  std::array<char, 16> bytes_;
};
inline PageKey page_key_of(const base::Id& id) { return PageKey(id); }
std::optional<base::Id> id_of_page_key(std::string_view key);

}  // namespace meguri::crawl

namespace meguri::flow {

template <>
struct Codec<crawl::PageRecord> {
  static void encode(const crawl::PageRecord& item, std::string& out);
  static bool decode(std::string_view bytes, crawl::PageRecord& item);
};

}  // namespace meguri::flow
