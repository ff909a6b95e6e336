// ChangeState: what the visits of one page have told of how often it changes, and its bytes. Table
// 1 of paper 003 as far as scheduling goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "revisit/rate_filter.h"

namespace meguri::revisit {

// What came of a visit. Two bits of the history.
enum class Outcome : std::uint8_t { kChanged, kUnchanged, kGone, kError };

struct Visit {
  base::Instant time = {};
  Outcome outcome = Outcome::kUnchanged;
  // Of a change: it counts. What was changed without counting is a version, and otherwise as if it
  // were unchanged.
  bool counts = true;
  // Of an error: another try may do better.
  bool may_pass = true;
  // Of an answer that has content, if it said so.
  std::optional<base::Instant> last_modified = std::nullopt;
};

// A value. Intervals are those between visits that found the page there; how long it was gone or
// out of reach is not held against it.
struct ChangeState {
  base::Instant first_visit;  // the epoch of Table 1
  base::Instant last_visit;   // of any outcome
  // Of the last visit that found the page. None: there was none yet, or it is gone since.
  std::optional<base::Instant> last_answer = std::nullopt;

  base::Duration observed;         // T: time of which is known whether something changed
  base::Duration stable;           // U: of this, time in which nothing did
  base::Duration shortest_change;  // tc_min: of intervals with a change; zero: none
  base::Duration last_interval;    // between the last two answers
  // The page's own pace: what the policy last chose, before hosts were spared. The policy's caller
  // keeps it here, and failures leave it as it is.
  base::Duration interval;

  std::uint32_t visits = 0;
  std::uint32_t versions = 0;
  std::uint32_t changes = 0;        // m: intervals in which something changed that counts
  std::uint32_t dated_changes = 0;  // and those whose moment a trusted Last-Modified told

  // Outcomes of the last 32 visits, the newest in the lowest two bits.
  std::uint64_t history = 0;
  std::uint8_t failures = 0;       // gone or error, in a row, at most 255
  std::uint8_t gones = 0;          // of these, gone
  bool last_may_pass = false;      // of the last failure
  std::int8_t modified_trust = 0;  // see trusts_modified()
  std::optional<base::Instant> last_modified = std::nullopt;  // of the last answer

  RateFilter filter = {};  // begins with the first answer

  friend bool operator==(const ChangeState&, const ChangeState&) = default;
};

inline constexpr std::size_t kHistoryVisits = 32;

// Of the `back`-th visit before the last. Requires back < min(state.visits, kHistoryVisits).
Outcome outcome_at(const ChangeState& state, std::size_t back);

// The state after one more visit. Times that go back are taken as the last one. `prior` is what the
// filter begins with.
ChangeState with_visit(ChangeState state, const Visit& visit, const RateFilter& prior = kRatePrior);

// Whether Last-Modified tells when this page changed. It has to be right twice before it is
// believed: moved by a change, to a moment between the visits. It loses more than it ever won by
// lying in the future, by moving without a change, by not moving with one, and by naming the moment
// of the answer, as pages do that are made for each request.
inline constexpr std::int8_t kTrustMin = 2;
inline bool trusts_modified(const ChangeState& state) { return state.modified_trust >= kTrustMin; }

// As bytes, some 50 of them; change_state_codec.cc has their grammar. False: not such bytes, or not
// what visits could have made, and `state` is untouched.
void encode(const ChangeState& state, std::string& out);
bool decode(std::string_view bytes, ChangeState& state);

}  // namespace meguri::revisit
