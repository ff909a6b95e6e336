#include "archive/content_finder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "archive/snapshot_walk.h"
#include "env/memory_ordered_store.h"

namespace meguri::archive {
namespace {

using base::Instant;

IndexEntry visit(std::string url, int ms, EntryKind kind, std::string digest) {
  IndexEntry entry;
  entry.url = std::move(url);
  entry.date = Instant::from_ms(ms);
  entry.kind = kind;
  entry.status = 200;
  entry.digest = std::move(digest);
  entry.place = {.file = 1, .offset = static_cast<std::uint64_t>(ms), .index = 0, .length = 1};
  return entry;
}

IndexEntry copy_of(std::string url, int ms, std::string digest, EntryOriginal original) {
  IndexEntry entry = visit(std::move(url), ms, EntryKind::kChanged, std::move(digest));
  entry.original = std::move(original);
  return entry;
}

// Where the content of each visit of a page is, newest first; 0: nowhere.
std::vector<std::uint64_t> contents(const std::vector<IndexEntry>& entries, const char* url) {
  env::MemoryStoreDisk disk;
  const auto index = TemporalIndex::open(disk.open().value()).value();
  IndexBatch batch;
  for (const IndexEntry& entry : entries) batch.add(entry);
  EXPECT_TRUE(index->write(batch));
  SnapshotQuery query;
  query.period = {Instant(), Instant::max()};
  query.relations = RelationSet::all();
  query.has_all = true;
  EXPECT_TRUE(query.scope.add_url(url));
  std::vector<std::uint64_t> found;
  SnapshotWalk walk(*index, query);
  for (const KeyRange& range : query.scope.ranges()) {
    EXPECT_TRUE(walk.walk(range, [&](const SnapshotItem& item) -> base::Status {
      found.push_back(item.content == nullptr ? 0 : item.content->place().offset);
      return {};
    }));
  }
  return found;
}

constexpr const char* kA = "http://a.org/";
constexpr const char* kB = "http://b.org/";

TEST(ContentFinder, WalksBackOverWhatFoundNothingNew) {
  EXPECT_EQ(
      contents({visit(kA, 1, EntryKind::kChanged, "md5:1"),
                visit(kA, 2, EntryKind::kUnchanged, "md5:1"), visit(kA, 3, EntryKind::kError, ""),
                visit(kA, 4, EntryKind::kUnchanged, ""), visit(kA, 5, EntryKind::kChanged, "md5:2"),
                visit(kA, 6, EntryKind::kUnchanged, "md5:2")},
               kA),
      (std::vector<std::uint64_t>{5, 5, 1, 1, 1}));
}

TEST(ContentFinder, LooksFurtherBackForADigestThatIsNotThatOfTheLastVersion) {
  EXPECT_EQ(contents({visit(kA, 1, EntryKind::kChanged, "md5:1"),
                      visit(kA, 2, EntryKind::kChanged, "md5:2"),
                      visit(kA, 3, EntryKind::kUnchanged, "md5:1"),
                      visit(kA, 4, EntryKind::kUnchanged, "md5:3")},
                     kA),
            (std::vector<std::uint64_t>{0, 1, 2, 1}));
}

TEST(ContentFinder, FindsTheRecordOfAnotherPageByItsSecond) {
  // Records name their originals to the second.
  const EntryOriginal original{.url = kB, .date = Instant::from_ms(1000)};
  EXPECT_EQ(
      contents({visit(kB, 999, EntryKind::kChanged, "md5:9"),
                visit(kB, 1700, EntryKind::kChanged, "md5:1"),
                visit(kB, 2000, EntryKind::kChanged, "md5:1"), copy_of(kA, 3000, "md5:1", original),
                visit(kA, 4000, EntryKind::kUnchanged, "md5:1")},
               kA),
      (std::vector<std::uint64_t>{1700, 1700}));
}

TEST(ContentFinder, SaysThatTheArchiveDoesNotHaveIt) {
  const EntryOriginal original{.url = kB, .date = Instant::from_ms(1000)};
  EXPECT_EQ(contents({copy_of(kA, 3000, "md5:1", original)}, kA), std::vector<std::uint64_t>{0});
  EXPECT_EQ(contents({visit(kB, 1000, EntryKind::kChanged, "md5:2"),
                      copy_of(kA, 3000, "md5:1", original)},
                     kA),
            std::vector<std::uint64_t>{0});
  EXPECT_EQ(contents({visit(kA, 1, EntryKind::kUnchanged, "md5:1")}, kA),
            std::vector<std::uint64_t>{0});
}

TEST(ContentFinder, OfA304InAnotherPagesNameTakesThePagesOwnFirst) {
  IndexEntry entry = visit(kA, 3000, EntryKind::kUnchanged, "md5:1");
  entry.original = EntryOriginal{.url = kB, .date = Instant::from_ms(1000)};
  const IndexEntry other = visit(kB, 1000, EntryKind::kChanged, "md5:1");
  EXPECT_EQ(contents({other, entry}, kA), std::vector<std::uint64_t>{1000});
  EXPECT_EQ(contents({other, visit(kA, 2000, EntryKind::kChanged, "md5:1"), entry}, kA),
            (std::vector<std::uint64_t>{2000, 2000}));
}

}  // namespace
}  // namespace meguri::archive
