#include "crawl/page_record.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::crawl {
namespace {

using Codec = flow::Codec<PageRecord>;

PageRecord example(bool with_prior) {
  PageRecord record;
  record.candidate = {"https://example.org/a", "https://example.org/", 3,   2,
                      Offer::kRedirect,        Offer::kEmbed,          true};
  record.host = host_hash_of("example.org");
  record.state = PageState::kVisited;
  record.visits = 2;
  record.outcome = VisitOutcome::kGone;
  record.fetch = fetch::FetchOutcome::kReset;
  record.status = 410;
  record.visited = base::Instant::from_ms(1'700'000'000'123);
  record.failures = 3;
  record.not_before = base::Instant::from_ms(1'700'000'900'123);
  record.refusal = Refusal::kExcluded;
  if (!with_prior) return record;
  record.prior = PriorVersion{"\"tag\"", "Sun, 15 Nov 2026 08:09:10 GMT", {}, {}, {}};
  record.prior->digest.bytes[19] = 7;
  record.prior->record.bytes[0] = 9;
  record.prior->date = base::Instant::from_ms(-5);
  record.prior->url = "http://other.example/";
  record.prior->sketch = web::sketch_of("some words of the main text of the page");
  record.changes = revisit::with_visit({}, {.time = record.visited});
  record.target = 17;
  record.next_visit = base::Instant::from_ms(1'800'000'000'000);
  record.reason = revisit::Reason::kEstimate;
  record.groups = 77;
  record.hint = {.modified = base::Instant::from_ms(1'700'000'000'456),
                 .visit = base::Instant::from_ms(1'750'000'000'000)};
  record.candidate.modified = base::Instant::from_ms(1'600'000'000'789);
  return record;
}

TEST(PageRecord, ComesBackFromItsBytes) {
  for (const bool with_prior : {false, true}) {
    const PageRecord record = example(with_prior);
    std::string bytes;
    Codec::encode(record, bytes);
    PageRecord read;
    ASSERT_TRUE(Codec::decode(bytes, read));
    EXPECT_EQ(read, record);
  }
}

TEST(PageRecord, RefusesBytesThatAreCutOrLonger) {
  std::string bytes;
  Codec::encode(example(true), bytes);
  PageRecord read;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(Codec::decode(std::string_view(bytes).substr(0, length), read)) << length;
  }
  EXPECT_FALSE(Codec::decode(bytes + "x", read));
  bytes[0] = 1;  // another version
  EXPECT_FALSE(Codec::decode(bytes, read));
}

TEST(PageRecord, IsSeenAtAGlance) {
  PageRecord record;
  record.candidate = {.url = "http://example.org/", .via = "", .depth = 7, .hops = 3};
  record.candidate.is_last = true;
  record.state = PageState::kVisited;
  record.prior.emplace().etag = "\"tag\"";
  std::string bytes;
  flow::Codec<PageRecord>::encode(record, bytes);
  const auto glance = glance_of(bytes);
  ASSERT_TRUE(glance);
  EXPECT_EQ(glance->state, PageState::kVisited);
  EXPECT_EQ(glance->depth, 7U);
  EXPECT_EQ(glance->hops, 3);
  EXPECT_TRUE(glance->is_last);
  EXPECT_FALSE(glance_of("short"));
}

TEST(PageRecord, KeysAreIds) {
  const base::Id id = page_id_of("https://example.org/");
  const std::string key(std::string_view(page_key_of(id)));
  EXPECT_EQ(key.size(), 16U);
  EXPECT_EQ(id_of_page_key(key), id);
  EXPECT_FALSE(id_of_page_key(key + "x"));
  EXPECT_FALSE(id_of_page_key(key.substr(1)));
}

}  // namespace
}  // namespace meguri::crawl
