// RevisitPlan: what a visit tells of how its page changes, and when the page is visited again.
#pragma once

#include <memory>
#include <optional>

#include "base/result.h"
#include "base/time.h"
#include "crawl/messages.h"
#include "crawl/options.h"
#include "crawl/page_record.h"
#include "revisit/policy.h"

namespace meguri::crawl {

// Immutable.
class RevisitPlan {
 public:
  // kInvalid: there is no such policy, or its options are wrong.
  static base::Result<RevisitPlan> make(const RevisitOptions& options);

  // `record` is that of the page before the report, whose outcome it shall have. Gives it the visit
  // and the time of the next one; 0 <= chance < 1.
  void take_visit(const Report& report, double chance, PageRecord& record) const;
  // The page was refused for good at `now`.
  void take_refusal(Refusal reason, base::Instant now, PageRecord& record) const;

  // Brings the next visit of a page that was visited forward, if it is said to have been modified
  // since: by how much, the trust in its host says (revisit/hints.h). Without a new date, what was
  // said before is looked at anew. Any visit answers what was said before it, one that failed too:
  // such a page has its own time of another try.
  void take_hint(std::optional<base::Instant> modified, double trust, PageRecord& record) const;

  // Whether a page whose time has come is visited: one that is retired may be so for ever, unless
  // it is said to live again.
  bool is_visited_again(const PageRecord& record) const;

 private:
  RevisitPlan(const RevisitOptions& options, std::unique_ptr<revisit::Policy> policy)
      : options_(options), policy_(std::move(policy)) {}

  RevisitOptions options_;
  std::unique_ptr<revisit::Policy> policy_;
};

// The page's own pace: what lies between its visits as long as its host need not be spared. Zero
// before its first visit, and of a page that is refused.
base::Duration interval_of(const PageRecord& record);

// Visits a day that it asks for at that pace.
double load_of(const PageRecord& record);

}  // namespace meguri::crawl
