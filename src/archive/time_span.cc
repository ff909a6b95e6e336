#include "archive/time_span.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace meguri::archive {

namespace {

constexpr std::array<std::string_view, kRelations> kNames = {
    "before",     "meets",  "overlaps", "finished-by",   "contains", "starts", "equals",
    "started-by", "during", "finishes", "overlapped-by", "met-by",   "after"};

// Of a span that begins within the other, or with it, and does so before that ends.
Relation by_ends(const TimeSpan& d, const TimeSpan& q, Relation shorter, Relation same,
                 Relation longer) {
  if (d.end == q.end) return same;
  return d.end < q.end ? shorter : longer;
}

}  // namespace

std::string_view name_of(Relation relation) {
  return kNames.at(static_cast<std::size_t>(relation));
}

Relation relation_of(const TimeSpan& d, const TimeSpan& q) {
  CHECK(!d.empty() && !q.empty(), "an empty span has no relation");
  if (d.end <= q.begin) return d.end == q.begin ? Relation::kMeets : Relation::kBefore;
  if (d.begin >= q.end) return d.begin == q.end ? Relation::kMetBy : Relation::kAfter;
  if (d.begin < q.begin) {
    return by_ends(d, q, Relation::kOverlaps, Relation::kFinishedBy, Relation::kContains);
  }
  if (d.begin == q.begin) {
    return by_ends(d, q, Relation::kStarts, Relation::kEquals, Relation::kStartedBy);
  }
  return by_ends(d, q, Relation::kDuring, Relation::kFinishes, Relation::kOverlappedBy);
}

base::Result<RelationSet> RelationSet::parse(std::string_view text) {
  RelationSet set;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    const auto* const found = std::ranges::find(kNames, name);
    if (found == kNames.end()) {
      return base::fail(base::ErrorCode::kInvalid, "{} is no relation; there are {}",
                        base::quoted(name), fmt::join(kNames, ", "));
    }
    set.add(static_cast<Relation>(found - kNames.begin()));
    begin = end + 1;
  }
  return set;
}

std::string RelationSet::to_string() const {
  std::string text;
  for (std::size_t i = 0; i < kRelations; ++i) {
    if (!has(static_cast<Relation>(i))) continue;
    if (!text.empty()) text += ',';
    text += kNames.at(i);
  }
  return text;
}

}  // namespace meguri::archive
