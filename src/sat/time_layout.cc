#include "sat/time_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace meguri::sat {

using base::Duration;
using base::ErrorCode;
using base::Instant;

namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a >= 0 ? (a + b - 1) / b : a / b; }

bool take_number(std::string_view& text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// A sealed bucket of the next level may reach one of its units beyond the horizon. Buckets of the
// first level are kept for a while after they were opened, those of others after they were sealed,
// at the latest until the level below has come to where they begin.
std::int64_t ring_size(const std::vector<Level>& levels, std::size_t k) {
  const Level& level = levels[k];
  std::int64_t size = level.buckets + 1;
  if (k + 1 < levels.size()) size += levels[k + 1].unit.ms() / level.unit.ms();
  if (k == 0) return size + TimeLayout::kOpenMax;
  return size + levels[k - 1].unit.ms() * levels[k - 1].buckets / level.unit.ms() + 2;
}

}  // namespace

TimeLayout::TimeLayout(std::vector<Level> levels) : levels_(std::move(levels)) {
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    const std::int64_t size = ring_size(levels_, k);
    rings_.push_back({slots_, size});
    slots_ += static_cast<std::uint32_t>(size);
  }
}

base::Result<TimeLayout> TimeLayout::make(std::vector<Level> levels) {
  if (levels.empty()) return base::fail(ErrorCode::kInvalid, "a layout of time needs a level");
  std::uint64_t slots = 0;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const Level& level = levels[k];
    if (level.unit <= Duration() || level.buckets == 0) {
      return base::fail(ErrorCode::kInvalid, "a level of time needs a unit and buckets");
    }
    if (k == 0) continue;
    const Level& finer = levels[k - 1];
    const bool divides = level.unit.ms() % finer.unit.ms() == 0 && level.unit > finer.unit;
    const bool reaches = level.unit * level.buckets > finer.unit * finer.buckets;
    // A sealed bucket must fit into the level below it.
    if (!divides || !reaches || level.unit > finer.unit * finer.buckets) {
      return base::fail(ErrorCode::kInvalid, "buckets of {} cannot follow {} of {}",
                        level.unit.to_string(), finer.buckets, finer.unit.to_string());
    }
  }
  for (std::size_t k = 0; k < levels.size(); ++k) {
    slots += static_cast<std::uint64_t>(ring_size(levels, k));
  }
  if (slots > kSlotsMax) {
    return base::fail(ErrorCode::kInvalid, "{} buckets are more than the {} there may be", slots,
                      kSlotsMax);
  }
  return TimeLayout(std::move(levels));
}

base::Result<TimeLayout> TimeLayout::uniform(Duration unit, std::uint32_t buckets) {
  return make({{unit, buckets}});
}

TimeLayout TimeLayout::mixed() {
  return TimeLayout(
      {{Duration::minutes(1), 1440}, {Duration::hours(1), 768}, {Duration::days(1), 400}});
}

std::uint32_t TimeLayout::level_of(Slot slot) const {
  std::uint32_t level = 0;
  while (level + 1 < rings_.size() && rings_[level + 1].first <= slot) ++level;
  return level;
}

Bucket TimeLayout::bucket_at(std::size_t k, Instant due) const {
  return {static_cast<std::uint32_t>(k), divide_up(due.ms(), levels_[k].unit.ms())};
}

std::string TimeLayout::encode() const {
  std::string text;
  for (const Level& level : levels_) {
    text += fmt::format("{}{}x{}", text.empty() ? "" : ",", level.unit.ms(), level.buckets);
  }
  return text;
}

base::Result<TimeLayout> TimeLayout::decode(std::string_view text) {
  const std::string_view whole = text;
  std::vector<Level> levels;
  do {
    std::int64_t unit_ms = 0;
    std::int64_t buckets = 0;
    if (!take_number(text, unit_ms) || !take(text, 'x') || !take_number(text, buckets) ||
        buckets <= 0 || buckets > kSlotsMax) {
      return base::fail(ErrorCode::kCorrupt, "{} is no layout of time", base::quoted(whole));
    }
    levels.push_back({Duration::from_ms(unit_ms), static_cast<std::uint32_t>(buckets)});
  } while (take(text, ','));
  if (!text.empty()) {
    return base::fail(ErrorCode::kCorrupt, "{} is no layout of time", base::quoted(whole));
  }
  return make(std::move(levels));
}

// --- TimeFront.

TimeFront::TimeFront(const TimeLayout& layout, Instant start) : layout_(&layout) {
  CHECK(start >= Instant(), "time before 1970 has no buckets");
  begins_.push_back(start.ms() / layout.unit(0).ms() + 1);
  // Each level ends where a bucket of the next one begins, at its horizon or within a unit beyond.
  for (std::size_t k = 1; k < layout.levels(); ++k) {
    const Instant end = start + layout.horizon(k - 1);
    begins_.push_back(layout.bucket_at(k, end).number + 1);
  }
}

Bucket TimeFront::place(Instant due) const {
  const std::size_t last = begins_.size() - 1;
  for (std::size_t k = 0; k < last; ++k) {
    const Bucket coarser = layout_->bucket_at(k + 1, due);
    if (coarser.number >= begins_[k + 1]) continue;
    const Bucket bucket = layout_->bucket_at(k, due);
    return {bucket.level, std::max(bucket.number, begins_[k])};
  }
  const std::int64_t farthest = begins_[last] + layout_->level(last).buckets - 1;
  const Bucket bucket = layout_->bucket_at(last, due);
  return {bucket.level, std::clamp(bucket.number, begins_[last], farthest)};
}

Bucket TimeFront::next_seal() const {
  for (std::size_t k = begins_.size() - 1; k > 0; --k) {
    const std::int64_t unit_ms = layout_->unit(k).ms();
    const Instant begin = Instant::from_ms((begins_[k] - 1) * unit_ms);
    // What level k-1 reaches from its own first bucket on.
    const Instant finer = layout_->end_of({static_cast<std::uint32_t>(k - 1), begins_[k - 1]});
    if (begin < finer + layout_->horizon(k - 1)) return {static_cast<std::uint32_t>(k), begins_[k]};
  }
  return {};
}

void TimeFront::seal(Bucket bucket) {
  CHECK(bucket == next_seal(), "a bucket is sealed out of its turn");
  ++begins_[bucket.level];
}

std::string TimeFront::encode() const {
  std::string text;
  for (const std::int64_t begin : begins_) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", begin);
  }
  return text;
}

base::Result<TimeFront> TimeFront::decode(const TimeLayout& layout, std::string_view text) {
  const std::string_view whole = text;
  TimeFront front(layout, Instant());
  for (std::size_t k = 0; k < front.begins_.size(); ++k) {
    if ((k > 0 && !take(text, ',')) || !take_number(text, front.begins_[k]) ||
        front.begins_[k] <= 0) {
      return base::fail(ErrorCode::kCorrupt, "{} is no front of time", base::quoted(whole));
    }
  }
  if (!text.empty()) {
    return base::fail(ErrorCode::kCorrupt, "{} is no front of time", base::quoted(whole));
  }
  return front;
}

}  // namespace meguri::sat
