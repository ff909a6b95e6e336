#include "archive/series_indexer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "env/clock.h"
#include "env/memory_file_system.h"
#include "env/memory_ordered_store.h"
#include "env/random.h"

namespace meguri::archive {
namespace {

using base::Instant;

const Instant start = Instant::from_ms(1'767'225'600'000);

// An archive of small files, written visit by visit.
class SeriesIndexerTest : public ::testing::Test {
 protected:
  SeriesIndexerTest() {
    options_.series.dir = "/a/warc";
    options_.file_bytes_max = 3000;
    EXPECT_TRUE(files_.make_dirs("/a/warc"));
    open_index();
  }

  void open_index() {
    indexer_.reset();
    index_.reset();
    index_ = TemporalIndex::open(disk_.open().value()).value();
    indexer_ = std::make_unique<SeriesIndexer>(*index_, files_, options_.series, "warc");
  }
  void open_writer(const std::optional<WarcPosition>& mark) {
    writer_ = WarcWriter::open(files_, clock_, env::Random(7), options_, mark).value();
  }

  // Appends visits; the index hears of them.
  void visit(int count) {
    std::vector<std::string> urls;
    for (int i = 0; i < count; ++i) urls.push_back(fmt::format("http://h/{}", (visits_ + i) % 7));
    visit(urls);
  }
  void visit(const std::vector<std::string>& urls) {
    RecordMaker maker;
    for (const std::string& url : urls) {
      const VisitFacts facts{.target_uri = url,
                             .date = start + base::Duration::seconds(visits_++),
                             .fetch_time = {},
                             .ip_address = {},
                             .via = {},
                             .purpose = {}};
      const MadeRecords made =
          maker.failure({.visit = facts, .reason = "x", .detail = {}}, RecordId::draw(random_));
      indexer_->add(writer_->append(made.bytes).value(), made);
    }
    ASSERT_TRUE(writer_->sync());
  }

  static std::map<std::string, std::string> all_of(const TemporalIndex& index) {
    std::map<std::string, std::string> all;
    const auto cursor = index.cursor();
    for (cursor->seek(""); cursor->valid(); cursor->next()) {
      all.emplace(cursor->key(), cursor->value());
    }
    return all;
  }
  // What an index would be that is made of the files alone.
  std::map<std::string, std::string> from_files(const WarcPosition& mark) {
    env::MemoryStoreDisk disk;
    const auto index = TemporalIndex::open(disk.open().value()).value();
    SeriesIndexer indexer(*index, files_, options_.series, "warc");
    EXPECT_TRUE(indexer.catch_up(mark));
    return all_of(*index);
  }

