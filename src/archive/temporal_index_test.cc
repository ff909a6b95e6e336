#include "archive/temporal_index.h"

#include <gtest/gtest.h>

#include <string>

#include "archive/index_removal.h"
#include "env/memory_ordered_store.h"

namespace meguri::archive {
namespace {

using base::Instant;

IndexEntry entry_of(std::string url, int ms, std::uint32_t file) {
  IndexEntry entry;
  entry.url = std::move(url);
  entry.date = Instant::from_ms(ms);
  entry.place.file = file;
  entry.place.offset = static_cast<std::uint64_t>(ms);
  return entry;
}

IndexFile file_of(std::uint32_t number, std::string path) {
  IndexFile file;
  file.number = number;
  file.path = std::move(path);
  return file;
}

TEST(TemporalIndex, RemembersFilesAndNeverGivesANumberTwice) {
  env::MemoryStoreDisk disk;
  {
    const auto index = TemporalIndex::open(disk.open().value()).value();
    EXPECT_EQ(index->next_number(), 1U);
    IndexBatch batch;
    IndexFile file = file_of(1, "warc/a.warc.gz");
    file.source = FileSource::kCopy;
    file.bytes = 5;
    file.print = 77;
    file.indexed_to = 4;
    file.is_complete = true;
    file.entries = 3;
    file.damages = 1;
    batch.set(file);
    batch.set(file_of(2, "/elsewhere/b.warc"));
    ASSERT_TRUE(index->write(batch));
    ASSERT_TRUE(index->flush());
    EXPECT_EQ(*index->file(1), file);
  }
  const auto index = TemporalIndex::open(disk.open().value()).value();
  ASSERT_NE(index->find_file("/elsewhere/b.warc"), nullptr);
  EXPECT_EQ(index->find_file("warc/a.warc.gz")->print, 77U);
  EXPECT_EQ(index->next_number(), 3U);
  ASSERT_TRUE(remove_file(*index, 2));
  EXPECT_EQ(index->find_file("/elsewhere/b.warc"), nullptr);
  EXPECT_EQ(index->file(2), nullptr);
  EXPECT_EQ(index->next_number(), 3U) << "entries of the old one may still be somewhere";
}

TEST(TemporalIndex, FindsTheEntriesOfAPageNewestFirst) {
  env::MemoryStoreDisk disk;
  const auto index = TemporalIndex::open(disk.open().value()).value();
  IndexBatch batch;
  batch.add(entry_of("http://example.com/a", 1, 1));
  batch.add(entry_of("http://example.com/a", 3, 1));
  batch.add(entry_of("http://example.com/A", 2, 1));
  batch.add(entry_of("https://example.com/a", 4, 1));
  ASSERT_TRUE(index->write(batch));
  const auto entries = index->entries_of("http://example.com/a").value();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].date.ms(), 3);
  EXPECT_EQ(entries[1].date.ms(), 1);
  EXPECT_TRUE(index->entries_of("http://example.com/b").value().empty());
}

TEST(TemporalIndex, TakesTheEntriesOfAFileOut) {
  env::MemoryStoreDisk disk;
  const auto index = TemporalIndex::open(disk.open().value()).value();
  IndexBatch batch;
  IndexFile first = file_of(1, "a");
  first.entries = 2;
  batch.set(first);
  batch.set(file_of(2, "b"));
  batch.add(entry_of("http://example.com/a", 1, 1));
  batch.add(entry_of("http://example.com/b", 1, 1));
  batch.add(entry_of("http://example.com/a", 2, 2));
  ASSERT_TRUE(index->write(batch));
  const auto removed = remove_entries(*index, page_key_of("http://example.com/b"),
                                      [](const EntryView&) { return true; });
  EXPECT_EQ(removed->at(1), 1U);
  EXPECT_EQ(index->file(1)->entries, 1U);
  ASSERT_TRUE(remove_file(*index, 1));
  ASSERT_EQ(index->entries_of("http://example.com/a").value().size(), 1U);
  EXPECT_EQ(index->entries_of("http://example.com/a").value()[0].place.file, 2U);
}

TEST(TemporalIndex, RefusesWhatIsNoIndex) {
  for (const auto& [key, value] : {std::pair("h", "\x09"), std::pair("f\0\0\0\1", "?")}) {
    env::MemoryStoreDisk disk;
    {
      const auto store = disk.open().value();
      env::StoreBatch batch;
      batch.put(std::string(key, key[0] == 'f' ? 5 : 1), value);
      ASSERT_TRUE(store->write(batch));
      ASSERT_TRUE(store->flush());
    }
    const auto index = TemporalIndex::open(disk.open().value());
    ASSERT_FALSE(index);
    EXPECT_EQ(index.error().code(), base::ErrorCode::kCorrupt);
    EXPECT_NE(index.error().message().find("meguri repair"), std::string::npos);
  }
}

}  // namespace
}  // namespace meguri::archive
