// The records of paper 003 and when each of them is due: the same for every store that is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/time.h"

namespace meguri::bench {

// Which paper's rates. Of 17.5 M records 003 tells that 138 k are due each hour, less than a tenth
// of which every hour; 1.74 M each day, more than 70 % of which every day. 000 tells of the same
// ones 0.346 M an hour, 2.83 M a day, 11.4 M a month, and all of them within a year.
enum class SatRates : std::uint8_t { k003, k000 };

// How finely time is cut.
enum class SatUnit : std::uint8_t { kHour, kDay, kMinute, kMixed };

// A record is a function of its number, so that nobody has to keep them. Its period is a number of
// steps (an hour; a day if that is the unit) and never changes. Where the papers had real records,
// periods are drawn so that the rates they tell come out. Immutable.
class SatLoad {
 public:
  SatLoad(std::uint32_t records, std::size_t fixed_bytes, SatUnit unit, std::uint32_t steps,
          SatRates rates = SatRates::k003);

  static constexpr std::size_t kUrlBytesMax = 3715;

  std::uint32_t records() const { return records_; }
  std::size_t fixed_bytes() const { return fixed_bytes_; }
  SatUnit unit() const { return unit_; }
  std::uint32_t steps() const { return steps_; }
  std::uint32_t step_minutes() const { return unit_ == SatUnit::kDay ? 24 * 60 : 60; }
  std::uint32_t horizon_steps() const { return unit_ == SatUnit::kDay ? 400 : 400 * 24; }

  static base::Id id_of(std::uint32_t seq);
  // The fixed part, which begins with the counters, then a text as long as a URL.
  void make_body(std::uint32_t seq, std::string* body) const;
  std::size_t body_bytes(std::uint32_t seq) const;
  std::size_t body_bytes_max() const { return fixed_bytes_ + kUrlBytesMax; }
  // Minutes since the start, in (0, period]; and how long it takes until it is due again.
  std::uint32_t first_due(std::uint32_t seq) const;
  std::uint32_t period_minutes(std::uint32_t seq) const;

  // What is due in each step, and in all of them. Needs four bytes for each.
  std::vector<std::vector<std::uint32_t>> due_by_step() const;

  static base::Instant start();

 private:
  std::uint32_t period_hours(std::uint32_t seq) const;

  std::uint32_t records_;
  std::size_t fixed_bytes_;
  SatUnit unit_;
  std::uint32_t steps_;
  SatRates rates_;
};

// What a visit reads of a record, and changes in it: last visit, visits, how long it was the same.
// Sixteen bytes at the front of the body; the paper changed none.
struct SatCounters {
  std::uint32_t last_visit = 0;  // minutes
  std::uint32_t visits = 0;
  std::uint32_t stable = 0;
  std::uint32_t period = 0;  // minutes; stays
};

// Changes the counters at the front of a body as a visit at `minute` does, and returns what they
// were.
SatCounters visit_body(char* body, std::uint32_t minute);

}  // namespace meguri::bench
