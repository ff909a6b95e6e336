#include "crawl/history_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "crawl/options.h"
#include "env/memory_file_system.h"
#include "env/memory_ordered_store.h"
#include "env/posix_file_system.h"
#include "env/testing.h"

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = Instant::from_ms(1'767'225'600'000);

HistoryVisit visit_of(int page, int day, int status = 200) {
  HistoryVisit visit{.url = fmt::format("http://a.example/{}", page),
                     .date = kStart + Duration::days(day)};
  visit.status = static_cast<std::uint16_t>(status);
  visit.digest = archive::Sha1().of(std::to_string(day / 2));
  return visit;
}

class HistoryStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<HistoryStore> open() {
    return HistoryStore::open(files_, "history", disk_.open().value()).value();
  }

  // Pages and how many visits they had.
  std::map<std::string, std::uint32_t> read(HistoryStore& store, std::string place = {}) {
    RevisitOptions options;
    options.is_on = true;
    const RevisitPlan plan = RevisitPlan::make(options).value();
    PageHistory history(plan, options.counts_from);
    std::map<std::string, std::uint32_t> pages;
    for (;;) {
      auto page = store.next(place, history);
      EXPECT_TRUE(page);
      if (!page || !*page) return pages;
      place = (*page)->place;
      places_.push_back(place);
      EXPECT_TRUE(
          pages.emplace((*page)->record.candidate.url, (*page)->record.changes.visits).second);
    }
  }

  env::MemoryFileSystem files_;
  env::MemoryStoreDisk disk_;
  std::vector<std::string> places_;
};

TEST_F(HistoryStoreTest, JoinsThePagesOfAllFiles) {
  auto store = open();
  for (int day = 9; day >= 0; --day) {  // in no good order
    for (int page = 0; page < 100; ++page) ASSERT_TRUE(store->add(visit_of(page, day)));
  }
  ASSERT_TRUE(store->add(visit_of(1000, 1, 503)));  // tells nothing
  EXPECT_EQ(store->name(), "");
  ASSERT_TRUE(store->complete("one"));
  EXPECT_EQ(store->name(), "one");
  const auto pages = read(*store);
  ASSERT_EQ(pages.size(), 100U);
  for (const auto& [url, visits] : pages) EXPECT_EQ(visits, 10U) << url;

  // From any place what follows, and nothing twice.
  store.reset();
  store = open();
  EXPECT_EQ(store->name(), "one");
  EXPECT_EQ(read(*store, places_[41]).size(), 58U);
  EXPECT_TRUE(read(*store, places_[99]).empty());
}

TEST_F(HistoryStoreTest, GoesOnAfterACrash) {
  auto store = open();
  for (int page = 0; page < 10; ++page) ASSERT_TRUE(store->add(visit_of(page, 1)));
  ASSERT_TRUE(store->add_file("a.warc.gz", 100));
  ASSERT_TRUE(store->add(visit_of(50, 1)));  // of a file that is not read to its end
  EXPECT_TRUE(*store->has_file("a.warc.gz", 100));
  EXPECT_FALSE(*store->has_file("a.warc.gz", 101));  // it has grown since
  EXPECT_FALSE(*store->has_file("b.warc.gz", 100));
  disk_.crash();
  store.reset();

  store = open();
  EXPECT_EQ(store->name(), "");
  if (!*store->has_file("a.warc.gz", 100)) {
    for (int page = 0; page < 10; ++page) ASSERT_TRUE(store->add(visit_of(page, 1)));
    ASSERT_TRUE(store->add_file("a.warc.gz", 100));
  }
  ASSERT_TRUE(store->add(visit_of(50, 1)));
  ASSERT_TRUE(store->add_file("b.warc.gz", 100));
  ASSERT_TRUE(store->complete("one"));
  EXPECT_EQ(read(*store).size(), 11U);
}

TEST_F(HistoryStoreTest, KnowsWhichFilesItHasAnythingOf) {
  auto store = open();
  ASSERT_TRUE(store->begin_file("a.warc.gz"));
  ASSERT_TRUE(store->add(visit_of(1, 1)));
  ASSERT_TRUE(store->add_file("a.warc.gz", 100));
  ASSERT_TRUE(store->begin_file("b.warc.gz"));
  ASSERT_TRUE(store->begin_file("c.warc.gz"));
  EXPECT_FALSE(*store->has_file("b.warc.gz", 0)) << "it was only begun";
  ASSERT_TRUE(store->add_file("b.warc.gz", 0));
  EXPECT_TRUE(*store->has_file("b.warc.gz", 0));
  EXPECT_EQ(*store->files(), (std::vector<std::string>{"a.warc.gz", "b.warc.gz", "c.warc.gz"}));
}

TEST_F(HistoryStoreTest, IsFilledWithMore) {
  auto store = open();
  ASSERT_TRUE(store->add(visit_of(1, 1)));
  ASSERT_TRUE(store->complete("one"));
  ASSERT_TRUE(store->reopen());
  EXPECT_EQ(store->name(), "");
  ASSERT_TRUE(store->add(visit_of(1, 2)));
  ASSERT_TRUE(store->add(visit_of(2, 2)));
  ASSERT_TRUE(store->complete("two"));
  store.reset();
  store = open();
  EXPECT_EQ(store->name(), "two");
  const auto pages = read(*store);
  EXPECT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages.at("http://a.example/1"), 2U);
}

// RocksDB itself, whose files are real.
TEST(HistoryStoreFiles, AreGoneWhenItIsDiscarded) {
  const env::TempDir folder;
  env::PosixFileSystem files;
  auto opened = env::open_rocksdb_store(folder.path("history"), {});
  ASSERT_TRUE(opened) << opened.error().message();
  auto store = HistoryStore::open(files, folder.path("history"), *std::move(opened));
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->add(visit_of(1, 1)));
  ASSERT_TRUE((*store)->complete("one"));
  EXPECT_FALSE(files.list(folder.path("history"))->empty());
  ASSERT_TRUE((*store)->discard());
  EXPECT_TRUE(files.list(folder.path("history"))->empty());
}

}  // namespace
}  // namespace meguri::crawl
