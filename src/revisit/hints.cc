#include "revisit/hints.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace meguri::revisit {

using base::Duration;
using base::Instant;

namespace {

double ratio(Duration part, Duration whole) {
  return static_cast<double>(part.ms()) / static_cast<double>(whole.ms());
}

}  // namespace

HintRecord faded(const HintRecord& record, Instant now) {
  if (now <= record.as_of) return record;
  const double left = std::exp2(-ratio(now - record.as_of, kHintHalfLife));
  return {.right = record.right * left, .wrong = record.wrong * left, .as_of = now};
}

HintRecord joined(const HintRecord& a, const HintRecord& b) {
  const Instant now = std::max(a.as_of, b.as_of);
  const HintRecord x = faded(a, now);
  const HintRecord y = faded(b, now);
  return {.right = x.right + y.right, .wrong = x.wrong + y.wrong, .as_of = now};
}

double trust_of(const HintRecord& record, Instant now) {
  const HintRecord recent = faded(record, now);
  return (recent.right + 1) / (recent.right + recent.wrong + 2);
}

double change_chance(Duration elapsed, Duration interval) {
  if (elapsed <= Duration()) return 0;
  if (interval <= Duration()) return 1;
  return 1 - std::exp(-ratio(elapsed, interval));
}

HintRecord with_hint(const HintRecord& record, bool has_changed, double chance, Instant now) {
  CHECK(chance >= 0 && chance <= 1);
  HintRecord after = faded(record, now);
  const double trust = trust_of(after, now);
  // That the hint is why: by Bayes' rule.
  const double right = has_changed ? trust / (trust + (1 - trust) * chance) : 0;
  after.right += right;
  after.wrong += 1 - right;
  const double all = after.right + after.wrong;
  if (all <= kHintsMax) return after;
  after.right *= kHintsMax / all;
  after.wrong *= kHintsMax / all;
  return after;
}

std::optional<Instant> hinted_visit(Instant last, Instant next, double trust) {
  if (trust < kHintTrustMin || next <= last) return std::nullopt;
  const double share = trust < 1 ? std::max(0.0, 1 + std::log(1 - trust)) : 0;
  const Duration wait = next - last;
  return last +
         Duration::from_ms(static_cast<std::int64_t>(static_cast<double>(wait.ms()) * share));
}

}  // namespace meguri::revisit
