#include "env/memory_file_system.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace meguri::env {
namespace {

using base::ErrorCode;
using Names = std::vector<std::string>;

class MemoryFileSystemTest : public testing::Test {
 protected:
  // Appends; syncs the file if asked to. Its name is not synced.
  void write(const std::string& path, std::string_view bytes, bool synced) {
    auto file = fs_.open_append(path);
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_TRUE((*file)->append(bytes));
    if (synced) {
      ASSERT_TRUE((*file)->sync());
    }
  }

  static std::string read(MemoryFileSystem& fs, const std::string& path) {
    const auto bytes = read_file(fs, path);
    return bytes ? *bytes : "none";
  }
  std::string read(const std::string& path) { return read(fs_, path); }

  // All the states that crashes of the same disk lead to, as `look` sees them.
  template <typename Look>
  auto outcomes(const Look& look, int tries = 300) {
    std::set<decltype(look(fs_))> seen;
    Random random(1);
    for (int i = 0; i < tries; ++i) seen.insert(look(*fs_.after_crash(&random)));
    return seen;
  }

  static Names list(MemoryFileSystem& fs, const std::string& path) {
    const auto names = fs.list(path);
    return names ? *names : Names{"none"};
  }

  MemoryFileSystem fs_;
};

TEST_F(MemoryFileSystemTest, CrashKeepsWhatWasSynced) {
  write("a", "one", true);
  ASSERT_TRUE(fs_.sync_dir("."));
  fs_.crash();
  EXPECT_EQ(read("a"), "one");
  EXPECT_EQ(fs_.used(), 3);
}

TEST_F(MemoryFileSystemTest, CrashForgetsBytesThatWereNotSynced) {
  write("a", "one", true);
  write("a", "two", false);
  ASSERT_TRUE(fs_.sync_dir("."));
  EXPECT_EQ(read("a"), "onetwo");
  fs_.crash();
  EXPECT_EQ(read("a"), "one");
}

TEST_F(MemoryFileSystemTest, CrashForgetsAFileWhoseNameWasNotSynced) {
  write("a", "one", true);
  fs_.crash();
  EXPECT_EQ(read("a"), "none");
  EXPECT_EQ(fs_.used(), 0);
}

TEST_F(MemoryFileSystemTest, CrashForgetsRenameWhoseFolderWasNotSynced) {
  write("a", "old", true);
  write("b", "new", true);
  ASSERT_TRUE(fs_.sync_dir("."));
  ASSERT_TRUE(fs_.rename("b", "a"));
  const auto unsynced = fs_.after_crash();
  EXPECT_EQ(read(*unsynced, "a"), "old");
  EXPECT_EQ(read(*unsynced, "b"), "new");
  ASSERT_TRUE(fs_.sync_dir("."));
  fs_.crash();
  EXPECT_EQ(read("a"), "new");
  EXPECT_EQ(read("b"), "none");
}

TEST_F(MemoryFileSystemTest, CrashForgetsRemoveWhoseFolderWasNotSynced) {
  write("a", "one", true);
  ASSERT_TRUE(fs_.sync_dir("."));
  ASSERT_TRUE(fs_.remove("a"));
  EXPECT_EQ(read(*fs_.after_crash(), "a"), "one");
  ASSERT_TRUE(fs_.sync_dir("."));
  EXPECT_EQ(read(*fs_.after_crash(), "a"), "none");
}

TEST_F(MemoryFileSystemTest, TruncateIsOnTheMediumAtOnce) {
  write("a", "0123456789", true);
  ASSERT_TRUE(fs_.sync_dir("."));
  ASSERT_TRUE(fs_.truncate("a", 4));
  EXPECT_EQ(read(*fs_.after_crash(), "a"), "0123");
  write("a", "xyz", false);
  ASSERT_TRUE(fs_.truncate("a", 6));
  EXPECT_EQ(read(*fs_.after_crash(), "a"), "0123xy");
}

TEST_F(MemoryFileSystemTest, FoldersMadeAreOnTheMediumAtOnce) {
  ASSERT_TRUE(fs_.make_dirs("a/b/c"));
  fs_.crash();
  EXPECT_EQ(list(fs_, "a/b"), Names{"c"});
}

TEST_F(MemoryFileSystemTest, SyncingOneFolderLeavesTheOthersUnsynced) {
  ASSERT_TRUE(fs_.make_dirs("a"));
  ASSERT_TRUE(fs_.make_dirs("b"));
  write("a/x", "1", true);
  write("b/y", "2", true);
  ASSERT_TRUE(fs_.sync_dir("b"));
  fs_.crash();
  EXPECT_EQ(read("a/x"), "none");
  EXPECT_EQ(read("b/y"), "2");
}

TEST_F(MemoryFileSystemTest, ARenameBetweenFoldersIsNeverHalfDone) {
  ASSERT_TRUE(fs_.make_dirs("a"));
  ASSERT_TRUE(fs_.make_dirs("b"));
  write("a/x", "1", true);
  ASSERT_TRUE(fs_.sync_dir("a"));
  ASSERT_TRUE(fs_.rename("a/x", "b/x"));
  const auto look = [](MemoryFileSystem& fs) { return read(fs, "a/x") + read(fs, "b/x"); };
  EXPECT_EQ(outcomes(look), (std::set<std::string>{"1none", "none1"}));
  for (const std::string folder : {"a", "b"}) {
    const auto copy = fs_.after_crash();  // before the rename
    ASSERT_TRUE(copy->rename("a/x", "b/x"));
    ASSERT_TRUE(copy->sync_dir(folder));
    EXPECT_EQ(look(*copy->after_crash()), "none1") << folder;
  }
}

TEST_F(MemoryFileSystemTest, SyncingAFolderTakesAlongWhatItsRenamesStandOn) {
  ASSERT_TRUE(fs_.make_dirs("a"));
  ASSERT_TRUE(fs_.make_dirs("b"));
  write("a/x", "1", true);                // a name in `a`,
  ASSERT_TRUE(fs_.rename("a/x", "b/x"));  // moved to `b`:
  ASSERT_TRUE(fs_.sync_dir("b"));         // the move stands on the creation.
  fs_.crash();
  EXPECT_EQ(read("b/x"), "1");
  EXPECT_EQ(list(fs_, "a"), Names{});
}

TEST_F(MemoryFileSystemTest, AFolderMayBeRenamedAndKeepsItsFiles) {
  ASSERT_TRUE(fs_.make_dirs("a/deep"));
  write("a/deep/x", "1", true);
  ASSERT_TRUE(fs_.sync_dir("a/deep"));
  ASSERT_TRUE(fs_.rename("a", "b"));
  ASSERT_TRUE(fs_.make_dirs("b/more"));
  const auto unsynced = fs_.after_crash();
  EXPECT_EQ(read(*unsynced, "a/deep/x"), "1");
  EXPECT_EQ(list(*unsynced, "a"), (Names{"deep", "more"}));
  ASSERT_TRUE(fs_.sync_dir("."));
  fs_.crash();
  EXPECT_EQ(read("b/deep/x"), "1");
  EXPECT_EQ(list(fs_, "."), Names{"b"});
}

TEST_F(MemoryFileSystemTest, NoOrderOfSyncsPutsAFolderIntoItself) {
  for (const std::string path : {"w/y/v/u/x", "z"}) ASSERT_TRUE(fs_.make_dirs(path));
  ASSERT_TRUE(fs_.rename("w/y/v/u", "z/u"));  // u leaves y,
  ASSERT_TRUE(fs_.rename("w/y", "z/u/x/y"));  // so that y may go into it.
  ASSERT_TRUE(fs_.sync_dir("z/u/x"));
  fs_.crash();
  EXPECT_EQ(list(fs_, "z/u/x/y"), Names{"v"});
  EXPECT_EQ(list(fs_, "z/u/x/y/v"), Names{});
}

TEST_F(MemoryFileSystemTest, WithChanceAnyFrontPartOfTheChangesOfAFolderSurvives) {
  write("a", "1", true);
  write("b", "2", true);
  ASSERT_TRUE(fs_.rename("b", "c"));
  ASSERT_TRUE(fs_.remove("a"));
  const auto seen = outcomes([](MemoryFileSystem& fs) { return list(fs, "."); });
  EXPECT_EQ(seen, (std::set<Names>{{}, {"a"}, {"a", "b"}, {"a", "c"}, {"c"}}));
}

TEST_F(MemoryFileSystemTest, WithChanceFoldersSurviveIndependently) {
  ASSERT_TRUE(fs_.make_dirs("a"));
  ASSERT_TRUE(fs_.make_dirs("b"));
  write("a/x", "", true);
  write("b/y", "", true);
  const auto seen =
      outcomes([](MemoryFileSystem& fs) { return std::pair(list(fs, "a"), list(fs, "b")); });
  EXPECT_EQ(seen.size(), 4);
}

TEST_F(MemoryFileSystemTest, WithChanceTheUnsyncedEndOfAFileIsCutTornOrWhole) {
  const std::string synced = "synced";
  const std::string unsynced = "0123456789";
  write("a", synced, true);
  ASSERT_TRUE(fs_.sync_dir("."));
  write("a", unsynced, false);
  const auto seen = outcomes([](MemoryFileSystem& fs) { return read(fs, "a"); }, 2000);
  bool has_zeros_behind = false;
  bool has_garbage = false;
  bool has_hole = false;
  for (const std::string& bytes : seen) {
    ASSERT_TRUE(bytes.starts_with(synced));
    ASSERT_LE(bytes.size(), synced.size() + unsynced.size());
    const std::string tail = bytes.substr(synced.size());
    const bool is_prefix = unsynced.starts_with(tail);
    has_zeros_behind |= !is_prefix && tail.back() == '\0';
    has_hole |= !is_prefix && tail.back() == '9' && tail.contains('\0');
    has_garbage |=
        !is_prefix && tail.find_first_not_of(std::string("\0", 1) + unsynced) != std::string::npos;
  }
  for (std::size_t length = 0; length <= unsynced.size(); ++length) {
    EXPECT_TRUE(seen.contains(synced + unsynced.substr(0, length))) << length;
  }
  EXPECT_TRUE(has_zeros_behind && has_garbage && has_hole);
}

TEST_F(MemoryFileSystemTest, TheSameSeedGivesTheSameCrash) {
  for (const std::string name : {"a", "b", "c", "d"}) write(name, "0123456789", false);
  const auto state = [&](std::uint64_t seed) {
    Random random(seed);
    const auto after = fs_.after_crash(&random);
    std::map<std::string, std::string> files;
    for (const std::string& name : list(*after, ".")) files[name] = read(*after, name);
    return files;
  };
  std::set<std::map<std::string, std::string>> different;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(state(seed), state(seed));
    different.insert(state(seed));
  }
  EXPECT_GT(different.size(), 10);
}

