// What every OrderedStore promises, asked of RocksDB and of the model, and of both side by side.
#include "env/ordered_store.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "env/memory_ordered_store.h"
#include "env/random.h"
#include "env/testing.h"

namespace meguri::env {
namespace {

using base::ErrorCode;
using Entries = std::vector<std::pair<std::string, std::string>>;

// One of the stores, on a disk that outlives them.
struct Disk {
  virtual ~Disk() = default;
  virtual base::Result<std::unique_ptr<OrderedStore>> open(bool read_only) = 0;
  base::Result<std::unique_ptr<OrderedStore>> open() { return open(false); }
};

struct RocksDb final : Disk {
  TempDir dir;
  base::Result<std::unique_ptr<OrderedStore>> open(bool read_only) override {
    return open_rocksdb_store(
        dir.path("deep/store"),
        {.write_buffer_bytes = 64U << 10U, .block_cache_bytes = 1U << 20U, .read_only = read_only});
  }
  using Disk::open;
};

struct Model final : Disk {
  MemoryStoreDisk disk;
  base::Result<std::unique_ptr<OrderedStore>> open(bool read_only) override {
    return disk.open({.read_only = read_only});
  }
  using Disk::open;
};

StoreBatch batch_of(const Entries& entries) {
  StoreBatch batch;
  for (const auto& [key, value] : entries) batch.put(key, value);
  return batch;
}

StoreBatch removal_of(std::string_view key) {
  StoreBatch batch;
  batch.remove(key);
  return batch;
}

Entries all_of(StoreCursor& cursor) {
  Entries entries;
  for (cursor.seek(""); cursor.valid(); cursor.next()) {
    entries.emplace_back(cursor.key(), cursor.value());
  }
  EXPECT_TRUE(cursor.status());
  return entries;
}

Entries all_of(const OrderedStore& store) { return all_of(*store.cursor()); }

struct DiskKind {
  std::string name;
  std::unique_ptr<Disk> (*make)();
};

template <typename Kind>
std::unique_ptr<Disk> make_disk() {
  return std::make_unique<Kind>();
}

class OrderedStoreTest : public testing::TestWithParam<DiskKind> {
 protected:
  void SetUp() override { reopen(); }

  void reopen() {
    store_.reset();
    auto opened = disk_->open();
    ASSERT_TRUE(opened) << opened.error().message();
    store_ = *std::move(opened);
  }

