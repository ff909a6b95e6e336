#include "crawl/visit_tally.h"

#include <algorithm>

namespace meguri::crawl {

namespace {

bool has_failed(const VisitNote& note) {
  return note.fetch != fetch::FetchOutcome::kAnswered || note.status >= 500;
}

std::size_t bucket_of(base::Duration duration) {
  const auto* const bound = std::ranges::lower_bound(kDurationBoundsMs, duration.ms());
  return static_cast<std::size_t>(bound - kDurationBoundsMs.begin());
}

}  // namespace

void VisitTally::add(const VisitNote& note) {
  const base::MutexLock lock(mutex_);
  ++(note.purpose == Purpose::kPage ? totals_.pages : totals_.robots);
  totals_.links += note.links;
  totals_.foreign_links += note.foreign_links;
  totals_.truncated += note.truncation == fetch::Truncation::kNone ? 0 : 1;
  totals_.bytes_received += note.bytes;
  totals_.bytes_archived += note.warc_bytes;
  ++totals_.by_fetch[static_cast<std::size_t>(note.fetch)];
  if (note.fetch == fetch::FetchOutcome::kAnswered) {
    const bool is_usual = note.status >= 100 && note.status < 600;
    ++totals_.by_status[is_usual ? static_cast<std::size_t>(note.status / 100) : 0];
  }
  ++totals_.by_duration[bucket_of(note.duration)];
  totals_.duration = totals_.duration + note.duration;

  if (last_.size() == kLast) last_.pop_back();
  last_.push_front({.url = note.url.substr(0, VisitTotals::kUrlBytesMax),
                    .purpose = note.purpose,
                    .fetch = note.fetch,
                    .status = note.status,
                    .bytes = note.bytes,
                    .duration = note.duration});
  add_slow(note);
  if (!has_failed(note)) return;
  if (const auto known = failing_.find(note.host); known != failing_.end()) {
    ++known->second;
  } else if (failing_.size() < kFailingMax) {
    failing_.emplace(note.host, 1);
  }
}

void VisitTally::add_slow(const VisitNote& note) {
  auto& slowest = totals_.slowest;
  const auto known =
      std::ranges::find(slowest, note.host, [](const auto& host) { return host.first; });
  if (known != slowest.end()) {
    known->second = std::max(known->second, note.duration);
  } else if (slowest.size() < kHostsTold) {
    slowest.emplace_back(note.host, note.duration);
  } else {
    const auto least =
        std::ranges::min_element(slowest, {}, [](const auto& host) { return host.second; });
    if (least->second < note.duration) *least = {note.host, note.duration};
  }
}

VisitTotals VisitTally::totals() const {
  const base::MutexLock lock(mutex_);
  VisitTotals totals = totals_;
  totals.last.assign(last_.begin(), last_.end());
  totals.failing.assign(failing_.begin(), failing_.end());
  std::ranges::sort(totals.failing, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (totals.failing.size() > kHostsTold) totals.failing.resize(kHostsTold);
  std::ranges::sort(totals.slowest,
                    [](const auto& a, const auto& b) { return a.second > b.second; });
  return totals;
}

}  // namespace meguri::crawl
