// What every FileSystem promises, asked of each of them.
#include "env/file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "env/faulty_file_system.h"
#include "env/memory_file_system.h"
#include "env/posix_file_system.h"
#include "env/testing.h"

namespace meguri::env {
namespace {

using base::ErrorCode;
using Names = std::vector<std::string>;

struct Posix {
  TempDir dir;
  PosixFileSystem fs;
  std::string root() { return dir.path(); }
};

struct Memory {
  MemoryFileSystem fs;
  std::string root() { return fs.make_dirs("/disk") ? "/disk" : ""; }
};

struct Faulty {
  FaultyFileSystem fs;
  std::string root() { return fs.make_dirs("/disk") ? "/disk" : ""; }
};

template <typename Disk>
class FileSystemTest : public testing::Test {
 protected:
  std::string path(std::string_view name) const { return fmt::format("{}/{}", root_, name); }

  void write(const std::string& name, std::string_view bytes) {
    auto file = fs_.open_append(path(name));
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_TRUE((*file)->append(bytes));
    ASSERT_TRUE((*file)->sync());
  }

  std::string read(const std::string& name) {
    const auto bytes = read_file(fs_, path(name));
    return bytes ? *bytes : "error: " + bytes.error().message();
  }

  Names list(const std::string& name = "") {
    const auto names = fs_.list(path(name));
    return names ? *names : Names{"error: " + names.error().message()};
  }

  // The code of a failure. Every message must say the path.
  template <typename T>
  static ErrorCode code_of(const base::Result<T>& result, std::string_view name) {
    EXPECT_FALSE(result) << "no failure with " << name;
    if (result) return ErrorCode::kFailed;
    EXPECT_TRUE(result.error().message().contains(name)) << result.error().message();
    return result.error().code();
  }

  Disk disk_;
  FileSystem& fs_ = disk_.fs;
  const std::string root_ = disk_.root();
};

using Disks = testing::Types<Posix, Memory, Faulty>;
TYPED_TEST_SUITE(FileSystemTest, Disks);

TYPED_TEST(FileSystemTest, WhatIsAppendedIsRead) {
  auto file = this->fs_.create(this->path("a"));
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->size(), 0);
  EXPECT_TRUE((*file)->append("hello "));
  EXPECT_TRUE((*file)->append(""));
  EXPECT_TRUE((*file)->append("world"));
  EXPECT_EQ((*file)->size(), 11);
  EXPECT_EQ(this->read("a"), "hello world");
  EXPECT_TRUE((*file)->sync());
  EXPECT_EQ(*this->fs_.size(this->path("a")), 11);
}

TYPED_TEST(FileSystemTest, BytesOfEveryValueAndLongOnesSurvive) {
  std::string bytes;
  for (int i = 0; i < 3'000'000; ++i) bytes += static_cast<char>(i * 31 / 7);
  this->write("long", bytes);
  EXPECT_TRUE(this->read("long") == bytes);
}

TYPED_TEST(FileSystemTest, OpenAppendCreatesOrGoesOnAtTheEnd) {
  this->write("a", "one");
  this->write("a", "two");
  const auto file = this->fs_.open_append(this->path("a"));
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->size(), 6);
  EXPECT_EQ(this->read("a"), "onetwo");
}

TYPED_TEST(FileSystemTest, CreateRefusesWhatExists) {
  this->write("a", "one");
  EXPECT_EQ(this->code_of(this->fs_.create(this->path("a")), this->path("a")), ErrorCode::kExists);
  EXPECT_EQ(this->read("a"), "one");
}

