#include "sim/recall.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace meguri::sim {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 1; }

}  // namespace

double Holdings::recall() const {
  return share(static_cast<double>(versions_held), static_cast<double>(versions));
}

double Holdings::coverage() const {
  return share(lifetime_held.in_seconds(), lifetime.in_seconds());
}

double Holdings::waste() const {
  return captures == 0 ? 0 : static_cast<double>(captures_wasted) / static_cast<double>(captures);
}

Holdings& Holdings::operator+=(const Holdings& other) {
  versions += other.versions;
  versions_held += other.versions_held;
  captures += other.captures;
  captures_wasted += other.captures_wasted;
  lifetime = lifetime + other.lifetime;
  lifetime_held = lifetime_held + other.lifetime_held;
  return *this;
}

Holdings holdings_of(const History& history, std::span<const base::Instant> times,
                     base::Instant from, base::Instant to) {
  Holdings holdings;
  std::vector<base::Instant> captures(times.begin(), times.end());
  std::ranges::sort(captures);
  const std::vector<Version> versions =
      history.versions(from, to, std::numeric_limits<std::size_t>::max());
  std::optional<base::Instant> end;  // of the life in which the version was there
  auto next = captures.begin();
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const base::Instant begin = std::max(versions[i].since, from);
    const base::Instant next_since = i + 1 < versions.size() ? versions[i + 1].since : to;
    if (i == 0 || (end && begin >= *end)) end = history.end_after(begin);
    const base::Instant until = std::min(next_since, end.value_or(to));
    next = std::lower_bound(next, captures.end(), begin);
    const auto last = std::lower_bound(next, captures.end(), until);
    const auto count = static_cast<std::size_t>(last - next);
    next = last;
    ++holdings.versions;
    holdings.lifetime = holdings.lifetime + (until - begin);
    holdings.captures += count;
    if (count == 0) continue;
    holdings.captures_wasted += count - 1;
    ++holdings.versions_held;
    holdings.lifetime_held = holdings.lifetime_held + (until - begin);
  }
  return holdings;
}

}  // namespace meguri::sim