  env::MemoryFileSystem files_;
  env::VirtualClock clock_{start};
  env::Random random_{3};
  WarcFileOptions options_;
  env::MemoryStoreDisk disk_;
  std::unique_ptr<TemporalIndex> index_;
  std::unique_ptr<SeriesIndexer> indexer_;
  std::unique_ptr<WarcWriter> writer_;
  int visits_ = 0;
};

TEST_F(SeriesIndexerTest, WritesWhatItWouldRead) {
  open_writer(std::nullopt);
  visit(25);
  ASSERT_GT(index_->files().size() + list_files(files_, options_.series).value().size(), 2U);
  const WarcPosition mark = writer_->position();
  visit(5);
  ASSERT_TRUE(indexer_->apply(mark));
  EXPECT_EQ(all_of(*index_), from_files(mark)) << "what came behind the mark is not there";
  ASSERT_TRUE(indexer_->apply(writer_->position()));
  EXPECT_EQ(all_of(*index_), from_files(writer_->position()));
  ASSERT_TRUE(indexer_->apply(mark)) << "an epoch without visits has the mark of before";
  EXPECT_EQ(all_of(*index_), from_files(writer_->position()));
}

TEST_F(SeriesIndexerTest, WritesWhatItWouldReadOfAnyUrl) {
  open_writer(std::nullopt);
  const std::vector<std::string> urls = {"http://h/" + std::string(3'700, 'a'),
                                         "http://h/" + std::string(65'527, 'b'),
                                         "http://h/" + std::string(65'000, 'b') + "?c",
                                         "http://h/caf\xc3\xa9",
                                         "http://h/\xff",
                                         "http://H:80/A?",
                                         "http://h/ "};
  visit(urls);
  ASSERT_TRUE(indexer_->apply(writer_->position()));
  const auto written = all_of(*index_);
  EXPECT_EQ(written, from_files(writer_->position()));
  EXPECT_EQ(index_->entries_of(urls[0]).value().size(), 1U);
  EXPECT_EQ(index_->entries_of(urls[1]).value().at(0).url, urls[1]);
}

TEST_F(SeriesIndexerTest, KeepsBackWhatTheMarkDoesNotCover) {
  open_writer(std::nullopt);
  visit(1);
  const WarcPosition mark = writer_->position();
  ASSERT_TRUE(indexer_->apply(mark));
  const auto before = all_of(*index_);
  visit(30);  // in several files
  ASSERT_NE(writer_->position().file, mark.file);
  ASSERT_TRUE(indexer_->apply(mark));
  EXPECT_EQ(all_of(*index_), before);
}

TEST_F(SeriesIndexerTest, ReadsFromTheFilesWhatTheIndexHasLost) {
  open_writer(std::nullopt);
  for (int epoch = 0; epoch < 12; ++epoch) {
    visit(3);
    ASSERT_TRUE(indexer_->apply(writer_->position()));
    if (epoch == 4) {
      ASSERT_TRUE(indexer_->flush());
    }
    if (epoch % 5 != 3) continue;
    disk_.crash(epoch % 2 == 0 ? nullptr : &random_);
    open_index();
    ASSERT_TRUE(indexer_->catch_up(writer_->position()));
    EXPECT_EQ(indexer_->unflushed_bytes(), 0U);
    EXPECT_EQ(all_of(*index_), from_files(writer_->position()));
  }
}

TEST_F(SeriesIndexerTest, ForgetsWhatTheFilesHaveLost) {
  open_writer(std::nullopt);
  visit(4);
  const WarcPosition early = writer_->position();
  visit(20);
  ASSERT_TRUE(indexer_->apply(writer_->position()));
  ASSERT_GT(index_->files().size(), 1U);
  writer_.reset();
  ASSERT_TRUE(cut_to(files_, options_.series, early));
  ASSERT_TRUE(indexer_->catch_up(early));
  auto expected = from_files(early);
  auto found = all_of(*index_);
  expected.erase("h");  // numbers that were given are not given again
  found.erase("h");
  EXPECT_EQ(found, expected);
  ASSERT_TRUE(indexer_->catch_up({}));
  EXPECT_TRUE(index_->files().empty());
}

TEST_F(SeriesIndexerTest, WhatWasTakenDownNeverComesBack) {
  Removals removals;
  removals.add(Removal::make(RemovalKind::kUrl, "http://h/3").value());
  indexer_.reset();
  index_.reset();
  index_ = TemporalIndex::open(disk_.open().value(), removals).value();
  indexer_ = std::make_unique<SeriesIndexer>(*index_, files_, options_.series, "warc");
  open_writer(std::nullopt);
  visit(21);
  ASSERT_TRUE(indexer_->apply(writer_->position()));
  EXPECT_TRUE(index_->entries_of("http://h/3")->empty());
  EXPECT_EQ(index_->entries_of("http://h/2")->size(), 3U);
  const auto written = all_of(*index_);
  env::MemoryStoreDisk disk;
  const auto again = TemporalIndex::open(disk.open().value(), removals).value();
  SeriesIndexer reader(*again, files_, options_.series, "warc");
  ASSERT_TRUE(reader.catch_up(writer_->position()));
  EXPECT_EQ(all_of(*again), written);
}

TEST_F(SeriesIndexerTest, TouchesNoFilesOfOthers) {
  IndexBatch batch;
  IndexFile file;
  file.number = 1;
  file.path = "warc/meguri-20270101000000-00001-9.warc.gz";
  batch.set(file);
  file.number = 2;
  file.path = "/x/meguri-20270101000000-00001-0.warc.gz";
  batch.set(file);
  ASSERT_TRUE(index_->write(batch));
  ASSERT_TRUE(indexer_->catch_up({}));
  EXPECT_EQ(index_->files().size(), 2U);
}

}  // namespace
}  // namespace meguri::archive
