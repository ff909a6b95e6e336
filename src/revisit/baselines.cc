#include "revisit/baselines.h"

#include <algorithm>

namespace meguri::revisit {
namespace {

using base::Duration;

Duration scaled(Duration duration, double factor) {
  return Duration::from_ms(static_cast<std::int64_t>(static_cast<double>(duration.ms()) * factor));
}

}  // namespace

Policy::Pace UniformPolicy::pace(const ChangeState& /*state*/, const Context& /*context*/,
                                 double /*chance*/) const {
  return {interval_, Reason::kFixed};
}

StepRule nutch_rule() {
  return {.first = Duration::days(14),
          .shrink = 0.2,
          .growth = 0.2,
          .least = Duration::seconds(60),
          .most = Duration::days(365)};
}

StepRule nutch_default_rule() {
  StepRule rule = nutch_rule();
  rule.first = Duration::days(30);
  rule.growth = 0.4;
  return rule;
}

StepRule storm_crawler_rule() {
  return {.first = Duration::days(1),
          .shrink = 0.5,
          .growth = 0.5,
          .least = Duration::hours(1),
          .most = Duration::days(14),
          .is_gentle = true};
}

Policy::Pace StepPolicy::pace(const ChangeState& state, const Context& /*context*/,
                              double /*chance*/) const {
  if (state.interval <= Duration()) return {rule_.first, Reason::kFirst};
  const Duration least = std::max(rule_.least, options().interval_min);
  Pace own = {.interval = {}, .reason = Reason::kEstimate};
  if (outcome_at(state, 0) == Outcome::kChanged) {
    own.interval = scaled(state.interval, 1 - rule_.shrink);
    if (rule_.is_gentle) own.interval = own.interval + scaled(least, rule_.shrink);
  } else {
    own.interval = scaled(state.interval, 1 + rule_.growth);
  }
  own.interval = std::clamp(own.interval, least, std::max(least, rule_.most));
  return own;
}

Policy::Pace OraclePolicy::pace(const ChangeState& /*state*/, const Context& context,
                                double /*chance*/) const {
  return {context.known_interval, Reason::kFixed};
}

}  // namespace meguri::revisit
