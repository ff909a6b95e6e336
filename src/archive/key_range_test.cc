#include "archive/key_range.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/memory_ordered_store.h"

namespace meguri::archive {
namespace {

TEST(KeyRange, OfAFrontHasAllThatBeginSo) {
  const KeyRange range = range_of_front("ab\xff");
  EXPECT_EQ(range.begin, "ab\xff");
  EXPECT_EQ(range.end, "ac");
}

TEST(KeyRange, JoinsWhatOverlapsOrMeets) {
  EXPECT_EQ(joined({{"c", "e"}, {"a", "b"}, {"d", "f"}, {"f", "g"}}),
            (std::vector<KeyRange>{{"a", "b"}, {"c", "g"}}));
}

TEST(KeyRange, IsCutBetweenPagesIntoEvenParts) {
  env::MemoryStoreDisk disk;
  const auto index = TemporalIndex::open(disk.open().value()).value();
  IndexBatch batch;
  for (int page = 0; page < 500; ++page) {
    for (int visit = 0; visit < 1 + page % 5; ++visit) {
      IndexEntry entry;
      entry.url = fmt::format("http://www.example{}.com/a/page-{}", page % 3, page);
      entry.date = base::Instant::from_ms(visit);
      batch.add(entry);
    }
  }
  ASSERT_TRUE(index->write(batch));
  const std::uint64_t bytes = batch.bytes();
  const auto ranges = split(*index, {range_of_entries()}, bytes / 10).value();
  EXPECT_GE(ranges.size(), 10U);
  EXPECT_LE(ranges.size(), 25U);
  EXPECT_EQ(ranges.front().begin, range_of_entries().begin);
  EXPECT_EQ(ranges.back().end, range_of_entries().end);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    sum += index->approximate_bytes(ranges[i].begin, ranges[i].end);
    if (i == 0) continue;
    EXPECT_EQ(ranges[i].begin, ranges[i - 1].end);
    // No page is on both sides of a cut.
    const auto cursor = index->cursor();
    cursor->seek(ranges[i].begin);
    const auto entry = EntryView::parse(cursor->key(), cursor->value());
    EXPECT_TRUE(entry->page().starts_with(ranges[i].begin));
  }
  EXPECT_EQ(sum, bytes);
}

TEST(KeyRange, LeavesOnePageWhole) {
  env::MemoryStoreDisk disk;
  const auto index = TemporalIndex::open(disk.open().value()).value();
  IndexBatch batch;
  for (int visit = 0; visit < 100; ++visit) {
    IndexEntry entry;
    entry.url = "http://example.com/";
    entry.date = base::Instant::from_ms(visit);
    batch.add(entry);
  }
  ASSERT_TRUE(index->write(batch));
  int filled = 0;
  const auto ranges = split(*index, {range_of_entries()}, 1).value();
  for (const KeyRange& range : ranges) {
    if (index->approximate_bytes(range.begin, range.end) > 0) ++filled;
  }
  EXPECT_EQ(filled, 1);
}

}  // namespace
}  // namespace meguri::archive