TYPED_TEST(FileSystemTest, FilesNeedTheirFolder) {
  const std::string lost = this->path("none/a");
  EXPECT_EQ(this->code_of(this->fs_.create(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.open_append(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.open_read(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.lock(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.list(this->path("none")), "none"), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.sync_dir(this->path("none")), "none"), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.size(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.truncate(lost, 0), lost), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.free_space(lost), lost), ErrorCode::kNotFound);
}

TYPED_TEST(FileSystemTest, AFileIsNoFolderAndAFolderNoFile) {
  this->write("file", "x");
  ASSERT_TRUE(this->fs_.make_dirs(this->path("dir")));
  const std::string below = this->path("file/below");
  EXPECT_EQ(this->code_of(this->fs_.create(below), below), ErrorCode::kNotFound);
  EXPECT_EQ(*this->fs_.exists(below), false);
  EXPECT_EQ(this->code_of(this->fs_.list(this->path("file")), "file"), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.sync_dir(this->path("file")), "file"), ErrorCode::kNotFound);
  EXPECT_EQ(this->code_of(this->fs_.make_dirs(this->path("file")), "file"), ErrorCode::kExists);
  EXPECT_EQ(this->code_of(this->fs_.make_dirs(this->path("file/d")), "file"), ErrorCode::kExists);
  const std::string dir = this->path("dir");
  EXPECT_EQ(this->code_of(this->fs_.open_append(dir), dir), ErrorCode::kInvalid);
  EXPECT_EQ(this->code_of(this->fs_.open_read(dir), dir), ErrorCode::kInvalid);
  EXPECT_EQ(this->code_of(this->fs_.create(dir), dir), ErrorCode::kExists);
  EXPECT_EQ(this->code_of(this->fs_.size(dir), dir), ErrorCode::kInvalid);
  EXPECT_EQ(this->code_of(this->fs_.remove(dir), dir), ErrorCode::kInvalid);
}

TYPED_TEST(FileSystemTest, ReadsAreCutOnlyByTheEndOfTheFile) {
  this->write("a", "0123456789");
  const auto file = this->fs_.open_read(this->path("a"));
  ASSERT_TRUE(file);
  std::string out = "old";
  EXPECT_TRUE((*file)->read_at(2, 3, &out));
  EXPECT_EQ(out, "234");
  EXPECT_TRUE((*file)->read_at(8, 100, &out));
  EXPECT_EQ(out, "89");
  EXPECT_TRUE((*file)->read_at(10, 5, &out));
  EXPECT_EQ(out, "");
  EXPECT_TRUE((*file)->read_at(1'000'000, 5, &out));
  EXPECT_EQ(out, "");
  EXPECT_TRUE((*file)->read_at(0, 0, &out));
  EXPECT_EQ(out, "");
  // A length from a damaged file must not become memory.
  EXPECT_TRUE((*file)->read_at(1, std::size_t{1} << 50U, &out));
  EXPECT_EQ(out, "123456789");
  EXPECT_EQ(*(*file)->size(), 10);
}

TYPED_TEST(FileSystemTest, ReadersSeeWhatIsAppendedLater) {
  this->write("a", "one");
  const auto file = this->fs_.open_read(this->path("a"));
  this->write("a", "two");
  std::string out;
  EXPECT_TRUE((*file)->read_at(0, 100, &out));
  EXPECT_EQ(out, "onetwo");
  EXPECT_EQ(*(*file)->size(), 6);
}

TYPED_TEST(FileSystemTest, TruncateCutsAndAppendsGoOnThere) {
  this->write("a", "0123456789");
  EXPECT_TRUE(this->fs_.truncate(this->path("a"), 4));
  EXPECT_EQ(this->read("a"), "0123");
  this->write("a", "x");
  EXPECT_EQ(this->read("a"), "0123x");
  EXPECT_TRUE(this->fs_.truncate(this->path("a"), 5));
  EXPECT_EQ(this->code_of(this->fs_.truncate(this->path("a"), 6), "a"), ErrorCode::kInvalid);
  EXPECT_TRUE(this->fs_.truncate(this->path("a"), 0));
  EXPECT_EQ(this->read("a"), "");
}

TYPED_TEST(FileSystemTest, RenameMovesAndReplaces) {
  this->write("a", "new");
  this->write("b", "old");
  EXPECT_TRUE(this->fs_.rename(this->path("a"), this->path("b")));
  EXPECT_EQ(this->list(), Names{"b"});
  EXPECT_EQ(this->read("b"), "new");
  ASSERT_TRUE(this->fs_.make_dirs(this->path("dir")));
  EXPECT_TRUE(this->fs_.rename(this->path("b"), this->path("dir/c")));
  EXPECT_EQ(this->read("dir/c"), "new");
  EXPECT_EQ(this->list(), Names{"dir"});
  EXPECT_TRUE(this->fs_.rename(this->path("dir/c"), this->path("dir/c")));
  EXPECT_EQ(this->read("dir/c"), "new");
}

TYPED_TEST(FileSystemTest, AnOpenFileFollowsItsRenameAndOutlivesItsName) {
  auto file = this->fs_.create(this->path("a"));
  ASSERT_TRUE((*file)->append("one"));
  ASSERT_TRUE(this->fs_.rename(this->path("a"), this->path("b")));
  ASSERT_TRUE((*file)->append("two"));
  EXPECT_EQ(this->read("b"), "onetwo");
  const auto reader = this->fs_.open_read(this->path("b"));
  ASSERT_TRUE(this->fs_.remove(this->path("b")));
  EXPECT_TRUE((*file)->append("three"));
  EXPECT_TRUE((*file)->sync());
  std::string out;
  EXPECT_TRUE((*reader)->read_at(0, 100, &out));
  EXPECT_EQ(out, "onetwothree");
  EXPECT_EQ(this->list(), Names{});
}

TYPED_TEST(FileSystemTest, RenameRefusesWhatCannotBe) {
  this->write("file", "x");
  ASSERT_TRUE(this->fs_.make_dirs(this->path("dir/below")));
  ASSERT_TRUE(this->fs_.make_dirs(this->path("empty")));
  const auto rename = [&](const std::string& from, const std::string& to) {
    return this->code_of(this->fs_.rename(this->path(from), this->path(to)), this->path(from));
  };
  EXPECT_EQ(rename("none", "x"), ErrorCode::kNotFound);
  EXPECT_EQ(rename("file", "none/x"), ErrorCode::kNotFound);
  EXPECT_EQ(rename("file", "dir"), ErrorCode::kInvalid);
  EXPECT_EQ(rename("dir", "file"), ErrorCode::kNotFound);
  EXPECT_EQ(rename("dir", "dir/below/x"), ErrorCode::kInvalid);
  EXPECT_EQ(rename("empty", "dir"), ErrorCode::kExists);
  EXPECT_TRUE(this->fs_.rename(this->path("dir"), this->path("empty")));
  EXPECT_EQ(this->list("empty"), Names{"below"});
}

TYPED_TEST(FileSystemTest, RemoveTakesAFileAway) {
  this->write("a", "x");
  EXPECT_TRUE(this->fs_.remove(this->path("a")));
  EXPECT_EQ(*this->fs_.exists(this->path("a")), false);
  EXPECT_EQ(this->code_of(this->fs_.remove(this->path("a")), "a"), ErrorCode::kNotFound);
}

TYPED_TEST(FileSystemTest, MakeDirsMakesParentsAndMayBeRepeated) {
  EXPECT_TRUE(this->fs_.make_dirs(this->path("a/b//c/")));
  EXPECT_TRUE(this->fs_.make_dirs(this->path("a/b/c")));
  EXPECT_TRUE(this->fs_.make_dirs(this->path("a/b/d")));
  EXPECT_EQ(this->list("a/b"), (Names{"c", "d"}));
  EXPECT_EQ(*this->fs_.exists(this->path("a/b/c")), true);
}

TYPED_TEST(FileSystemTest, ListIsSortedByBytes) {
  for (const std::string name : {"b", "a", "ä", "B", "10", "9", ".hidden"}) this->write(name, "");
  ASSERT_TRUE(this->fs_.make_dirs(this->path("c")));
  EXPECT_EQ(this->list(), (Names{".hidden", "10", "9", "B", "a", "b", "c", "ä"}));
}

TYPED_TEST(FileSystemTest, ALockHasOneHolderAtATime) {
  auto lock = this->fs_.lock(this->path("LOCK"));
  ASSERT_TRUE(lock);
  EXPECT_EQ(this->code_of(this->fs_.lock(this->path("LOCK")), "LOCK"), ErrorCode::kBusy);
  EXPECT_TRUE(this->fs_.lock(this->path("OTHER")));
  lock->reset();
  EXPECT_TRUE(this->fs_.lock(this->path("LOCK")));
  EXPECT_TRUE(this->fs_.lock(this->path("LOCK")));  // the one before is gone already
}

TYPED_TEST(FileSystemTest, FreeSpaceIsKnown) { EXPECT_GT(*this->fs_.free_space(this->root_), 0); }

TYPED_TEST(FileSystemTest, WriteFileAtomicallyReplacesAndLeavesNothingElse) {
  EXPECT_TRUE(write_file_atomically(this->fs_, this->path("a"), "one"));
  this->write("a.new", "left by a crash");
  EXPECT_TRUE(write_file_atomically(this->fs_, this->path("a"), "two"));
  EXPECT_EQ(this->read("a"), "two");
  EXPECT_EQ(this->list(), Names{"a"});
  EXPECT_EQ(this->code_of(write_file_atomically(this->fs_, this->path("no/a"), ""), "no/a"),
            ErrorCode::kNotFound);
}

template <typename Disk>
class FileSystemThreadsTest : public FileSystemTest<Disk> {};
TYPED_TEST_SUITE(FileSystemThreadsTest, Disks);

TYPED_TEST(FileSystemThreadsTest, EachThreadHasItsFiles) {
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const std::string name = fmt::format("file{}", t);
        ASSERT_TRUE(this->fs_.make_dirs(this->path("dir")));
        auto file = this->fs_.create(this->path(name));
        ASSERT_TRUE(file);
        for (int i = 0; i < 50; ++i) ASSERT_TRUE((*file)->append("x"));
        ASSERT_TRUE((*file)->sync());
        ASSERT_TRUE(this->fs_.rename(this->path(name), this->path("dir/" + name)));
        ASSERT_TRUE(this->fs_.sync_dir(this->path("dir")));
        EXPECT_TRUE(this->fs_.list(this->root_));
      });
    }
  }
  EXPECT_EQ(this->list("dir"), (Names{"file0", "file1", "file2", "file3"}));
  EXPECT_EQ(this->read("dir/file3"), std::string(50, 'x'));
}

TYPED_TEST(FileSystemThreadsTest, ReadersMayShareAFileThatGrows) {
  auto writer = this->fs_.create(this->path("a"));
  const auto reader = this->fs_.open_read(this->path("a"));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      std::string out;
      while (out.size() < 1000) {
        ASSERT_TRUE((*reader)->read_at(0, 2000, &out));
        ASSERT_EQ(out.find_first_not_of('x'), std::string::npos);
      }
    });
  }
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE((*writer)->append("x"));
}

TYPED_TEST(FileSystemThreadsTest, OneWinsTheRaceForALock) {
  std::vector<std::jthread> threads;
  std::vector<base::Result<std::unique_ptr<FileLock>>> locks(4);
  for (auto& lock : locks) {
    threads.emplace_back([&] { lock = this->fs_.lock(this->path("LOCK")); });
  }
  threads.clear();
  EXPECT_EQ(std::ranges::count_if(locks, [](const auto& lock) { return lock.has_value(); }), 1);
}

TEST(Path, ParentIsWhatStandsBeforeTheLastSlash) {
  EXPECT_EQ(parent_of("a/b/c"), "a/b");
  EXPECT_EQ(parent_of("a"), ".");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/a/b"), "/a");
}

}  // namespace
}  // namespace meguri::env
