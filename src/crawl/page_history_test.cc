#include "crawl/page_history.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "archive/sha1.h"
#include "crawl/options.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);
constexpr std::string_view kUrl = "http://a.example/page";

RevisitPlan plan() {
  RevisitOptions options;
  options.is_on = true;
  return RevisitPlan::make(options).value();
}

HistoryVisit visit_after(Duration time, int status = 200) {
  HistoryVisit visit{.url = std::string(kUrl), .date = kStart + time};
  visit.status = static_cast<std::uint16_t>(status);
  return visit;
}

HistoryVisit with_body(Duration time, std::string_view body) {
  HistoryVisit visit = visit_after(time);
  visit.digest = archive::Sha1().of(body);
  visit.said_digest = base::hash64(body);
  return visit;
}

std::optional<PageRecord> fold(const std::vector<HistoryVisit>& visits) {
  const RevisitPlan revisits = plan();
  PageHistory history(revisits, web::kDifferenceThreshold);
  for (const HistoryVisit& visit : visits) history.take(visit);
  return history.end();
}

TEST(PageHistory, TellsHowOftenThePageChanged) {
  std::vector<HistoryVisit> visits;
  for (int day = 0; day < 20; ++day) {
    visits.push_back(with_body(Duration::days(day), day % 4 == 0 ? std::to_string(day) : "same"));
  }
  const auto record = fold(visits);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->candidate.url, kUrl);
  EXPECT_EQ(record->candidate.offer, Offer::kHistory);
  EXPECT_EQ(record->state, PageState::kVisited);
  EXPECT_EQ(record->visits, 0U);  // none of them was of this crawl
  EXPECT_EQ(record->changes.visits, 20U);
  EXPECT_EQ(record->changes.versions, 10U);  // 0, same, 4, same, 8, ...
  EXPECT_EQ(record->changes.changes, 9U);
  EXPECT_EQ(record->visited, kStart + Duration::days(19));
  EXPECT_EQ(record->changes.first_visit, kStart);
  EXPECT_GT(record->next_visit, record->visited);
  EXPECT_LT(record->next_visit, record->visited + Duration::days(10));
  ASSERT_TRUE(record->prior);
  EXPECT_EQ(record->prior->digest, archive::Sha1().of("same"));
  EXPECT_FALSE(record->prior->is_archived());
}

// A crawl that made the same visits has the same state.
TEST(PageHistory, IsTheStateThatACrawlWouldHave) {
  const RevisitPlan revisits = plan();
  PageRecord live;
  std::vector<HistoryVisit> visits;
  const std::vector<std::string> bodies = {"a", "a", "b", "b", "b", "c", "c", "a"};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Duration time = Duration::hours(static_cast<std::int64_t>(i * i));
    visits.push_back(with_body(time, bodies[i]));
    Report report;
    report.status = 200;
    report.date = kStart + time;
    report.outcome =
        i > 0 && bodies[i] == bodies[i - 1] ? VisitOutcome::kUnchanged : VisitOutcome::kChanged;
    revisits.take_visit(report, 0.5, live);
  }
  const auto record = fold(visits);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->changes, live.changes);
  EXPECT_EQ(record->next_visit, live.next_visit);
}

TEST(PageHistory, BelievesRevisitRecords) {
  HistoryVisit not_modified = visit_after(Duration::days(1), 304);
  not_modified.is_not_modified = true;
  HistoryVisit same = visit_after(Duration::days(2));
  same.said_digest = base::hash64("one");
  HistoryVisit other = visit_after(Duration::days(3));  // a version that was there once
  other.said_digest = base::hash64("zero");
  const auto record = fold({with_body({}, "one"), not_modified, same, other});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->changes.visits, 4U);
  EXPECT_EQ(record->changes.versions, 2U);
  EXPECT_FALSE(record->prior);  // its body is not known
  // Nothing is known of what it says it is the same as.
  EXPECT_FALSE(fold({not_modified}));
}

TEST(PageHistory, LeavesOutWhatWouldHaveBeenTriedAgain) {
  const auto record =
      fold({with_body({}, "one"), visit_after(Duration::days(1), 503),
            visit_after(Duration::days(2), 429), visit_after(Duration::days(3), 403)});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->changes.visits, 2U);
  EXPECT_EQ(record->status, 403);
  EXPECT_EQ(record->outcome, VisitOutcome::kError);
  EXPECT_FALSE(fold({visit_after({}, 500)}));
}

TEST(PageHistory, TakesAMomentOnce) {
  const auto record =
      fold({with_body({}, "one"), with_body({}, "two"), with_body(Duration::days(1), "one")});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->changes.visits, 2U);
  EXPECT_EQ(record->changes.versions, 1U);
}

TEST(PageHistory, KnowsWhereARedirectLeads) {
  HistoryVisit first = visit_after({}, 301);
  first.target = 7;
  HistoryVisit second = visit_after(Duration::days(1), 301);
  second.target = 7;
  HistoryVisit third = visit_after(Duration::days(2), 302);
  third.target = 8;
  const auto record = fold({first, second, third});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->outcome, VisitOutcome::kRedirected);
  EXPECT_EQ(record->target, 8U);
  EXPECT_EQ(record->changes.versions, 2U);
}

TEST(PageHistory, CountsWhatAReaderWouldCallAChange) {
  std::string text;
  for (int i = 0; i < 500; ++i)
    text += "word" + std::string(1, static_cast<char>('a' + i % 26)) +
            std::string(static_cast<std::size_t>(i % 7 + 1), 'x') + " ";
  const auto with_text = [&](int day, const std::string& shown) {
    HistoryVisit visit = with_body(Duration::days(day), shown);
    visit.sketch = web::sketch_of(shown);
    return visit;
  };
  const auto record = fold({with_text(0, text), with_text(1, text + " 17:04"),
                            with_text(2, "something else altogether " + text.substr(0, 900))});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->changes.versions, 3U);
  EXPECT_EQ(record->changes.changes, 1U);
}

TEST(HistoryVisitCodec, KeepsEverything) {
  HistoryVisit visit = with_body(Duration::days(1), "body");
  visit.is_not_modified = true;
  visit.is_list = true;
  visit.sketch = web::sketch_of("some words of a text");
  visit.target = 5;
  visit.last_modified = kStart;
  visit.depth = 3;
  for (const HistoryVisit& item : {visit, visit_after({}, 404)}) {
    std::string bytes;
    flow::Codec<HistoryVisit>::encode(item, bytes);
    HistoryVisit read;
    ASSERT_TRUE(flow::Codec<HistoryVisit>::decode(bytes, read));
    EXPECT_EQ(read, item);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(flow::Codec<HistoryVisit>::decode(bytes.substr(0, size), read)) << size;
    }
  }
}

}  // namespace
}  // namespace meguri::crawl
