#include "archive/index_removal.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "archive/index_testing.h"
#include "env/memory_ordered_store.h"

namespace meguri::archive {
namespace {

IndexFile file_of(std::uint32_t number) {
  IndexFile file;
  file.number = number;
  file.path = fmt::format("/f/{}.warc.gz", number);
  file.source = FileSource::kReference;
  file.bytes = 1000;
  file.indexed_to = 1000;
  file.is_complete = true;
  return file;
}

// A store whose writes fail after some, as when the process is killed there.
class FailingStore final : public env::OrderedStore {
 public:
  FailingStore(std::unique_ptr<env::OrderedStore> below, int writes)
      : below_(std::move(below)), writes_(writes) {}

  base::Status write(const env::StoreBatch& batch) override {
    if (writes_-- <= 0) return base::fail(base::ErrorCode::kStopped, "killed");
    return below_->write(batch);
  }
  base::Result<std::optional<std::string>> get(std::string_view key) const override {
    return below_->get(key);
  }
  std::unique_ptr<env::StoreCursor> cursor() const override { return below_->cursor(); }
  base::Status flush() override { return below_->flush(); }

 private:
  const std::unique_ptr<env::OrderedStore> below_;
  int writes_;
};

// Three files, of which the second has more entries than a batch of removals.
class IndexRemoval : public ::testing::Test {
 protected:
  static constexpr int kFew = 100;
  static constexpr int kMany = 10'500;

  IndexRemoval() {
    const auto index = open();
    IndexBatch batch;
    for (std::uint32_t number = 1; number <= 3; ++number) {
      const int entries = number == 2 ? kMany : kFew;
      IndexFile file = file_of(number);
      file.entries = static_cast<std::uint64_t>(entries);
      batch.set(file);
      for (int i = 0; i < entries; ++i) {
        IndexEntry entry;
        entry.url = fmt::format("http://h/{}", i);
        entry.date = base::Instant::from_ms(number);
        entry.place = {.file = number, .offset = static_cast<std::uint64_t>(i)};
        batch.add(entry);
      }
    }
    EXPECT_TRUE(index->write(batch));
    EXPECT_TRUE(index->flush());
  }

  std::unique_ptr<TemporalIndex> open(int writes = 1'000'000) {
    return TemporalIndex::open(std::make_unique<FailingStore>(disk_.open().value(), writes))
        .value();
  }
  static std::map<std::uint32_t, int> counts_of(const TemporalIndex& index) {
    std::map<std::uint32_t, int> counts;
    for (const IndexEntry& entry : testing::entries_in(index)) ++counts[entry.place.file];
    return counts;
  }

  env::MemoryStoreDisk disk_;
};

TEST_F(IndexRemoval, TakesFilesOutWithAllThatTheyHave) {
  const auto index = open();
  ASSERT_TRUE(remove_files(*index, {2, 3, 77}));
  EXPECT_EQ(counts_of(*index), (std::map<std::uint32_t, int>{{1, kFew}}));
  EXPECT_EQ(index->files().size(), 1U);
  EXPECT_EQ(index->file(1)->entries, static_cast<std::uint64_t>(kFew));
  EXPECT_TRUE(index->file(1)->is_complete);
  EXPECT_EQ(index->next_number(), 4U);
}

TEST_F(IndexRemoval, TakesOutWhatIsMeantAndCountsIt) {
  const auto index = open();
  const auto removed = remove_entries(*index, "e", [](const EntryView& entry) {
    return entry.place().file == 2 && entry.place().offset < 10'200;
  });
  ASSERT_TRUE(removed);
  EXPECT_EQ(*removed, (std::map<std::uint32_t, std::uint64_t>{{2, 10'200}}));
  EXPECT_EQ(index->file(2)->entries, 300U);
  EXPECT_EQ(counts_of(*index), (std::map<std::uint32_t, int>{{1, kFew}, {2, 300}, {3, kFew}}));
}

// Killed at any write, a file is there as it was, or known not to be whole.
TEST_F(IndexRemoval, NeverLeavesAFileThatSeemsWhole) {
  for (int writes = 0;; ++writes) {
    SCOPED_TRACE(writes);
    bool is_done = false;
    {
      const auto index = open(writes);
      is_done = remove_files(*index, {2}).has_value();
      ASSERT_TRUE(index->flush());
    }
    const auto index = open();
    const int left = counts_of(*index)[2];
    const IndexFile* file = index->file(2);
    EXPECT_EQ(counts_of(*index)[1], kFew);
    if (is_done) {
      EXPECT_EQ(left, 0);
      EXPECT_EQ(file, nullptr);
      EXPECT_GT(writes, 2);
      break;
    }
    ASSERT_NE(file, nullptr);
    if (file->is_complete) {
      EXPECT_EQ(left, kMany);
    } else {
      EXPECT_EQ(file->indexed_to, 0U) << "importing it again reads all of it";
    }
  }
}

}  // namespace
}  // namespace meguri::archive
