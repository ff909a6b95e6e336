#include "bench/sat_load.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/check.h"

namespace meguri::bench {
namespace {

// A number in [0, 1) of a record; `what` tells several of one record apart.
double draw(std::uint32_t seq, std::uint64_t what) {
  const std::uint64_t mixed = base::mix64(seq + (what << 40U));
  return static_cast<double>(mixed >> 11U) * 0x1.0p-53;
}

double between(double low, double high, double u) { return low * std::pow(high / low, u); }

constexpr std::size_t kUrlBytesMin = 11;
constexpr std::size_t kUrlBytesMax = SatLoad::kUrlBytesMax;

std::size_t url_bytes(std::uint32_t seq) {
  // A mean of 63.7: mostly short, and one in a thousand of any length.
  constexpr double kMeanAbove = 51.4;
  const double u = draw(seq, 1);
  const double above = draw(seq, 2) < 0.001 ? u * static_cast<double>(kUrlBytesMax - kUrlBytesMin)
                                            : -kMeanAbove * std::log(1 - u);
  return std::min(kUrlBytesMin + static_cast<std::size_t>(above), kUrlBytesMax);
}

}  // namespace

SatLoad::SatLoad(std::uint32_t records, std::size_t fixed_bytes, SatUnit unit, std::uint32_t steps,
                 SatRates rates)
    : records_(records), fixed_bytes_(fixed_bytes), unit_(unit), steps_(steps), rates_(rates) {
  CHECK(fixed_bytes >= sizeof(SatCounters) && records < (1U << 31U));
}

base::Instant SatLoad::start() { return base::Instant::from_ms(1'767'225'600'000); }  // 2026-01-01

base::Id SatLoad::id_of(std::uint32_t seq) {
  return {base::mix64(seq), base::mix64(seq + (std::uint64_t{7} << 40U))};
}

std::size_t SatLoad::body_bytes(std::uint32_t seq) const { return fixed_bytes_ + url_bytes(seq); }

void SatLoad::make_body(std::uint32_t seq, std::string* body) const {
  SatCounters counters;
  counters.period = period_minutes(seq);
  body->resize(body_bytes(seq));
  std::memcpy(body->data(), &counters, sizeof counters);
  std::uint64_t state = base::mix64(seq + (std::uint64_t{3} << 40U));
  for (std::size_t at = sizeof counters; at < body->size(); at += 8) {
    // Letters behind the fixed part, any bytes in it.
    const std::uint64_t letters = 0x6161616161616161ULL | (state & 0x0f0f0f0f0f0f0f0fULL);
    const std::uint64_t word = at < fixed_bytes_ ? state : letters;
    std::memcpy(body->data() + at, &word, std::min<std::size_t>(8, body->size() - at));
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  }
}

// Shares of the records, by 003: 0.07 % every hour, 2.15 % every 2 to 23 hours, 4.8 % every day,
// and the rest every 8 to 400 days. By 000: 1 % every hour, 2.1 % every 2 to 23 hours, 42 % every 1
// to 30 days, and the rest every 31 to 365 days.
std::uint32_t SatLoad::period_hours(std::uint32_t seq) const {
  const double u = draw(seq, 4);
  const double v = draw(seq, 5);
  if (rates_ == SatRates::k000) {
    if (u < 0.01) return 1;
    if (u < 0.031) return static_cast<std::uint32_t>(between(2, 24, v));
    if (u < 0.451) return 24 * static_cast<std::uint32_t>(between(1.4, 31, v));
    return 24 * static_cast<std::uint32_t>(between(31, 366, v));
  }
  if (u < 0.0007) return 1;
  if (u < 0.0222) return static_cast<std::uint32_t>(between(2, 24, v));
  if (u < 0.0702) return 24;
  return 24 * static_cast<std::uint32_t>(between(8, 400, v));
}

std::uint32_t SatLoad::period_minutes(std::uint32_t seq) const {
  const std::uint32_t minutes = period_hours(seq) * 60;
  return (minutes + step_minutes() - 1) / step_minutes() * step_minutes();
}

std::uint32_t SatLoad::first_due(std::uint32_t seq) const {
  return 1 + static_cast<std::uint32_t>(draw(seq, 6) * period_minutes(seq));
}

std::vector<std::vector<std::uint32_t>> SatLoad::due_by_step() const {
  std::vector<std::vector<std::uint32_t>> due(steps_);
  const std::uint32_t step = step_minutes();
  for (std::uint32_t seq = 0; seq < records_; ++seq) {
    const std::uint32_t first = (first_due(seq) - 1) / step;
    if (first >= steps_) continue;
    const std::uint32_t period = period_minutes(seq) / step;
    for (std::uint32_t at = first; at < steps_; at += period) due[at].push_back(seq);
  }
  return due;
}

SatCounters visit_body(char* body, std::uint32_t minute) {
  SatCounters counters;
  std::memcpy(&counters, body, sizeof counters);
  SatCounters now = counters;
  now.last_visit = minute;
  ++now.visits;
  now.stable += counters.period;
  std::memcpy(body, &now, sizeof now);
  return counters;
}

}  // namespace meguri::bench
