#include "revisit/estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace meguri::revisit {
namespace {

using base::Duration;

// An interval beyond which no difference matters, in milliseconds: 10,000 years.
constexpr double kMsMax = 3.1536e14;
// A twentieth of a chi-squared variable of one degree lies beyond twice this.
constexpr double kLikelihoodDrop = 1.92;
constexpr int kBisections = 60;

double ms_of(Duration duration) { return static_cast<double>(duration.ms()); }

Duration duration_of(double ms) {
  return Duration::from_ms(static_cast<std::int64_t>(std::clamp(ms, 1.0, kMsMax)));
}

// The point between `low` and `high`, both positive, at which `is_above` becomes true.
template <typename Predicate>
double bisect(double low, double high, Predicate is_above) {
  for (int i = 0; i < kBisections; ++i) {
    const double middle = std::sqrt(low * high);
    (is_above(middle) ? high : low) = middle;
  }
  return std::sqrt(low * high);
}

// What a likelihood of λ is made of, in milliseconds.
struct Evidence {
  explicit Evidence(const ChangeState& state)
      : stable(ms_of(state.stable)),
        changing(ms_of(state.observed - state.stable)),
        changes(state.changes),
        dated(state.dated_changes) {}

  double average() const { return changing / changes; }  // tc_avg; requires changes > 0

  // ln of the likelihood, but for a constant. Requires rate > 0.
  double likelihood(double rate) const {
    double sum = -rate * stable;
    if (changes > 0) sum += changes * std::log(-std::expm1(-rate * average()));
    if (dated > 0) sum += dated * std::log(rate);
    return sum;
  }

  double stable;
  double changing;
  double changes;
  double dated;
};

// Requires that it has one: 0 < U, and a change.
double likeliest_rate(const Evidence& evidence, double tc) {
  const double by_dates = evidence.dated / evidence.stable;
  if (evidence.changes == 0) return by_dates;
  const double by_intervals = std::log1p(evidence.changing / evidence.stable) / tc;
  if (evidence.dated == 0) return by_intervals;
  // Both terms fall with λ, and each alone is U at its own rate: their sum is U between the greater
  // of these and their sum.
  return bisect(std::max(by_dates, by_intervals), by_dates + by_intervals, [&](double rate) {
    return evidence.dated / rate + evidence.changing / std::expm1(rate * tc) < evidence.stable;
  });
}

bool has_rate(const Evidence& evidence) {
  return evidence.stable > 0 && evidence.changes + evidence.dated > 0;
}

}  // namespace

std::optional<Duration> estimated_interval(const ChangeState& state) {
  const Evidence evidence(state);
  if (!has_rate(evidence)) return std::nullopt;
  const double tc =
      evidence.changes > 0 ? std::sqrt(ms_of(state.shortest_change) * evidence.average()) : 0;
  return duration_of(1 / likeliest_rate(evidence, tc));
}

IntervalRange likely_intervals(const ChangeState& state) {
  const Evidence evidence(state);
  IntervalRange range;
  if (state.observed <= Duration()) return range;
  const bool is_still = evidence.changes + evidence.dated == 0;
  const bool is_restless = evidence.stable <= 0;
  // The best of a page that never changed is an interval without end, of one that always did an
  // interval of nothing; both have the likelihood 1.
  double best = is_still ? 1 / kMsMax : 1;
  double least = -kLikelihoodDrop;
  if (!is_still && !is_restless) {
    best = likeliest_rate(evidence, evidence.changes > 0 ? evidence.average() : 0);
    least += evidence.likelihood(best);
    range.likeliest = duration_of(1 / best);
  }
  if (!is_restless) {
    const double rate = bisect(best, 1e6, [&](double r) { return evidence.likelihood(r) < least; });
    range.shortest = duration_of(1 / rate);
  }
  if (!is_still) {
    const double rate =
        bisect(1 / kMsMax, best, [&](double r) { return evidence.likelihood(r) >= least; });
    range.longest = duration_of(1 / rate);
  }
  return range;
}

}  // namespace meguri::revisit
