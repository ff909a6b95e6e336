// Policy: when a page is visited again. Pure functions of what its visits told, of how much its
// host must be spared, and of chance.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "revisit/change_state.h"

namespace meguri::revisit {

// Bounds, and what all policies do alike.
struct PolicyOptions {
  base::Duration interval_min = base::Duration::minutes(1);
  base::Duration interval_max = base::Duration::days(400);
  // What would be visited more rarely than interval_max is visited between this and that, at
  // random: such pages hardly change, but hosts and domains die.
  base::Duration far_min = base::Duration::days(300);

  // From the first visit to the second: uniform between these. The later the second visit, the
  // longer fast pages go unnoticed: with a week a month's crawl captures 3 % less.
  base::Duration first_min = base::Duration::hours(1);
  base::Duration first_max = base::Duration::days(2);

  // While a page was never seen to change, its interval is multiplied by this; while it was never
  // seen unchanged, divided.
  double growth = 3;
  double shrinkage = 2;

  // Of "adaptive": how many deviations above what is believed a rate is taken to be.
  double optimism = 1;

  // Errors that may pass: tried again after retry_first, then after twice as long each time, but
  // never later than the page's own pace has it. From so many on they count as hard.
  base::Duration retry_first = base::Duration::hours(1);
  std::uint32_t retries_max = 6;

  // Gone, and errors that will not pass: visited again after its own interval or hard_first,
  // whichever is longer, then after twice as long each time. From so many in a row on it is
  // retired: visited far from now, or never.
  base::Duration hard_first = base::Duration::days(1);
  std::uint32_t hard_max = 8;
  bool forgets_retired = false;  // never

  // kInvalid, with a sentence, where bounds cross or factors do not grow.
  base::Status check() const;
};

// How much a host must be spared. An overloaded one has its intervals multiplied, which keeps their
// proportions and is best for what an archive holds, or lengthened by some days, which is felt by
// fast pages alone. Both may be used at once.
struct HostSparing {
  double factor = 1;     // of a host: at least 1
  base::Duration added;  // not negative
};

struct Context {
  HostSparing host = {};
  base::Duration known_interval = {};  // the true mean between changes: only simulations know
};

// Why the next visit is when it is.
enum class Reason : std::uint8_t {
  kFirst,          // visited once: at random
  kEstimate,       // by its estimated rate of change
  kNeverChanged,   // longer than the last interval
  kAlwaysChanged,  // shorter
  kFar,            // it hardly ever changes: at random, far away
  kRetry,          // the last visit failed in a way that may pass
  kHard,           // the last visit found it gone, or failed in a way that will not pass
  kRetired,        // so did many before
  kFixed,          // by a rule that does not look at the page
  kHint,           // somebody says that it has changed
};
std::string_view name_of(Reason reason);  // "first", "never changed", …

struct Plan {
  base::Duration wait;      // from the last visit to the next
  base::Duration interval;  // the page's own pace: to be kept in ChangeState::interval
  Reason reason = Reason::kFirst;
  bool is_never = false;  // there is no next visit; `wait` is interval_max
};

// Immutable, so const calls from any thread.
class Policy {
 public:
  explicit Policy(const PolicyOptions& options);  // requires options.check()
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  // Requires state.visits > 0, a positive factor, and 0 <= chance < 1. The wait is within the
  // bounds, whatever the host.
  Plan next(const ChangeState& state, const Context& context, double chance) const;

  const PolicyOptions& options() const { return options_; }

  // Whether its intervals may be scaled to a budget. Rules that correct the interval they find
  // would correct the scale away, and can only be made to wait.
  virtual bool is_scalable() const { return true; }

 protected:
  struct Pace {
    base::Duration interval;
    Reason reason;
  };
  // Of a page that was there at its last visit.
  virtual Pace pace(const ChangeState& state, const Context& context, double chance) const = 0;
  Pace first_pace(double chance) const;

 private:
  Plan after_failure(const ChangeState& state, double chance) const;

  PolicyOptions options_;
};

// The policy of paper 002.
class PaperPolicy final : public Policy {
 public:
  using Policy::Policy;

 private:
  Pace pace(const ChangeState& state, const Context& context, double chance) const override;
};

// By the state's filter: as often as the page may well change, which is curious of what is little
// known and needs no rules for pages that never or always changed. Not the default before it has
// proved itself in crawls.
class AdaptivePolicy final : public Policy {
 public:
  using Policy::Policy;

 private:
  Pace pace(const ChangeState& state, const Context& context, double chance) const override;
};

// By its name in the configuration: "paper" or "adaptive". kInvalid: there is none of that name, or
// its options are wrong.
base::Result<std::unique_ptr<Policy>> make_policy(std::string_view name,
                                                  const PolicyOptions& options);

}  // namespace meguri::revisit
