// Policies to measure others by: what other crawlers do, and what nobody can.
#pragma once

#include "revisit/policy.h"

namespace meguri::revisit {

// Every page after the same interval.
class UniformPolicy final : public Policy {
 public:
  UniformPolicy(const PolicyOptions& options, base::Duration interval)
      : Policy(options), interval_(interval) {}

 private:
  Pace pace(const ChangeState& state, const Context& context, double chance) const override;

  base::Duration interval_;
};

// A page's interval follows what was found: times (1 - shrink) after a change, times (1 + growth)
// after none.
struct StepRule {
  base::Duration first;  // after the first visit
  double shrink = 0;
  double growth = 0;
  base::Duration least;
  base::Duration most;
  // Steps down become smaller as the interval nears its least.
  bool is_gentle = false;
};

// The rule of Apache Nutch's AdaptiveFetchSchedule, ×0.8 and ×1.2 as its source has it, between 60
// seconds and a year. It begins with a fortnight, about the median page's interval: how fast it
// comes from there to a page's own is most of how good it is. Its sync_delta moves nothing where
// the time of the change is not known.
StepRule nutch_rule();
// The same as nutch-default.xml sets it: ×0.8 and ×1.4, from 30 days on.
StepRule nutch_default_rule();
// Apache StormCrawler's AdaptiveScheduler with its defaults: a day at first, an hour to two weeks,
// ×1.5 up, half of the way to the least down.
StepRule storm_crawler_rule();

class StepPolicy final : public Policy {
 public:
  StepPolicy(const PolicyOptions& options, const StepRule& rule) : Policy(options), rule_(rule) {}

  bool is_scalable() const override { return false; }

 private:
  Pace pace(const ChangeState& state, const Context& context, double chance) const override;

  StepRule rule_;
};

// Knows how often each page changes, and visits it as often.
class OraclePolicy final : public Policy {
 public:
  using Policy::Policy;

 private:
  Pace pace(const ChangeState& state, const Context& context, double chance) const override;
};

}  // namespace meguri::revisit
