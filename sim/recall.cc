#include "sim/recall.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/check.h"

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

double Showing::error_share() const {
  return time > base::Duration() ? wrong.in_seconds() / time.in_seconds() : 0;
}

base::Duration Showing::error_mean() const {
  if (time <= base::Duration()) return {};
  return base::Duration::from_ms(
      static_cast<std::int64_t>(late_ms_ms / static_cast<double>(time.ms())));
}

Showing& Showing::operator+=(const Showing& other) {
  time = time + other.time;
  wrong = wrong + other.wrong;
  late_ms_ms += other.late_ms_ms;
  return *this;
}

base::Duration RunningHoldings::time_of(std::size_t event) const {
  if (event >= events_.size()) return end_;
  return std::min(end_, base::Duration::seconds(events_[event] & ~RecordedChanges::kDeletion));
}

bool RunningHoldings::is_version(std::size_t event) const {
  return (events_[event] & RecordedChanges::kDeletion) == 0;
}

void RunningHoldings::show_until(base::Duration time) {
  const base::Duration replaced = time_of(passed_);
  showing_.time = showing_.time + (time - last_visit_);
  if (replaced >= time) return;
  const base::Duration late = time - replaced;
  showing_.wrong = showing_.wrong + late;
  showing_.late_ms_ms += static_cast<double>(late.ms()) * static_cast<double>(late.ms()) / 2;
}

Found RunningHoldings::visit(base::Duration time) {
  CHECK(!events_.empty() && time >= time_of(0) && time >= last_visit_ && time < end_);
  if (passed_ > 0) show_until(time);
  last_visit_ = time;
  while (passed_ < events_.size() && time_of(passed_) <= time) ++passed_;
  if (!is_version(passed_ - 1)) return Found::kGone;
  ++holdings_.captures;
  if (held_ == passed_) {
    ++holdings_.captures_wasted;
    return Found::kKnown;
  }
  held_ = passed_;
  ++holdings_.versions_held;
  holdings_.lifetime_held = holdings_.lifetime_held + (time_of(passed_) - time_of(passed_ - 1));
  return Found::kNew;
}

void RunningHoldings::finish() {
  if (passed_ > 0) show_until(end_);
  for (std::size_t i = 0; i < events_.size() && time_of(i) < end_; ++i) {
    if (!is_version(i)) continue;
    ++holdings_.versions;
    holdings_.lifetime = holdings_.lifetime + (time_of(i + 1) - time_of(i));
  }
}

}  // namespace meguri::sim