  const std::unique_ptr<Disk> disk_ = GetParam().make();
  std::unique_ptr<OrderedStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Stores, OrderedStoreTest,
                         testing::Values(DiskKind{"RocksDb", make_disk<RocksDb>},
                                         DiskKind{"Model", make_disk<Model>}),
                         [](const auto& test) { return test.param.name; });

TEST_P(OrderedStoreTest, WhatIsWrittenIsRead) {
  const std::string odd("\0\xff", 2);
  ASSERT_TRUE(store_->write(batch_of({{"a", "1"}, {"b", ""}, {odd, odd}, {"", "empty"}})));
  EXPECT_EQ(*store_->get("a"), "1");
  EXPECT_EQ(*store_->get("b"), "");
  EXPECT_EQ(*store_->get(odd), odd);
  EXPECT_EQ(*store_->get(""), "empty");
  EXPECT_EQ(*store_->get("c"), std::nullopt);
  ASSERT_TRUE(store_->write(batch_of({{"a", "2"}})));
  EXPECT_EQ(*store_->get("a"), "2");
  ASSERT_TRUE(store_->write(removal_of("a")));
  EXPECT_EQ(*store_->get("a"), std::nullopt);
  ASSERT_TRUE(store_->write(removal_of("never there")));
  ASSERT_TRUE(store_->write(StoreBatch()));
}

TEST_P(OrderedStoreTest, TheLastChangeOfABatchCounts) {
  StoreBatch batch;
  batch.put("a", "1");
  batch.remove("a");
  batch.put("b", "1");
  batch.put("b", "2");
  ASSERT_TRUE(store_->write(batch));
  EXPECT_EQ(all_of(*store_), (Entries{{"b", "2"}}));
}

TEST_P(OrderedStoreTest, CursorsGoBothWaysInTheOrderOfBytes) {
  ASSERT_TRUE(store_->write(batch_of({{"b", "2"}, {"d", "4"}, {"\xff", "5"}, {"B", "1"}})));
  const auto cursor = store_->cursor();
  EXPECT_FALSE(cursor->valid());
  EXPECT_EQ(all_of(*cursor), (Entries{{"B", "1"}, {"b", "2"}, {"d", "4"}, {"\xff", "5"}}));
  cursor->seek("c");
  EXPECT_EQ(cursor->key(), "d");
  cursor->prev();
  EXPECT_EQ(cursor->key(), "b");
  EXPECT_EQ(cursor->value(), "2");
  cursor->next();
  EXPECT_EQ(cursor->key(), "d");
  cursor->seek("d");
  EXPECT_EQ(cursor->key(), "d");
  cursor->seek_for_prev("d");
  EXPECT_EQ(cursor->key(), "d");
  cursor->seek_for_prev("c");
  EXPECT_EQ(cursor->key(), "b");
  cursor->seek_for_prev("A");
  EXPECT_FALSE(cursor->valid());
  cursor->seek_last();
  EXPECT_EQ(cursor->key(), "\xff");
  cursor->next();
  EXPECT_FALSE(cursor->valid());
  cursor->seek("B");
  cursor->prev();
  EXPECT_FALSE(cursor->valid());
  EXPECT_TRUE(cursor->status());
}

TEST_P(OrderedStoreTest, AnEmptyStoreHasNoPositions) {
  const auto cursor = store_->cursor();
  cursor->seek("");
  EXPECT_FALSE(cursor->valid());
  cursor->seek_last();
  EXPECT_FALSE(cursor->valid());
  cursor->seek_for_prev("x");
  EXPECT_FALSE(cursor->valid());
  EXPECT_TRUE(store_->flush());
}

TEST_P(OrderedStoreTest, ACursorIsFrozen) {
  ASSERT_TRUE(store_->write(batch_of({{"a", "1"}, {"b", "2"}})));
  const auto before = store_->cursor();
  ASSERT_TRUE(store_->write(removal_of("a")));
  ASSERT_TRUE(store_->write(batch_of({{"b", "x"}, {"c", "3"}})));
  const auto after = store_->cursor();
  ASSERT_TRUE(store_->flush());
  EXPECT_EQ(all_of(*before), (Entries{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(all_of(*after), (Entries{{"b", "x"}, {"c", "3"}}));
}

TEST_P(OrderedStoreTest, FlushedBatchesSurviveClosing) {
  ASSERT_TRUE(store_->write(batch_of({{"a", "1"}})));
  ASSERT_TRUE(store_->flush());
  ASSERT_TRUE(store_->write(removal_of("a")));
  ASSERT_TRUE(store_->write(batch_of({{"b", "2"}})));
  ASSERT_TRUE(store_->flush());
  ASSERT_TRUE(store_->write(batch_of({{"c", "3"}})));
  reopen();
  EXPECT_EQ(all_of(*store_), (Entries{{"b", "2"}}));
}

TEST_P(OrderedStoreTest, AStoreIsOpenForWritingOnce) {
  const auto second = disk_->open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kBusy) << second.error().message();
  store_.reset();
  EXPECT_TRUE(disk_->open());
}

TEST_P(OrderedStoreTest, ReadersSeeWhatWasFlushedWhenTheyOpened) {
  ASSERT_TRUE(store_->write(batch_of({{"a", "1"}})));
  ASSERT_TRUE(store_->flush());
  ASSERT_TRUE(store_->write(batch_of({{"b", "2"}})));
  auto reader = disk_->open(true);
  ASSERT_TRUE(reader) << reader.error().message();
  ASSERT_TRUE(store_->flush());
  EXPECT_EQ(all_of(**reader), (Entries{{"a", "1"}}));
  EXPECT_EQ(*(*reader)->get("a"), "1");
  EXPECT_EQ(*(*reader)->get("b"), std::nullopt);
  EXPECT_EQ((*reader)->write(batch_of({{"c", "3"}})).error().code(), ErrorCode::kDenied);
  EXPECT_EQ((*reader)->flush().error().code(), ErrorCode::kDenied);
  EXPECT_EQ(all_of(**disk_->open(true)), (Entries{{"a", "1"}, {"b", "2"}}));
}

std::string random_key(Random* random) { return fmt::format("key{}", random->below(300)); }

StoreBatch random_batch(std::uint64_t number, Random* random) {
  StoreBatch batch;
  batch.put("position", std::to_string(number));
  const std::uint64_t changes = random->below(8);
  for (std::uint64_t i = 0; i < changes; ++i) {
    if (random->chance(0.3)) {
      batch.remove(random_key(random));
    } else {
      batch.put(random_key(random), std::string(random->below(2000), static_cast<char>('a' + i)));
    }
  }
  return batch;
}

// Moves two cursors alike and compares where they stand.
void compare_moves(StoreCursor& a, StoreCursor& b, Random* random) {
  for (int i = 0; i < 20; ++i) {
    const std::string key = random_key(random);
    const std::uint64_t move = random->below(5);
    for (StoreCursor* cursor : {&a, &b}) {
      if (move == 0) cursor->seek(key);
      if (move == 1) cursor->seek_for_prev(key);
      if (move == 2) cursor->seek_last();
      if (move == 3 && cursor->valid()) cursor->next();
      if (move == 4 && cursor->valid()) cursor->prev();
    }
    ASSERT_EQ(a.valid(), b.valid());
    if (!a.valid()) continue;
    ASSERT_EQ(a.key(), b.key());
    ASSERT_EQ(a.value(), b.value());
  }
}

// The same random calls on both, with everything they answer compared.
class SideBySide {
 public:
  explicit SideBySide(std::uint64_t seed)
      : random_(seed), rocks_(*rocks_disk_.open()), model_(*model_disk_.open()) {}

  void step() {
    const std::uint64_t choice = random_.below(100);
    if (choice < 70) {
      write();
    } else if (choice < 80) {
      const std::string key = random_key(&random_);
      ASSERT_EQ(rocks_->get(key), model_->get(key));
    } else if (choice < 88) {
      compare_moves(*rocks_->cursor(), *model_->cursor(), &random_);
    } else if (choice < 92) {
      compare_old_cursors();
    } else if (choice < 97) {
      flush();
    } else {
      reopen_without_flush();
    }
  }

  void compare_all() { ASSERT_EQ(all_of(*rocks_), all_of(*model_)); }

 private:
  void write() {
    written_.push_back(random_batch(written_.size(), &random_));
    ASSERT_TRUE(rocks_->write(written_.back()));
    ASSERT_TRUE(model_->write(written_.back()));
  }

  void flush() {
    ASSERT_TRUE(rocks_->flush());
    ASSERT_TRUE(model_->flush());
    flushed_ = written_.size();
  }

  void compare_old_cursors() {
    if (rocks_cursor_) compare_moves(*rocks_cursor_, *model_cursor_, &random_);
    rocks_cursor_ = rocks_->cursor();
    model_cursor_ = model_->cursor();
  }

  // Whole batches up to one at or after the last flush are there. The model, which has kept none
  // after the flush, is given the same.
  void reopen_without_flush() {
    rocks_cursor_.reset();
    model_cursor_.reset();
    rocks_.reset();
    model_.reset();
    rocks_ = *rocks_disk_.open();
    model_ = *model_disk_.open();
    const auto position = *rocks_->get("position");
    const std::size_t kept = position ? std::stoull(*position) + 1 : 0;
    ASSERT_GE(kept, flushed_);
    ASSERT_LE(kept, written_.size());
    for (std::size_t i = flushed_; i < kept; ++i) ASSERT_TRUE(model_->write(written_[i]));
    ASSERT_TRUE(model_->flush());
    written_.resize(kept);
    flushed_ = kept;
    compare_all();
  }

  Random random_;
  RocksDb rocks_disk_;
  Model model_disk_;
  std::unique_ptr<OrderedStore> rocks_;
  std::unique_ptr<OrderedStore> model_;
  std::unique_ptr<StoreCursor> rocks_cursor_;
  std::unique_ptr<StoreCursor> model_cursor_;
  std::vector<StoreBatch> written_;
  std::size_t flushed_ = 0;  // batches
};

TEST(OrderedStoreModel, RocksDbDoesWhatTheModelDoes) {
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    SCOPED_TRACE(seed);
    SideBySide stores(seed);
    for (int i = 0; i < 400; ++i) ASSERT_NO_FATAL_FAILURE(stores.step()) << i;
    stores.compare_all();
  }
}

TEST(MemoryStoreDisk, ACrashLosesWhatWasNotFlushed) {
  MemoryStoreDisk disk;
  auto store = disk.open();
  ASSERT_TRUE((*store)->write(batch_of({{"a", "1"}})));
  ASSERT_TRUE((*store)->flush());
  ASSERT_TRUE((*store)->write(batch_of({{"b", "2"}})));
  EXPECT_EQ(disk.unflushed(), 1);
  disk.crash();
  EXPECT_EQ((*store)->write(batch_of({{"c", "3"}})).error().code(), ErrorCode::kStopped);
  EXPECT_EQ((*store)->flush().error().code(), ErrorCode::kStopped);
  EXPECT_EQ((*store)->get("a").error().code(), ErrorCode::kStopped);
  EXPECT_EQ((*store)->cursor()->status().error().code(), ErrorCode::kStopped);
  auto next = disk.open();
  ASSERT_TRUE(next);
  store->reset();  // the dead one does not close the living one
  EXPECT_FALSE(disk.open());
  EXPECT_EQ(all_of(**next), (Entries{{"a", "1"}}));
}

TEST(MemoryStoreDisk, WithChanceACrashKeepsTheFirstFewBatchesWhole) {
  std::vector<int> seen(4);
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    MemoryStoreDisk disk;
    {
      const auto store = disk.open();
      for (const std::string n : {"1", "2", "3"}) {
        ASSERT_TRUE((*store)->write(batch_of({{"a" + n, n}, {"position", n}})));
      }
    }
    disk.crash(&random);  // after the store was closed, as engines do
    const Entries entries = all_of(**disk.open());
    ASSERT_TRUE(entries.empty() || entries.back().first == "position");
    const std::size_t kept = entries.empty() ? 0 : entries.size() - 1;
    ASSERT_TRUE(entries.empty() || entries.back().second == std::to_string(kept));
    ++seen.at(kept);
  }
  for (const int count : seen) EXPECT_GT(count, 10);
}

TEST(MemoryStoreThreads, ReadersSeeWholeBatchesWhileOneWrites) {
  MemoryStoreDisk disk;
  const auto store = disk.open();
  std::vector<std::jthread> readers;
  readers.reserve(4);
  constexpr int kBatches = 300;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      std::string last;
      while (last != std::to_string(kBatches)) {
        const Entries entries = all_of(**store);
        if (entries.empty()) continue;
        ASSERT_EQ(entries.size(), 2);
        ASSERT_EQ(entries[0].second, entries[1].second);
        last = entries[0].second;
      }
    });
  }
  for (int i = 1; i <= kBatches; ++i) {
    const std::string n = std::to_string(i);
    ASSERT_TRUE((*store)->write(batch_of({{"a", n}, {"b", n}})));
    ASSERT_TRUE(i % 50 != 0 || (*store)->flush());
  }
}

}  // namespace
}  // namespace meguri::env