TEST_F(MemoryFileSystemTest, WhatWasOpenBeforeACrashIsDead) {
  auto file = fs_.create("a");
  ASSERT_TRUE((*file)->append("x"));
  ASSERT_TRUE((*file)->sync());
  ASSERT_TRUE(fs_.sync_dir("."));
  const auto reader = fs_.open_read("a");
  auto lock = fs_.lock("LOCK");
  fs_.crash();
  EXPECT_EQ((*file)->append("y").error().code(), ErrorCode::kStopped);
  EXPECT_EQ((*file)->sync().error().code(), ErrorCode::kStopped);
  std::string out;
  EXPECT_EQ((*reader)->read_at(0, 1, &out).error().code(), ErrorCode::kStopped);
  EXPECT_EQ((*reader)->size().error().code(), ErrorCode::kStopped);
  EXPECT_EQ(read("a"), "x");
  const auto next = fs_.lock("LOCK");
  ASSERT_TRUE(next);
  lock->reset();  // the dead holder does not release the lock of the living one
  EXPECT_FALSE(fs_.lock("LOCK"));
}

TEST_F(MemoryFileSystemTest, RestartKeepsAllBytesButEndsWhatWasOpen) {
  auto file = fs_.create("a");
  ASSERT_TRUE((*file)->append("x"));
  const auto lock = fs_.lock("LOCK");
  fs_.restart();
  EXPECT_EQ(read("a"), "x");
  EXPECT_EQ((*file)->append("y").error().code(), ErrorCode::kStopped);
  EXPECT_TRUE(fs_.lock("LOCK"));
}

