// Reads the state of a page out of any bytes; what is accepted must have these bytes, and must be
// able to live on.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "revisit/change_state.h"
#include "revisit/estimate.h"
#include "revisit/policy.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace base = meguri::base;
  namespace revisit = meguri::revisit;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  revisit::ChangeState state;
  if (!revisit::decode(bytes, state)) return 0;
  std::string again;
  revisit::encode(state, again);
  CHECK(again == bytes);
  const revisit::IntervalRange range = revisit::likely_intervals(state);
  CHECK(!range.shortest || !range.longest || *range.shortest <= *range.longest);
  const revisit::PaperPolicy policy{revisit::PolicyOptions()};
  for (const revisit::Outcome outcome : {revisit::Outcome::kChanged, revisit::Outcome::kUnchanged,
                                         revisit::Outcome::kGone, revisit::Outcome::kError}) {
    const base::Instant time = state.last_visit + base::Duration::hours(1);
    const revisit::ChangeState next =
        revisit::with_visit(state, {.time = time, .outcome = outcome});
    const revisit::Plan plan = policy.next(next, {}, 0.5);
    CHECK(plan.wait >= base::Duration::minutes(1) && plan.wait <= base::Duration::days(400));
    std::string encoded;
    revisit::encode(next, encoded);
    revisit::ChangeState decoded;
    CHECK(revisit::decode(encoded, decoded) && decoded == next);
  }
  return 0;
}
