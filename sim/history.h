// History: when a page of the virtual web was born, changed and died: a function of its name, so
// that any moment can be asked for without having lived through those before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/time.h"

namespace meguri::sim {

// One state of a page's content. `id` tells versions of all pages apart.
struct Version {
  std::uint64_t id = 0;
  base::Instant since;

  friend bool operator==(const Version&, const Version&) = default;
};

// How the activity of a page is spread over the day and the week (UTC). All spread one unit of
// activity over each day or week, so that the mean interval between changes is the page's own.
enum class Rhythm : std::uint8_t {
  kSteady,
  kDaily,   // nothing happens in six hours of the night
  kWeekly,  // Monday to Friday, nine hours a day
};

struct HistoryTraits {
  base::Duration interval;  // the mean between changes
  Rhythm rhythm = Rhythm::kSteady;
  base::Duration day_offset;  // when its day begins
  // From `shift` on, changes come `shift_factor` times as often.
  std::optional<base::Instant> shift = std::nullopt;
  double shift_factor = 1;
  std::optional<base::Instant> birth = std::nullopt;  // nullopt: before all time
  std::optional<base::Instant> death = std::nullopt;
};

// How the pages of paper 000 spread: a fiftieth change within the hour, a sixth within the day, two
// thirds within the month, all within 400 days. `u` in [0, 1).
base::Duration interval_of_quantile(double u);

// The traits of one page of a world that begins at `start`: the chance of each is in the source.
HistoryTraits draw_traits(std::uint64_t seed, std::uint64_t host, std::uint64_t page,
                          base::Instant start);

// What really happened to some page, to be lived through again. Borrowed.
struct RecordedChanges {
  static constexpr std::uint32_t kDeletion = 0x80000000;  // a mark on the seconds

  // Seconds since `origin`, rising. The first is a change, and no two deletions follow each other.
  std::span<const std::uint32_t> events;
  base::Instant origin;
  // The page is there from `origin` on, and a deletion is a change like others: for home pages,
  // without which nothing of a site would be found.
  bool is_always_there = false;
};

// Changes are a Poisson process in the page's own time, or were recorded. A page that is recorded
// is not there before its first change, nor from a deletion on until it comes back, as another
// version. Values; const calls from any thread.
class History {
 public:
  // `key` names the page; the same key and traits give the same history.
  History(std::uint64_t key, const HistoryTraits& traits) : key_(key), traits_(traits) {}
  History(std::uint64_t key, const RecordedChanges& recorded) : key_(key), recorded_(recorded) {}

  const HistoryTraits& traits() const { return traits_; }  // says nothing if it was recorded

  // From now on it is at all times as it is at `moment`.
  void stand_still(base::Instant moment) { still_at_ = moment; }

  bool exists(base::Instant t) const {
    t = seen_at(t);
    if (recorded_) return recorded_exists(t);
    return (!traits_.birth || t >= *traits_.birth) && (!traits_.death || t < *traits_.death);
  }
  // It was there before `t`, and is not at `t`.
  bool is_gone(base::Instant t) const;
  // The first moment after `t` at which it will not be there; nullopt: it stays. Requires
  // exists(t).
  std::optional<base::Instant> end_after(base::Instant t) const;

  // What is there at `t`. Requires exists(t). Takes some 16 steps, whatever the page; one search if
  // it was recorded.
  Version at(base::Instant t) const { return recent(t, 1).front(); }

  // What is there at `t` and what was there before, newest first: at most `count`.
  std::vector<Version> recent(base::Instant t, std::size_t count) const;

  // The versions that were there within [from, to), in order, at most `count_max`: the one that was
  // there at `from` comes first.
  std::vector<Version> versions(base::Instant from, base::Instant to, std::size_t count_max) const;

 private:
  struct Event {
    std::int64_t window;
    std::uint32_t index;
    base::Instant time;
  };

  base::Instant seen_at(base::Instant t) const { return still_at_.value_or(t); }
  double activity_at(base::Instant t) const;     // expected changes since 1970
  base::Instant time_of(double activity) const;  // the inverse
  std::vector<Event> events_in(std::int64_t window) const;
  Version version_of(const Event& event) const;
  Version born() const;

  bool recorded_exists(base::Instant t) const;
  std::size_t recorded_until(base::Instant t) const;  // how many events were at or before `t`
  bool is_recorded_version(std::size_t event) const;  // not a deletion
  base::Instant recorded_time(std::size_t event) const;
  Version recorded_version(std::size_t event) const;
  std::vector<Version> recorded_recent(base::Instant t, std::size_t count) const;
  std::vector<Version> recorded_versions(base::Instant from, base::Instant to,
                                         std::size_t count_max) const;

  std::uint64_t key_;
  HistoryTraits traits_ = {};
  std::optional<RecordedChanges> recorded_ = std::nullopt;
  std::optional<base::Instant> still_at_ = std::nullopt;
};

}  // namespace meguri::sim
