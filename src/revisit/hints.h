// Hints: what is made of somebody's word that a page has changed, such as the date in a sitemap.
// Pure functions.
#pragma once

#include <optional>

#include "base/time.h"

namespace meguri::revisit {

// How the hints of one host turned out, each weighing 1 between right and wrong. What is older
// weighs less: half after kHintHalfLife, and never more than kHintsMax together. So a host can lose
// its good name, and one that is no longer believed gets another chance.
struct HintRecord {
  double right = 0;
  double wrong = 0;
  base::Instant as_of = {};  // when both were so

  friend bool operator==(const HintRecord&, const HintRecord&) = default;
};
inline constexpr base::Duration kHintHalfLife = base::Duration::days(30);
inline constexpr double kHintsMax = 64;

// Of two parts of a host, as of the later.
HintRecord joined(const HintRecord& a, const HintRecord& b);

// The record as it stands at `now`.
HintRecord faded(const HintRecord& record, base::Instant now);

// How likely the next hint is right, by the record at `now`: 1/2 where nothing is known.
double trust_of(const HintRecord& record, base::Instant now);

// How likely a page has changed after `elapsed` that does so every `interval` on the mean.
double change_chance(base::Duration elapsed, base::Duration interval);

// The record after one more hint was looked into: the page has changed or not, and would have by
// `chance` without anybody saying so. What was likely anyway proves little, else a host whose pages
// change would be believed whatever it says.
HintRecord with_hint(const HintRecord& record, bool has_changed, double chance, base::Instant now);

// Below this trust hints are not heeded: they would bring visits forward by less than a tenth.
inline constexpr double kHintTrustMin = 0.1;

// When a page is visited of which a hint says that it changed since its last visit; it would be
// visited at `next` without it. Nullopt: nothing is brought forward.
//
// A page's own time is when it has changed with a certain chance, 1 - 1/e if it changes at random
// and its interval is right. The hint is right with the chance `trust`, at once, and else the page
// changes as before: the same chance is reached after the share 1 + ln(1 - trust) of the interval.
// That is now from a trust of 0.63 on, a third of the interval for hosts that nothing is known of,
// and nine tenths at kHintTrustMin: every visit that is made for a hint is worth as much as any
// other.
std::optional<base::Instant> hinted_visit(base::Instant last, base::Instant next, double trust);

}  // namespace meguri::revisit
