#include "archive/importer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "archive/index_testing.h"
#include "env/crash_points.h"
#include "env/memory_file_system.h"
#include "env/memory_ordered_store.h"

namespace meguri::archive {
namespace {

using base::ErrorCode;
using testing::gzip_file_of;
using testing::save;

constexpr std::size_t kBatchBytes = 300;  // a few entries
const std::string copied = "/archive/warc/imported/";

base::Status go_on(std::uint64_t /*bytes*/, std::uint64_t /*entries*/) { return {}; }

class ImporterTest : public ::testing::Test {
 protected:
  ImporterTest() {
    open();
    save(files_, "/old/a.warc.gz", gzip_file_of(20, 1));
    save(files_, "/old/b.warc.gz", gzip_file_of(20, 2));
  }

  void open() {
    importer_.reset();
    index_.reset();
    index_ = TemporalIndex::open(disk_.open().value()).value();
    importer_ = std::make_unique<Importer>(*index_, files_, "/archive",
                                           FileIndexer::Reading::kFronts, kBatchBytes);
  }
  ImportOutcome import(const std::string& path, bool copies = false) {
    const auto imported = importer_->import(path, copies, go_on);
    EXPECT_TRUE(imported) << imported.error().message();
    return imported ? imported->outcome : ImportOutcome::kKnown;
  }
  ErrorCode failure_of(const std::string& path, bool copies = false) {
    const auto imported = importer_->import(path, copies, go_on);
    EXPECT_FALSE(imported);
    return imported ? ErrorCode::kFailed : imported.error().code();
  }
  std::size_t entries() const { return testing::entries_in(*index_).size(); }

  env::MemoryFileSystem files_;
  env::MemoryStoreDisk disk_;
  std::unique_ptr<TemporalIndex> index_;
  std::unique_ptr<Importer> importer_;
};

TEST_F(ImporterTest, AddsAFileOnce) {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  const auto imported = importer_->import("/old/a.warc.gz", false, [&](auto more, auto found) {
    bytes += more;
    entries += found;
    return base::Status();
  });
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->outcome, ImportOutcome::kAdded);
  EXPECT_EQ(imported->file, *index_->find_file("/old/a.warc.gz"));
  EXPECT_TRUE(imported->file.is_complete);
  EXPECT_EQ(imported->file.source, FileSource::kReference);
  EXPECT_EQ(bytes, gzip_file_of(20, 1).size());
  EXPECT_EQ(entries, 20U);
  const auto before = testing::all_of(*index_);
  EXPECT_EQ(import("/old/a.warc.gz"), ImportOutcome::kKnown);
  EXPECT_EQ(testing::all_of(*index_), before);
  EXPECT_EQ(import("/old/b.warc.gz"), ImportOutcome::kAdded);
  EXPECT_EQ(this->entries(), 40U);
}

TEST_F(ImporterTest, KnowsAFileThatMoved) {
  import("/old/a.warc.gz");
  save(files_, "/new/x.warc.gz", gzip_file_of(20, 1));
  EXPECT_EQ(import("/new/x.warc.gz"), ImportOutcome::kKnown) << "both are there";
  EXPECT_NE(index_->find_file("/old/a.warc.gz"), nullptr);
  ASSERT_TRUE(files_.remove("/old/a.warc.gz"));
  EXPECT_EQ(import("/new/x.warc.gz"), ImportOutcome::kMoved);
  EXPECT_EQ(index_->find_file("/old/a.warc.gz"), nullptr);
  ASSERT_NE(index_->find_file("/new/x.warc.gz"), nullptr);
  EXPECT_EQ(entries(), 20U);
}

TEST_F(ImporterTest, ReplacesAFileThatChanged) {
  import("/old/a.warc.gz");
  const std::uint32_t before = index_->find_file("/old/a.warc.gz")->number;
  save(files_, "/old/a.warc.gz", gzip_file_of(7, 3));
  EXPECT_EQ(import("/old/a.warc.gz"), ImportOutcome::kReplaced);
  EXPECT_EQ(entries(), 7U);
  EXPECT_NE(index_->find_file("/old/a.warc.gz")->number, before);
  EXPECT_EQ(index_->file(before), nullptr);
  save(files_, "/old/a.warc.gz", gzip_file_of(20, 1));
  EXPECT_EQ(import("/old/a.warc.gz"), ImportOutcome::kReplaced) << "as it was once";
  EXPECT_EQ(entries(), 20U);
}

TEST_F(ImporterTest, CopiesWhatItIsToldTo) {
  EXPECT_EQ(import("/old/a.warc.gz", true), ImportOutcome::kAdded);
  EXPECT_EQ(*env::read_file(files_, copied + "a.warc.gz"), gzip_file_of(20, 1));
  const IndexFile* file = index_->find_file("warc/imported/a.warc.gz");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->source, FileSource::kCopy);
  // The archive needs the other no more.
  ASSERT_TRUE(files_.remove("/old/a.warc.gz"));
  EXPECT_EQ(import(copied + "a.warc.gz"), ImportOutcome::kKnown);
  // Another of that name.
  save(files_, "/other/a.warc.gz", gzip_file_of(3, 9));
  EXPECT_EQ(import("/other/a.warc.gz", true), ImportOutcome::kAdded);
  EXPECT_EQ(*env::read_file(files_, copied + "a-2.warc.gz"), gzip_file_of(3, 9));
  EXPECT_EQ(*files_.list("/archive/warc/imported"),
            (std::vector<std::string>{"a-2.warc.gz", "a.warc.gz"}));
  EXPECT_EQ(entries(), 23U);
}