TEST_F(MemoryFileSystemTest, AFullDiskTakesWhatFits) {
  fs_.set_capacity(10);
  write("a", "12345", true);
  EXPECT_EQ(*fs_.free_space("."), 5);
  auto file = fs_.create("b");
  ASSERT_TRUE((*file)->append("123"));
  const auto full = (*file)->append("456789");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ((*file)->size(), 3);
  EXPECT_EQ(read("b"), "12345");
  EXPECT_EQ(*fs_.free_space("."), 0);
  // The owner must cut the file before going on.
  EXPECT_EQ((*file)->append("x").error().code(), ErrorCode::kInvalid);
  ASSERT_TRUE(fs_.truncate("b", (*file)->size()));
  ASSERT_TRUE(fs_.remove("a"));
  EXPECT_EQ(*fs_.free_space("."), 7);
  EXPECT_TRUE((*file)->append("4567890"));
}

TEST_F(MemoryFileSystemTest, ReplacedFilesGiveTheirSpaceBack) {
  write("a", "12345", true);
  write("b", "67", true);
  ASSERT_TRUE(fs_.rename("b", "a"));
  EXPECT_EQ(fs_.used(), 2);
}

TEST_F(MemoryFileSystemTest, AFlippedBitIsRead) {
  write("a", "abc", true);
  ASSERT_TRUE(fs_.flip_bit("a", 8));
  EXPECT_EQ(read("a"), "acc");
  EXPECT_EQ(fs_.flip_bit("none", 0).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace meguri::env
