#include "archive/repair_plan.h"

#include <gtest/gtest.h>

#include "archive/archive_testing.h"
#include "archive/file_indexer.h"
#include "archive/importer.h"
#include "env/memory_file_system.h"

namespace meguri::archive {
namespace {

class RepairPlanTest : public ::testing::Test {
 protected:
  RepairPlanTest() : archive_(files_) {
    for (int i = 0; i < 12; ++i) archive_.visit(fmt::format("http://h/{}", i), "<p>a page");
    sources_.end = archive_.commit();
    for (const auto& [number, row] : archive_.index().files()) sources_.found.push_back(row.path);
  }

  void know_index() {
    sources_.indexed = archive_.index().files();
    sources_.next_number = archive_.index().next_number();
  }
  IndexFile add_imported(std::uint32_t number, const std::string& path, FileSource source) {
    const std::string place = path.starts_with('/') ? path : "/a/" + path;
    CHECK(files_.make_dirs(env::parent_of(place)));
    CHECK(env::write_file_atomically(files_, place, "WARC of others: " + path));
    IndexFile file;
    file.number = number;
    file.path = path;
    file.source = source;
    file.bytes = files_.size(place).value();
    file.print = file_print(*files_.open_read(place).value()).value();
    return file;
  }
  RepairPlan plan() { return plan_repair(files_, "/a", sources_).value(); }

  // What an index would be that is made by the plan.
  std::map<std::string, std::string> built(const RepairPlan& plan) {
    env::MemoryStoreDisk disk;
    const auto index = TemporalIndex::open(disk.open().value()).value();
    FileIndexer indexer(index->removals());
    for (const IndexFile& planned : plan.files) {
      IndexFile row = planned;
      const auto bytes = files_.open_read("/a/" + row.path).value();
      CHECK(indexer.index(*bytes, row.bytes, row,
                          [&](IndexBatch& batch) { return index->write(batch); }));
    }
    IndexBatch batch;
    batch.set_next_number(plan.next_number);
    CHECK(index->write(batch));
    return SmallArchive::all_of(*index);
  }

  env::MemoryFileSystem files_;
  SmallArchive archive_;
  RepairSources sources_;
};

TEST_F(RepairPlanTest, MakesTheIndexThatTheCrawlWrote) {
  ASSERT_GT(archive_.index().files().size(), 2U);
  const auto written = SmallArchive::all_of(archive_.index());
  std::ranges::reverse(sources_.found);
  EXPECT_EQ(built(plan()), written) << "by the files alone";
  know_index();
  EXPECT_EQ(built(plan()), written) << "with the old index";
}

TEST_F(RepairPlanTest, WhatTheCrawlHasNotAcknowledgedDoesNotCount) {
  const auto written = SmallArchive::all_of(archive_.index());
  for (int i = 0; i < 20; ++i) archive_.visit("http://h/later", "<p>not durable yet");
  sources_.found.clear();
  for (const WarcName& name : list_files(files_, archive_.series()).value()) {
    sources_.found.push_back("warc/" + name.to_string());
  }
  ASSERT_GT(sources_.found.size(), archive_.index().files().size());
  EXPECT_EQ(built(plan()), written);
}

TEST_F(RepairPlanTest, NumbersAreThoseOfTheOldIndexOrOfTheList) {
  IndexFile first = archive_.index().files().begin()->second;
  const IndexFile copy = add_imported(40, "warc/imported/c.warc", FileSource::kCopy);
  const IndexFile reference = add_imported(41, "/x/r.warc", FileSource::kReference);
  sources_.found.push_back(copy.path);
  first.number = 17;
  sources_.indexed = {{17, first}, {41, reference}};
  sources_.next_number = 60;
  sources_.listed.files = {{40, copy}};
  const RepairPlan made = plan();
  std::map<std::string, std::uint32_t> numbers;
  for (const IndexFile& file : made.files) numbers[file.path] = file.number;
  EXPECT_EQ(numbers[first.path], 17U);
  EXPECT_EQ(numbers[copy.path], 40U);
  EXPECT_EQ(numbers[reference.path], 41U);
  EXPECT_EQ(numbers[sources_.found.at(1)], 60U) << "a number that nobody had";
  EXPECT_EQ(made.files.size(), sources_.found.size() + 1);
  EXPECT_GT(made.next_number, 60U);
  EXPECT_TRUE(made.notes.empty());
}

TEST_F(RepairPlanTest, WithoutTheOldIndexTheListKnowsReferences) {
  const IndexFile reference = add_imported(9, "/x/r.warc", FileSource::kReference);
  sources_.listed.files = {{9, reference}};
  sources_.listed.next_number = 10;
  const RepairPlan made = plan();
  EXPECT_EQ(made.files.back().path, "/x/r.warc");
  EXPECT_EQ(made.files.back().print, reference.print);
  ASSERT_TRUE(files_.remove("/x/r.warc"));
  ASSERT_EQ(plan().absent.size(), 1U);
  EXPECT_EQ(plan().absent.at(0).path, "/x/r.warc");
  EXPECT_NE(plan().fingerprint(), made.fingerprint());
}

TEST_F(RepairPlanTest, FilesThatNobodyKnowsAreTakenIn) {
  sources_.found.push_back(add_imported(0, "warc/imported/found.warc.gz", FileSource::kCopy).path);
  sources_.found.push_back(add_imported(0, "warc/put-here.warc", FileSource::kCopy).path);
  const RepairPlan made = plan();
  ASSERT_EQ(made.files.size(), sources_.found.size());
  for (std::size_t i = made.files.size() - 2; i < made.files.size(); ++i) {
    EXPECT_EQ(made.files[i].source, FileSource::kCopy);
    EXPECT_NE(made.files[i].print, 0U);
    EXPECT_EQ(made.files[i].number, i + 1);
  }
}

TEST_F(RepairPlanTest, WhatIsMissingOrAnotherIsTold) {
  know_index();
  IndexFile changed = add_imported(30, "/x/r.warc", FileSource::kReference);
  changed.print ^= 1;
  sources_.indexed[30] = changed;
  ASSERT_TRUE(files_.remove("/a/" + sources_.found.front()));
  const std::string lost = sources_.found.front();
  sources_.found.erase(sources_.found.begin());
  const RepairPlan made = plan();
  ASSERT_EQ(made.absent.size(), 1U);
  EXPECT_EQ(made.absent.at(0).path, lost);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_TRUE(made.notes.at(0).contains("/x/r.warc"));
}

}  // namespace
}  // namespace meguri::archive
