// VisitTally: what the visits of this process came to, in numbers for people.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "crawl/messages.h"

namespace meguri::crawl {

inline constexpr std::size_t kFetchOutcomes =
    static_cast<std::size_t>(fetch::FetchOutcome::kLocalFailure) + 1;

// Upper bounds of the histogram of durations; one more bucket holds what is above them.
inline constexpr std::array<std::int64_t, 12> kDurationBoundsMs = {
    5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10'000, 30'000};

struct VisitTotals {
  struct Visit {
    std::string url;  // its first kUrlBytesMax bytes
    Purpose purpose = Purpose::kPage;
    fetch::FetchOutcome fetch = fetch::FetchOutcome::kAnswered;
    int status = 0;
    std::uint64_t bytes = 0;
    base::Duration duration;
  };
  static constexpr std::size_t kUrlBytesMax = 400;

  std::uint64_t pages = 0;   // visits to them
  std::uint64_t robots = 0;  // visits to robots.txt
  std::uint64_t links = 0;
  std::uint64_t foreign_links = 0;  // as in VisitNote
  std::uint64_t truncated = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_archived = 0;  // of records, compressed
  std::array<std::uint64_t, kFetchOutcomes> by_fetch{};
  std::array<std::uint64_t, 6> by_status{};  // of answers, by the first digit; [0]: none of these
  std::array<std::uint64_t, kDurationBoundsMs.size() + 1> by_duration{};
  base::Duration duration;  // of all together

  std::vector<Visit> last;                                      // newest first
  std::vector<std::pair<std::string, std::uint64_t>> failing;   // hosts, the worst first
  std::vector<std::pair<std::string, base::Duration>> slowest;  // their longest answer, likewise
};

// One thread adds, any reads. Bounded: of hosts that fail the first kFailingMax are counted.
class VisitTally {
 public:
  static constexpr std::size_t kLast = 8;
  static constexpr std::size_t kHostsTold = 5;
  static constexpr std::size_t kFailingMax = 1024;

  void add(const VisitNote& note);
  VisitTotals totals() const;

 private:
  void add_slow(const VisitNote& note) REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  VisitTotals totals_ GUARDED_BY(mutex_);  // its lists are empty or unsorted
  std::deque<VisitTotals::Visit> last_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::uint64_t> failing_ GUARDED_BY(mutex_);
};

}  // namespace meguri::crawl