TEST_F(ImporterTest, CopiesWhatWasLeftWhereItWas) {
  import("/old/a.warc.gz");
  const auto before = testing::entries_in(*index_);
  EXPECT_EQ(import("/old/a.warc.gz", true), ImportOutcome::kMoved);
  EXPECT_EQ(testing::entries_in(*index_), before);
  EXPECT_EQ(*env::read_file(files_, copied + "a.warc.gz"), gzip_file_of(20, 1));
  EXPECT_EQ(index_->find_file("/old/a.warc.gz"), nullptr);
  EXPECT_EQ(import("/old/a.warc.gz", true), ImportOutcome::kKnown);
  // And once more if it is lost.
  ASSERT_TRUE(files_.remove(copied + "a.warc.gz"));
  EXPECT_EQ(import("/old/a.warc.gz", true), ImportOutcome::kKnown);
  EXPECT_TRUE(*files_.exists(copied + "a.warc.gz"));
}

TEST_F(ImporterTest, TakesFilesOutAgain) {
  import("/old/a.warc.gz");
  import("/old/b.warc.gz", true);
  const auto unknown = importer_->remove({"/old/a.warc.gz", "/old/unknown"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(entries(), 40U) << "all of them or none";
  ASSERT_TRUE(importer_->remove({"/old/b.warc.gz"})) << "the copy is what that file is";
  EXPECT_FALSE(*files_.exists(copied + "b.warc.gz"));
  EXPECT_TRUE(*files_.exists("/old/b.warc.gz"));
  EXPECT_EQ(entries(), 20U);
  ASSERT_TRUE(files_.remove("/old/a.warc.gz"));
  ASSERT_TRUE(importer_->remove({"/old/a.warc.gz"})) << "it need not be there any more";
  EXPECT_EQ(entries(), 0U);
  EXPECT_TRUE(index_->files().empty());
  EXPECT_EQ(import("/old/b.warc.gz", true), ImportOutcome::kAdded);
  ASSERT_TRUE(importer_->remove({copied + "b.warc.gz"})) << "or by the copy's own name";
  EXPECT_FALSE(*files_.exists(copied + "b.warc.gz"));
}

TEST_F(ImporterTest, LeavesTheFilesOfTheCrawlAlone) {
  save(files_, "/archive/warc/own.warc.gz", gzip_file_of(3, 5));
  EXPECT_EQ(failure_of("/archive/warc/own.warc.gz"), ErrorCode::kExists) << "of no index";
  IndexBatch batch;
  IndexFile own;
  own.number = index_->next_number();
  own.path = "warc/own.warc.gz";
  batch.set(own);
  ASSERT_TRUE(index_->write(batch));
  EXPECT_EQ(import("/archive/warc/own.warc.gz"), ImportOutcome::kKnown);
  EXPECT_EQ(importer_->remove({"/archive/warc/own.warc.gz"}).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(ImporterTest, RefusesWhatItCannotRead) {
  save(files_, "/old/text", std::string(5000, 'x'));
  for (const bool copies : {false, true}) {
    EXPECT_EQ(failure_of("/old/text", copies), ErrorCode::kInvalid);
    EXPECT_EQ(failure_of("/old/none", copies), ErrorCode::kNotFound);
  }
  EXPECT_TRUE(index_->files().empty()) << "it is not remembered as one";
  EXPECT_FALSE(*files_.exists("/archive/warc/imported"));
  save(files_, "/old/empty.warc", "");
  EXPECT_EQ(import("/old/empty.warc"), ImportOutcome::kAdded);
  import("/old/a.warc.gz", true);
  ASSERT_TRUE(files_.flip_bit(copied + "a.warc.gz", 77));
  EXPECT_EQ(failure_of(copied + "a.warc.gz"), ErrorCode::kExists);
}

TEST_F(ImporterTest, ReadsTheRestOfADamagedFile) {
  std::string bytes = gzip_file_of(20, 1);
  bytes.insert(bytes.size() / 2, "rubbish");
  save(files_, "/old/damaged.warc.gz", bytes.substr(0, bytes.size() - 30));
  const auto imported = importer_->import("/old/damaged.warc.gz", false, go_on);
  ASSERT_TRUE(imported);
  EXPECT_GE(imported->file.damages, 2U);
  EXPECT_GE(imported->file.entries, 18U);
  EXPECT_EQ(imported->file.entries, entries());
}

// Stopped at any call and begun again, it ends as if it had never been.
TEST_F(ImporterTest, GoesOnWhereItWasStopped) {
  save(files_, "/old/damaged.warc.gz",
       gzip_file_of(20, 1).insert(900, "rubbish") + gzip_file_of(20, 4));
  for (const bool copies : {false, true}) {
    const auto run = [&](int calls_max) {
      int calls = 0;
      const auto imported =
          importer_->import("/old/damaged.warc.gz", copies, [&](auto, auto) -> base::Status {
            if (calls++ < calls_max) return {};
            return base::fail(ErrorCode::kStopped, "stopped");
          });
      EXPECT_EQ(imported.has_value(), calls <= calls_max);
      return calls;
    };
    ASSERT_LT(run(1000), 1000);
    const auto expected = testing::all_of(*index_);
    int calls_max = 0;
    for (;; ++calls_max) {
      SCOPED_TRACE(calls_max);
      files_.restart();
      if (copies) std::ignore = files_.remove(copied + "damaged.warc.gz");
      open();  // nothing was flushed
      if (run(calls_max) <= calls_max) break;
      run(1000);
      EXPECT_EQ(testing::all_of(*index_), expected);
    }
    EXPECT_GT(calls_max, 5);
    open();
  }
}

// The power goes at every change of the disk, and what the index had not flushed is gone or not.
TEST(ImporterCrash, LosesNothingAndLeavesNothingBehind) {
  std::unique_ptr<env::MemoryStoreDisk> disk;
  bool is_acknowledged = false;
  const auto import_both = [&](env::FileSystem& files) -> base::Status {
    ASSIGN_OR_RETURN(auto store, disk->open());
    ASSIGN_OR_RETURN(const auto index, TemporalIndex::open(std::move(store)));
    Importer importer(*index, files, "/archive", FileIndexer::Reading::kFronts, kBatchBytes);
    RETURN_IF_ERROR(importer.import("/old/a.warc.gz", true, go_on));
    RETURN_IF_ERROR(importer.import("/old/b.warc.gz", true, go_on));
    RETURN_IF_ERROR(index->flush());
    is_acknowledged = true;
    return importer.remove({"/old/a.warc.gz"});
  };
  const std::uint64_t changes = env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem& files) {
        disk = std::make_unique<env::MemoryStoreDisk>();
        is_acknowledged = false;
        save(files, "/old/a.warc.gz", gzip_file_of(20, 1));
        save(files, "/old/b.warc.gz", gzip_file_of(20, 2));
        ASSERT_TRUE(files.make_dirs("/archive"));
      },
      [&](env::FaultyFileSystem& files) { std::ignore = import_both(files); },
      [&](env::FaultyFileSystem& files, env::CrashPoint point) {
        SCOPED_TRACE(fmt::format("{} {}", point.change, point.outcome));
        env::Random random(point.outcome * 1000 + point.change);
        disk->crash(point.outcome % 2 == 0 ? nullptr : &random);
        {
          const auto index = TemporalIndex::open(disk->open().value()).value();
          for (const auto& [number, file] : index->files()) {
            if (!file.is_complete) continue;
            EXPECT_TRUE(*files.exists("/archive/" + file.path)) << "the index names what is gone";
            EXPECT_EQ(file.entries, 20U);
          }
          EXPECT_TRUE(!is_acknowledged || index->find_file("warc/imported/b.warc.gz") != nullptr);
        }
        ASSERT_TRUE(import_both(files));
        const auto index = TemporalIndex::open(disk->open().value()).value();
        EXPECT_EQ(testing::entries_in(*index).size(), 20U);
        EXPECT_EQ(*files.list("/archive/warc/imported"), std::vector<std::string>{"b.warc.gz"});
      });
  EXPECT_GT(changes, 10U);
}

TEST(ImporterThreads, ImportFilesAtOnce) {
  constexpr int kFiles = 40;
  env::MemoryFileSystem files;
  env::MemoryStoreDisk disk;
  const auto index = TemporalIndex::open(disk.open().value()).value();
  std::vector<std::string> paths;
  for (int i = 0; i < kFiles; ++i) {
    // Each twice, under names that others have too.
    paths.push_back(fmt::format("/{}/{}.warc.gz", i, i % 4));
    save(files, paths.back(), gzip_file_of(30, i / 2));
  }
  for (const bool copies : {false, true}) {
    Importer importer(*index, files, "/archive", FileIndexer::Reading::kFronts, kBatchBytes);
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < paths.size(); at = next++) {
          const auto imported = importer.import(paths[at], copies, go_on);
          EXPECT_TRUE(imported) << imported.error().message();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(index->files().size(), kFiles / 2U);
    EXPECT_EQ(testing::entries_in(*index).size(), kFiles / 2U * 30U);
    for (const auto& [number, file] : index->files()) {
      EXPECT_TRUE(file.is_complete);
      EXPECT_EQ(file.entries, 30U);
      EXPECT_EQ(file.source, copies ? FileSource::kCopy : FileSource::kReference);
    }
  }
  EXPECT_EQ(files.list("/archive/warc/imported")->size(), kFiles / 2U);
}

}  // namespace
}  // namespace meguri::archive
