#include "env/faulty_file_system.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "env/crash_points.h"

namespace meguri::env {
namespace {

using base::ErrorCode;

base::Status write(FileSystem& fs, const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto file, fs.open_append(path));
  RETURN_IF_ERROR(file->append(bytes));
  RETURN_IF_ERROR(file->sync());
  return fs.sync_dir(parent_of(path));
}

std::string read(FileSystem& fs, const std::string& path) {
  const auto bytes = read_file(fs, path);
  return bytes ? *bytes : "none";
}

TEST(FaultyFileSystem, CountsWhatChangesSomething) {
  FaultyFileSystem fs;
  ASSERT_TRUE(fs.make_dirs("d"));      // 1
  ASSERT_TRUE(write(fs, "d/a", "x"));  // 2 create, 3 append, 4 sync, 5 sync_dir
  ASSERT_TRUE(write(fs, "d/a", "y"));  // 6 append, 7 sync, 8 sync_dir
  EXPECT_EQ(read(fs, "d/a"), "xy");
  EXPECT_TRUE(fs.list("d") && fs.size("d/a") && fs.exists("d/a") && fs.free_space("d"));
  ASSERT_TRUE(fs.truncate("d/a", 1));    // 9
  ASSERT_TRUE(fs.rename("d/a", "d/b"));  // 10
  ASSERT_TRUE(fs.remove("d/b"));         // 11
  ASSERT_TRUE(fs.lock("d/LOCK"));        // 12, because it creates the file
  ASSERT_TRUE(fs.lock("d/LOCK"));
  EXPECT_EQ(fs.changes(), 12);
}

TEST(FaultyFileSystem, FailsTheChosenChangeWithTheChosenError) {
  for (std::uint64_t n = 0; n < 4; ++n) {
    FaultyFileSystem fs;
    fs.fail_change_after(n, ErrorCode::kDenied);
    const auto failed = write(fs, "a", "x");
    ASSERT_FALSE(failed) << n;
    EXPECT_EQ(failed.error().code(), ErrorCode::kDenied);
    EXPECT_EQ(fs.changes(), n + 1);
    EXPECT_TRUE(write(fs, "b", "y"));
  }
}

TEST(FaultyFileSystem, FailsAllChangesFromOneOn) {
  FaultyFileSystem fs;
  fs.fail_changes_from(4, ErrorCode::kNoSpace);
  EXPECT_TRUE(write(fs, "a", "x"));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(write(fs, "b", "x"));
  EXPECT_EQ(read(fs, "a"), "x");  // reading goes on
  fs.restart();
  EXPECT_TRUE(write(fs, "b", "x"));
}

TEST(FaultyFileSystem, AFailedAppendLeavesAPartToCut) {
  std::set<std::string> left;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    FaultyFileSystem fs(seed);
    auto file = fs.create("a");
    ASSERT_TRUE((*file)->append("good"));
    fs.fail_change_after(0, ErrorCode::kIo);
    ASSERT_FALSE((*file)->append("bad"));
    EXPECT_EQ((*file)->size(), 4);
    left.insert(read(fs, "a"));
    ASSERT_TRUE(fs.truncate("a", (*file)->size()));
    EXPECT_TRUE((*file)->append("more"));
    EXPECT_EQ(read(fs, "a"), "goodmore");
  }
  EXPECT_EQ(left, (std::set<std::string>{"good", "goodb", "goodba", "goodbad"}));
}

TEST(FaultyFileSystem, AFailedSyncLosesWhatWasNotSynced) {
  FaultyFileSystem fs;
  auto file = fs.create("a");
  ASSERT_TRUE(fs.sync_dir("."));
  ASSERT_TRUE((*file)->append("good"));
  ASSERT_TRUE((*file)->sync());
  ASSERT_TRUE((*file)->append("lost"));
  fs.fail_sync_after(0);
  EXPECT_EQ((*file)->sync().error().code(), ErrorCode::kIo);
  // This file is of no use any more, though others are.
  EXPECT_EQ((*file)->append("x").error().code(), ErrorCode::kIo);
  EXPECT_EQ((*file)->sync().error().code(), ErrorCode::kIo);
  EXPECT_TRUE(write(fs, "b", "x"));
  // The bytes can still be read, and a restarted process could believe them,
  fs.restart();
  EXPECT_EQ(read(fs, "a"), "goodlost");
  EXPECT_EQ(read(*fs.disk().after_crash(), "a"), "good");
  // but syncing what comes later does not bring them to the medium.
  ASSERT_TRUE(write(fs, "a", "more"));
  fs.crash();
  EXPECT_EQ(read(fs, "a"), std::string("good\0\0\0\0more", 12));
}

