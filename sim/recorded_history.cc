// The part of History that answers from recorded changes.
#include <algorithm>

#include "sim/dice.h"
#include "sim/history.h"

namespace meguri::sim {
namespace {

enum Purpose : std::uint64_t { kRecorded = 250 };

std::uint32_t seconds_of(std::uint32_t event) { return event & ~RecordedChanges::kDeletion; }

}  // namespace

bool History::is_gone(base::Instant t) const {
  t = seen_at(t);
  if (recorded_) return !recorded_exists(t) && recorded_until(t) > 0;
  return traits_.death && t >= *traits_.death;
}

std::optional<base::Instant> History::end_after(base::Instant t) const {
  if (still_at_) return std::nullopt;
  if (!recorded_) return traits_.death;
  for (std::size_t i = recorded_until(t); i < recorded_->events.size(); ++i) {
    if (!is_recorded_version(i)) return recorded_time(i);
  }
  return std::nullopt;
}

std::size_t History::recorded_until(base::Instant t) const {
  const base::Duration since = t - recorded_->origin;
  if (since < base::Duration()) return 0;
  const std::int64_t seconds = since.ms() / 1000;
  const auto end = std::ranges::upper_bound(recorded_->events, seconds, {}, seconds_of);
  return static_cast<std::size_t>(end - recorded_->events.begin());
}

bool History::is_recorded_version(std::size_t event) const {
  const bool is_deletion = (recorded_->events[event] & RecordedChanges::kDeletion) != 0;
  return !is_deletion || recorded_->is_always_there;
}

base::Instant History::recorded_time(std::size_t event) const {
  return recorded_->origin + base::Duration::seconds(seconds_of(recorded_->events[event]));
}

Version History::recorded_version(std::size_t event) const {
  return {Dice{kRecorded, key_, event}.bits(), recorded_time(event)};
}

bool History::recorded_exists(base::Instant t) const {
  if (recorded_->is_always_there) return t >= recorded_->origin;
  const std::size_t count = recorded_until(t);
  return count > 0 && is_recorded_version(count - 1);
}

std::vector<Version> History::recorded_recent(base::Instant t, std::size_t count) const {
  std::vector<Version> found;
  for (std::size_t i = recorded_until(t); i > 0 && found.size() < count; --i) {
    if (is_recorded_version(i - 1)) found.push_back(recorded_version(i - 1));
  }
  const bool began_later = recorded_->events.empty() || seconds_of(recorded_->events.front()) > 0;
  if (recorded_->is_always_there && began_later && found.size() < count) {
    found.push_back({Dice{kRecorded, key_}.bits(), recorded_->origin});
  }
  return found;
}

std::vector<Version> History::recorded_versions(base::Instant from, base::Instant to,
                                                std::size_t count_max) const {
  std::vector<Version> found;
  if (recorded_->is_always_there) from = std::max(from, recorded_->origin);
  if (from >= to || count_max == 0) return found;
  if (recorded_exists(from)) found.push_back(at(from));
  for (std::size_t i = recorded_until(from); i < recorded_->events.size(); ++i) {
    if (found.size() >= count_max || recorded_time(i) >= to) break;
    if (is_recorded_version(i)) found.push_back(recorded_version(i));
  }
  return found;
}

}  // namespace meguri::sim
