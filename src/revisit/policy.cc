#include "revisit/policy.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "revisit/estimate.h"

namespace meguri::revisit {
namespace {

using base::Duration;

// Beyond every bound: 10,000 years.
constexpr double kMsMax = 3.1536e14;
// The least part of an interval to which it is spread; the most is as much above it.
constexpr double kSpread = 0.25;

Duration scaled(Duration duration, double factor) {
  const double ms = static_cast<double>(duration.ms()) * factor;
  return Duration::from_ms(static_cast<std::int64_t>(std::clamp(ms, 0.0, kMsMax)));
}

Duration between(Duration low, Duration high, double chance) {
  return low + scaled(high - low, chance);
}

// `first`, doubled at each of so many failures after the first.
Duration doubled(Duration first, std::uint32_t failures) {
  return scaled(first, std::exp2(std::min(failures, 64U) - 1.0));
}

}  // namespace

base::Status PolicyOptions::check() const {
  const auto wrong = [](std::string_view what) {
    return base::fail(base::ErrorCode::kInvalid, "{}", what);
  };
  if (interval_min <= Duration()) return wrong("the shortest interval must be longer than nothing");
  if (interval_min > interval_max) return wrong("the shortest interval is longer than the longest");
  if (far_min > interval_max) return wrong("far visits begin beyond the longest interval");
  if (first_min > first_max) return wrong("the first interval ends before it begins");
  if (growth <= 1 || shrinkage <= 1) return wrong("intervals must grow and shrink by more than 1");
  if (retry_first <= Duration() || hard_first <= Duration()) {
    return wrong("failed visits must wait before they are tried again");
  }
  return {};
}

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::kFirst: return "first";
    case Reason::kEstimate: return "estimate";
    case Reason::kNeverChanged: return "never changed";
    case Reason::kAlwaysChanged: return "always changed";
    case Reason::kFar: return "far";
    case Reason::kRetry: return "retry";
    case Reason::kHard: return "hard";
    case Reason::kRetired: return "retired";
    case Reason::kFixed: return "fixed";
    case Reason::kHint: return "hint";
  }
  CHECK(false, "a reason that is none");
}

Policy::Policy(const PolicyOptions& options) : options_(options) { CHECK(options.check()); }

Policy::Pace Policy::first_pace(double chance) const {
  return {between(options_.first_min, options_.first_max, chance), Reason::kFirst};
}

Plan Policy::next(const ChangeState& state, const Context& context, double chance) const {
  CHECK(state.visits > 0 && context.host.factor > 0);
  Plan plan;
  if (state.failures > 0) {
    plan = after_failure(state, chance);
  } else {
    const Pace own = pace(state, context, chance);
    plan.interval = std::clamp(own.interval, options_.interval_min, options_.interval_max);
    plan.reason = own.reason;
    plan.wait = plan.interval;
  }
  const Duration spared = scaled(plan.wait, context.host.factor) + context.host.added;
  plan.wait = std::clamp(spared, options_.interval_min, options_.interval_max);
  return plan;
}

Plan Policy::after_failure(const ChangeState& state, double chance) const {
  const Duration own = state.interval > Duration() ? state.interval : options_.first_max;
  Plan plan;
  plan.interval = state.interval;
  if (state.last_may_pass && state.failures <= options_.retries_max) {
    plan.reason = Reason::kRetry;
    plan.wait = std::min(own, doubled(options_.retry_first, state.failures));
    return plan;
  }
  // Failures that were retried in vain have not been waited for yet.
  const std::uint32_t retried = state.last_may_pass ? options_.retries_max : 0;
  const std::uint32_t hard = state.failures - std::min<std::uint32_t>(retried, state.failures - 1U);
  plan.reason = hard >= options_.hard_max ? Reason::kRetired : Reason::kHard;
  plan.wait = doubled(std::max(own, options_.hard_first), hard);
  if (plan.reason == Reason::kRetired || plan.wait > options_.interval_max) {
    plan.wait = between(options_.far_min, options_.interval_max, chance);
  }
  if (plan.reason == Reason::kRetired && options_.forgets_retired) {
    plan.wait = options_.interval_max;
    plan.is_never = true;
  }
  return plan;
}

Policy::Pace PaperPolicy::pace(const ChangeState& state, const Context& /*context*/,
                               double chance) const {
  if (state.observed <= Duration()) return first_pace(chance);
  // Histories that were read from an archive come without a pace.
  const Duration last = state.interval > Duration() ? state.interval : state.last_interval;
  Pace own = {.interval = {}, .reason = Reason::kEstimate};
  if (const auto estimated = estimated_interval(state)) {
    own.interval = *estimated;
  } else if (state.changes == 0) {
    // A page that was pulled forward by a hint has not been still for as long as was planned.
    own.interval = scaled(std::min(last, state.observed), options().growth);
    own.reason = Reason::kNeverChanged;
  } else {
    own.interval = scaled(std::min(last, state.last_interval), 1 / options().shrinkage);
    own.reason = Reason::kAlwaysChanged;
  }
  if (own.interval > options().interval_max) {
    own = {between(options().far_min, options().interval_max, chance), Reason::kFar};
  }
  return own;
}

Policy::Pace AdaptivePolicy::pace(const ChangeState& state, const Context& /*context*/,
                                  double chance) const {
  const Duration interval = interval_of(state.filter, options().optimism);
  if (state.observed > Duration()) return {interval, Reason::kEstimate};
  // Pages that were found together shall not all be due together.
  return {scaled(interval, kSpread + 2 * (1 - kSpread) * chance), Reason::kFirst};
}

base::Result<std::unique_ptr<Policy>> make_policy(std::string_view name,
                                                  const PolicyOptions& options) {
  RETURN_IF_ERROR(options.check());
  if (name == "paper") return std::make_unique<PaperPolicy>(options);
  if (name == "adaptive") return std::make_unique<AdaptivePolicy>(options);
  return base::fail(base::ErrorCode::kInvalid, "there is no policy '{}': name paper or adaptive",
                    name);
}

}  // namespace meguri::revisit
