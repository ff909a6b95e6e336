#include "revisit/change_state.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace meguri::revisit {
namespace {

using base::Duration;
using base::Instant;

constexpr int kTrustLimit = 8;
constexpr int kTrustLost = 2 * kTrustLimit;
// Clocks of servers and ours may differ by so much.
constexpr Duration kSkew = Duration::minutes(1);
// A Last-Modified so close to the visit was made for it.
constexpr Duration kMadeForAnswer = Duration::seconds(2);

template <typename T>
void count(T& number) {
  if (number < std::numeric_limits<T>::max()) ++number;
}

// Whether the page's Last-Modified was right about what the visit found: > 0 yes, < 0 no. Requires
// that there was an answer before.
int judge_modified(const ChangeState& state, const Visit& visit) {
  if (!visit.last_modified) return 0;
  const Instant modified = *visit.last_modified;
  if (modified > visit.time + kSkew) return -1;
  if (!state.last_modified) return 0;
  const bool has_moved = modified != *state.last_modified;
  if (visit.outcome == Outcome::kUnchanged) return has_moved ? -1 : 0;
  if (!has_moved || modified <= *state.last_answer - kSkew) return -1;
  return modified > visit.time - kMadeForAnswer ? -1 : 1;
}

void judge(ChangeState& state, const Visit& visit) {
  const int verdict = judge_modified(state, visit);
  if (verdict == 0) return;
  const int trust = state.modified_trust + (verdict > 0 ? 1 : -kTrustLost);
  state.modified_trust = static_cast<std::int8_t>(std::clamp(trust, -kTrustLimit, kTrustLimit));
}

// When it changed last, if that is known.
std::optional<Instant> change_time(const ChangeState& state, const Visit& visit) {
  if (!trusts_modified(state) || !visit.last_modified) return std::nullopt;
  const Instant modified = *visit.last_modified;
  if (modified <= *state.last_answer || modified >= visit.time) return std::nullopt;
  return modified;
}

// What the time since the last answer tells.
void observe(ChangeState& state, const Visit& visit) {
  const Duration passed = visit.time - *state.last_answer;
  if (passed <= Duration()) return;
  state.last_interval = passed;
  if (visit.outcome != Outcome::kChanged || !visit.counts) {
    state.observed = state.observed + passed;
    state.stable = state.stable + passed;
    state.filter = with_unchanged(state.filter, passed);
  } else if (const auto changed = change_time(state, visit)) {
    // What was before the last change is not known; from then on nothing happened.
    const Duration quiet = visit.time - *changed;
    count(state.dated_changes);
    state.observed = state.observed + quiet;
    state.stable = state.stable + quiet;
    state.filter = with_dated(state.filter, quiet);
  } else {
    const bool is_first = state.changes == 0;
    count(state.changes);
    state.observed = state.observed + passed;
    state.filter = with_changed(state.filter, passed);
    state.shortest_change = is_first ? passed : std::min(state.shortest_change, passed);
  }
}

void add_answer(ChangeState& state, const Visit& visit, const RateFilter& prior) {
  if (!state.filter.has_begun()) state.filter = prior;
  state.failures = 0;
  state.gones = 0;
  state.last_may_pass = false;
  if (visit.outcome == Outcome::kChanged) count(state.versions);
  if (state.last_answer) {
    judge(state, visit);
    observe(state, visit);
  }
  state.last_answer = visit.time;
  // A 304 need not repeat it.
  if (visit.last_modified || visit.outcome == Outcome::kChanged) {
    state.last_modified = visit.last_modified;
  }
}

}  // namespace

Outcome outcome_at(const ChangeState& state, std::size_t back) {
  CHECK(back < kHistoryVisits && back < state.visits);
  return static_cast<Outcome>((state.history >> (2 * back)) & 3U);
}

ChangeState with_visit(ChangeState state, const Visit& visit, const RateFilter& prior) {
  CHECK(prior.has_begun());
  Visit now = visit;
  if (state.visits == 0) state.first_visit = now.time;
  if (state.visits > 0) now.time = std::max(now.time, state.last_visit);
  count(state.visits);
  state.history = state.history << 2U | static_cast<std::uint64_t>(now.outcome);
  state.last_visit = now.time;
  switch (now.outcome) {
    case Outcome::kChanged:
    case Outcome::kUnchanged: add_answer(state, now, prior); break;
    case Outcome::kGone:
      count(state.failures);
      count(state.gones);
      state.last_may_pass = false;
      state.last_answer = std::nullopt;
      state.last_modified = std::nullopt;
      break;
    case Outcome::kError:
      count(state.failures);
      state.last_may_pass = now.may_pass;
      break;
  }
  return state;
}

}  // namespace meguri::revisit
