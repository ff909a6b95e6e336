#include "revisit/rate_filter.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace meguri::revisit {
namespace {

using base::Duration;

// How much wider the belief becomes with each visit.
constexpr double kDrift = 0.005;
constexpr int kSteps = 3;
constexpr double kDayMs = 86'400'000;
constexpr double kIntervalMsMax = 3.1536e14;  // 10,000 years
// Beyond these nothing tells rates apart: a change in 3 seconds or in 3,000 years.
constexpr double kMeanMin = -14;
constexpr double kMeanMax = 10;
constexpr double kVarianceMax = 25;

// Slope of the logarithm of the likelihood by ln λ, and minus its curvature.
struct Slope {
  double slope;
  double curvature;
};

Slope slope_of_unchanged(double x) { return {-x, x}; }

Slope slope_of_changed(double x) {
  if (x > 50) return {0, 0};
  const double odds = 1 / std::expm1(x);
  const double slope = x * odds;
  return {slope, std::max(0.0, slope * (x * (1 + odds) - 1))};
}

Slope slope_of_dated(double x) { return {1 - x, x}; }

template <typename SlopeOf>
RateFilter updated(const RateFilter& filter, Duration time, SlopeOf slope_of) {
  const double days = static_cast<double>(time.ms()) / kDayMs;
  const double mean = filter.mean;
  const double variance = std::min(filter.variance + kDrift, kVarianceMax);
  double l = mean;
  double curvature = 0;
  for (int i = 0; i < kSteps; ++i) {
    const Slope at = slope_of(std::exp(l) * days);
    curvature = at.curvature;
    const double step = (-(l - mean) / variance + at.slope) / (1 / variance + curvature);
    l += std::clamp(step, -1.0, 1.0);
  }
  return {.mean = static_cast<float>(std::clamp(l, kMeanMin, kMeanMax)),
          .variance = static_cast<float>(1 / (1 / variance + curvature))};
}

}  // namespace

RateFilter with_unchanged(RateFilter filter, Duration interval) {
  return updated(filter, interval, slope_of_unchanged);
}

RateFilter with_changed(RateFilter filter, Duration interval) {
  return updated(filter, interval, slope_of_changed);
}

RateFilter with_dated(RateFilter filter, Duration since_change) {
  return updated(filter, since_change, slope_of_dated);
}

Duration interval_of(const RateFilter& filter, double optimism) {
  const double days = std::exp(-(filter.mean + optimism * std::sqrt(filter.variance)));
  return Duration::from_ms(
      static_cast<std::int64_t>(std::clamp(days * kDayMs, 1.0, kIntervalMsMax)));
}

}  // namespace meguri::revisit
