#include "archive/time_span.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace meguri::archive {
namespace {

using base::Instant;

TimeSpan span(std::int64_t begin, std::int64_t end) {
  return {.begin = Instant::from_ms(begin), .end = Instant::from_ms(end)};
}

TEST(TimeSpan, LiesInOneOfThirteenWays) {
  const TimeSpan q = span(10, 20);
  const std::vector<std::pair<TimeSpan, Relation>> cases = {
      {span(1, 9), Relation::kBefore},         {span(1, 10), Relation::kMeets},
      {span(1, 11), Relation::kOverlaps},      {span(1, 20), Relation::kFinishedBy},
      {span(1, 21), Relation::kContains},      {span(10, 11), Relation::kStarts},
      {span(10, 20), Relation::kEquals},       {span(10, 21), Relation::kStartedBy},
      {span(11, 19), Relation::kDuring},       {span(11, 20), Relation::kFinishes},
      {span(11, 21), Relation::kOverlappedBy}, {span(20, 21), Relation::kMetBy},
      {span(21, 22), Relation::kAfter}};
  ASSERT_EQ(cases.size(), kRelations);
  for (const auto& [d, relation] : cases)
    EXPECT_EQ(relation_of(d, q), relation) << name_of(relation);
}

// By points: a span is the set of its moments, and each relation says something of two such sets.
TEST(TimeSpan, LiesAsItsMomentsDo) {
  std::set<Relation> seen;
  for (std::int64_t a = 0; a < 6; ++a) {
    for (std::int64_t b = a + 1; b < 7; ++b) {
      for (std::int64_t c = 0; c < 6; ++c) {
        for (std::int64_t d = c + 1; d < 7; ++d) {
          const TimeSpan x = span(a, b);
          const TimeSpan y = span(c, d);
          const Relation relation = relation_of(x, y);
          seen.insert(relation);
          bool has_common = false;
          bool is_within = true;
          bool holds_all = true;
          for (std::int64_t t = 0; t < 8; ++t) {
            const bool in_x = x.contains(Instant::from_ms(t));
            const bool in_y = y.contains(Instant::from_ms(t));
            has_common = has_common || (in_x && in_y);
            is_within = is_within && (!in_x || in_y);
            holds_all = holds_all && (in_x || !in_y);
          }
          const RelationSet apart = {Relation::kBefore, Relation::kMeets, Relation::kMetBy,
                                     Relation::kAfter};
          const RelationSet within = {Relation::kStarts, Relation::kDuring, Relation::kFinishes,
                                      Relation::kEquals};
          const RelationSet around = {Relation::kStartedBy, Relation::kContains,
                                      Relation::kFinishedBy, Relation::kEquals};
          EXPECT_EQ(!has_common, apart.has(relation));
          EXPECT_EQ(is_within, within.has(relation));
          EXPECT_EQ(holds_all, around.has(relation));
          // The other way round it is the one as far from the other end of the list.
          const std::size_t place = static_cast<std::size_t>(relation);
          EXPECT_EQ(relation_of(y, x), static_cast<Relation>(kRelations - 1 - place));
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), kRelations);
}

TEST(TimeSpan, MayHaveNoEnd) {
  const TimeSpan open{.begin = Instant::from_ms(5)};
  EXPECT_EQ(relation_of(open, open), Relation::kEquals);
  EXPECT_EQ(relation_of(open, span(1, 9)), Relation::kOverlappedBy);
  EXPECT_EQ(relation_of({.begin = Instant::from_ms(7)}, open), Relation::kFinishes);
  EXPECT_FALSE(RelationSet::all().holds(span(5, 5), open));  // it was at no time
}

TEST(RelationSet, IsReadAndWritten) {
  EXPECT_EQ(RelationSet::parse("during,starts")->to_string(), "starts,during");
  EXPECT_EQ(RelationSet::parse(RelationSet::all().to_string()), RelationSet::all());
  EXPECT_EQ(kBegunAndStillSo.to_string(), "equals,started-by,finishes,overlapped-by");
  for (const char* text : {"", "soon", "during,", "during, starts", "During"}) {
    EXPECT_FALSE(RelationSet::parse(text)) << text;
  }
  EXPECT_NE(RelationSet::parse("soon").error().message().find("overlapped-by"), std::string::npos);
}

}  // namespace
}  // namespace meguri::archive
