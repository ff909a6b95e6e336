// History: when a page of the virtual web was born, changed and died: a function of its name, so
// that any moment can be asked for without having lived through those before it.
#pragma once

#include <cstdint>
#include <optional>
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

// Changes are a Poisson process in the page's own time. Values; const calls from any thread.
class History {
 public:
  // `key` names the page; the same key and traits give the same history.
  History(std::uint64_t key, const HistoryTraits& traits) : key_(key), traits_(traits) {}

  const HistoryTraits& traits() const { return traits_; }

  bool exists(base::Instant t) const {
    return (!traits_.birth || t >= *traits_.birth) && (!traits_.death || t < *traits_.death);
  }

  // What is there at `t`. Requires exists(t). Takes some 16 steps, whatever the page.
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

  double activity_at(base::Instant t) const;     // expected changes since 1970
  base::Instant time_of(double activity) const;  // the inverse
  std::vector<Event> events_in(std::int64_t window) const;
  Version version_of(const Event& event) const;
  Version born() const;

  std::uint64_t key_;
  HistoryTraits traits_;
};

}  // namespace meguri::sim