TEST(FaultyFileSystem, FailSyncCountsOnlySyncsOfFiles) {
  FaultyFileSystem fs;
  fs.fail_sync_after(1);
  EXPECT_TRUE(write(fs, "a", "x"));
  EXPECT_TRUE(fs.sync_dir("."));
  EXPECT_FALSE(write(fs, "a", "y"));
}

TEST(FaultyFileSystem, ReadsFailOnRequest) {
  FaultyFileSystem fs;
  ASSERT_TRUE(write(fs, "a", "x"));
  fs.fail_read_after(1, ErrorCode::kIo);
  EXPECT_TRUE(read_file(fs, "a"));
  EXPECT_EQ(read_file(fs, "a").error().code(), ErrorCode::kIo);
  EXPECT_TRUE(read_file(fs, "a"));
}

TEST(FaultyFileSystem, WithoutPowerNothingWorksUntilTheCrash) {
  FaultyFileSystem fs;
  ASSERT_TRUE(write(fs, "a", "x"));
  auto file = fs.open_append("a");
  auto reader = fs.open_read("a");
  fs.cut_power_after(0);
  EXPECT_FALSE(fs.power_is_off());
  EXPECT_EQ(fs.make_dirs("d").error().code(), ErrorCode::kIo);
  EXPECT_TRUE(fs.power_is_off());
  std::string out;
  EXPECT_FALSE((*file)->append("y"));
  EXPECT_FALSE((*file)->sync());
  EXPECT_FALSE((*reader)->read_at(0, 1, &out));
  EXPECT_FALSE((*reader)->size());
  EXPECT_FALSE(fs.open_read("a") || fs.open_append("a") || fs.create("b") || fs.exists("a"));
  EXPECT_FALSE(fs.list(".") || fs.size("a") || fs.free_space(".") || fs.lock("LOCK"));
  EXPECT_FALSE(fs.truncate("a", 0) || fs.rename("a", "b") || fs.remove("a") || fs.sync_dir("."));
  EXPECT_EQ(fs.changes(), 5);
  fs.crash();
  EXPECT_EQ(read(fs, "a"), "x");
  EXPECT_TRUE(write(fs, "a", "y"));
  EXPECT_EQ((*file)->append("z").error().code(), ErrorCode::kStopped);
}

TEST(FaultyFileSystem, TheTornChangeIsDoneOrNot) {
  std::set<bool> is_removed;
  std::set<std::string> synced;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    FaultyFileSystem fs(seed);
    ASSERT_TRUE(write(fs, "a", "x"));
    fs.cut_power_after(0);
    EXPECT_FALSE(fs.remove("a"));
    is_removed.insert(!*fs.disk().exists("a"));
    fs.crash();
    auto file = fs.open_append("a");
    ASSERT_TRUE((*file)->append("y"));
    fs.cut_power_after(0);
    EXPECT_FALSE((*file)->sync());
    fs.crash();
    synced.insert(read(fs, "a"));
  }
  EXPECT_EQ(is_removed.size(), 2);
  EXPECT_EQ(synced, (std::set<std::string>{"x", "xy"}));
}

TEST(FaultyFileSystem, AFullDiskFailsOfItself) {
  FaultyFileSystem fs;
  fs.disk().set_capacity(6);
  ASSERT_TRUE(write(fs, "a", "1234"));
  EXPECT_EQ(write(fs, "a", "5678").error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(read(fs, "a"), "123456");
}

TEST(CrashPoints, EveryChangeIsCutOnceForEachOutcome) {
  std::set<std::uint64_t> changes;
  std::uint64_t checks = 0;
  const std::uint64_t count = for_each_crash_point(
      {.seed = 7, .outcomes = 3}, [](FaultyFileSystem& fs) { ASSERT_TRUE(fs.make_dirs("d")); },
      [](FaultyFileSystem& fs) { std::ignore = write(fs, "d/a", "x"); },
      [&](FaultyFileSystem& fs, CrashPoint point) {
        changes.insert(point.change);
        ++checks;
        EXPECT_EQ(point.was_cut, point.change < 4);
        EXPECT_FALSE(fs.power_is_off());
        EXPECT_TRUE(point.was_cut || read(fs, "d/a") == "x");
      });
  EXPECT_EQ(count, 4);
  EXPECT_EQ(changes.size(), 5);
  EXPECT_EQ(checks, 15);
}

TEST(CrashPoints, WriteFileAtomicallyLeavesTheOldOrTheNewFileWhole) {
  const std::string old_bytes(500, 'o');
  const std::string new_bytes(700, 'n');
  bool is_acknowledged = false;
  std::set<std::string> seen;
  const std::uint64_t count = for_each_crash_point(
      {.seed = 1, .outcomes = 50},
      [&](FaultyFileSystem& fs) {
        is_acknowledged = false;
        ASSERT_TRUE(fs.make_dirs("d"));
        ASSERT_TRUE(write_file_atomically(fs, "d/a", old_bytes));
      },
      [&](FaultyFileSystem& fs) {
        is_acknowledged = write_file_atomically(fs, "d/a", new_bytes).has_value();
      },
      [&](FaultyFileSystem& fs, CrashPoint point) {
        const std::string bytes = read(fs, "d/a");
        ASSERT_TRUE(bytes == new_bytes || (bytes == old_bytes && !is_acknowledged))
            << point.change << " " << point.outcome << " " << bytes;
        seen.insert(bytes);
        // What the crash left does not stand in the way of the next one.
        ASSERT_TRUE(write_file_atomically(fs, "d/a", "next"));
        ASSERT_EQ(read(fs, "d/a"), "next");
        ASSERT_EQ(fs.list("d")->size(), 1);
      });
  EXPECT_EQ(count, 6);  // remove, create, append, sync, rename, sync_dir
  EXPECT_EQ(seen.size(), 2);
}

TEST(CrashPoints, AWriterThatForgetsToSyncIsCaught) {
  bool is_acknowledged = false;
  int lost = 0;
  for_each_crash_point(
      {}, [&](FaultyFileSystem&) { is_acknowledged = false; },
      [&](FaultyFileSystem& fs) {
        auto file = fs.create("a.new");
        is_acknowledged =
            file && (*file)->append("new") && fs.rename("a.new", "a") && fs.sync_dir(".");
      },
      [&](FaultyFileSystem& fs, CrashPoint) {
        if (is_acknowledged && read(fs, "a") != "new") ++lost;
      });
  EXPECT_GT(lost, 0);
}

TEST(WriteFileAtomically, AFullDiskLeavesTheOldFileAndTheSpace) {
  FaultyFileSystem fs;
  ASSERT_TRUE(write_file_atomically(fs, "a", "old"));
  fs.disk().set_capacity(8);
  EXPECT_EQ(write_file_atomically(fs, "a", "a new file").error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(read(fs, "a"), "old");
  EXPECT_EQ(fs.disk().used(), 3);
}

TEST(WriteFileAtomically, EveryFailureIsReportedAndLeavesAWholeFile) {
  for (std::uint64_t n = 0; n < 6; ++n) {
    FaultyFileSystem fs;
    ASSERT_TRUE(write_file_atomically(fs, "a", "old"));
    fs.fail_change_after(n, ErrorCode::kIo);
    EXPECT_FALSE(write_file_atomically(fs, "a", "new")) << n;
    const std::string bytes = read(fs, "a");
    EXPECT_TRUE(bytes == "old" || bytes == "new") << bytes;
  }
}

}  // namespace
}  // namespace meguri::env
