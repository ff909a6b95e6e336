// What every FileSystem promises, asked of each of them.
#include "env/file_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
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

// One of the file systems, with an empty folder to work in.
struct Disk {
  virtual ~Disk() = default;
  virtual FileSystem& fs() = 0;
  virtual std::string root() = 0;
};

struct PosixDisk final : Disk {
  TempDir dir;
  PosixFileSystem disk;
  FileSystem& fs() override { return disk; }
  std::string root() override { return dir.path(); }
};

template <typename Kind>
struct ModelDisk final : Disk {
  Kind disk;
  FileSystem& fs() override { return disk; }
  std::string root() override { return disk.make_dirs("/disk") ? "/disk" : ""; }
};

struct DiskKind {
  std::string name;
  std::unique_ptr<Disk> (*make)();
};

template <typename Kind>
std::unique_ptr<Disk> make_disk() {
  return std::make_unique<Kind>();
}

class FileSystemTest : public testing::TestWithParam<DiskKind> {
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

  const std::unique_ptr<Disk> disk_ = GetParam().make();
  FileSystem& fs_ = disk_->fs();
  const std::string root_ = disk_->root();
};

class FileSystemThreadsTest : public FileSystemTest {};

const auto all_disks = testing::Values(DiskKind{"Posix", make_disk<PosixDisk>},
                                       DiskKind{"Memory", make_disk<ModelDisk<MemoryFileSystem>>},
                                       DiskKind{"Faulty", make_disk<ModelDisk<FaultyFileSystem>>});
constexpr auto kName = [](const auto& test) { return test.param.name; };
INSTANTIATE_TEST_SUITE_P(Disks, FileSystemTest, all_disks, kName);
INSTANTIATE_TEST_SUITE_P(Disks, FileSystemThreadsTest, all_disks, kName);

TEST_P(FileSystemTest, WhatIsAppendedIsRead) {
  auto file = fs_.create(path("a"));
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->size(), 0);
  EXPECT_TRUE((*file)->append("hello "));
  EXPECT_TRUE((*file)->append(""));
  EXPECT_TRUE((*file)->append("world"));
  EXPECT_EQ((*file)->size(), 11);
  EXPECT_EQ(read("a"), "hello world");
  EXPECT_TRUE((*file)->sync());
  EXPECT_EQ(*fs_.size(path("a")), 11);
}

TEST_P(FileSystemTest, AStampTellsThatAFileHasChanged) {
  EXPECT_FALSE(fs_.stamp(path("a")));
  write("a", "one");
  const FileStamp first = fs_.stamp(path("a")).value();
  EXPECT_EQ(first.size, 3);
  EXPECT_EQ(fs_.stamp(path("a")).value(), first);
  ASSERT_TRUE(write_file_atomically(fs_, path("a"), "two"));  // as long as before
  const FileStamp second = fs_.stamp(path("a")).value();
  EXPECT_FALSE(second == first);
  ASSERT_TRUE(fs_.open_append(path("a")).value()->append("three"));
  EXPECT_FALSE(fs_.stamp(path("a")).value() == second);
  EXPECT_FALSE(fs_.stamp(path("")));
}

TEST_P(FileSystemTest, BytesOfEveryValueAndLongOnesSurvive) {
  std::string bytes;
  for (int i = 0; i < 3'000'000; ++i) bytes += static_cast<char>(i * 31 / 7);
  write("long", bytes);
  EXPECT_TRUE(read("long") == bytes);
}

TEST_P(FileSystemTest, ReadsNoMoreThanAskedForWhateverTheStringHeldBefore) {
  write("a", std::string(1000, 'x'));
  const auto file = fs_.open_read(path("a"));
  ASSERT_TRUE(file);
  for (const std::size_t held : {std::size_t{0}, std::size_t{40}, std::size_t{100}}) {
    for (const std::size_t length :
         {std::size_t{1}, std::size_t{41}, std::size_t{64}, std::size_t{101}, std::size_t{150}}) {
      std::string out(held, 'y');
      ASSERT_TRUE((*file)->read_at(0, length, &out));
      EXPECT_EQ(out, std::string(length, 'x'));
    }
  }
}

TEST_P(FileSystemTest, OpenAppendCreatesOrGoesOnAtTheEnd) {
  write("a", "one");
  write("a", "two");
  const auto file = fs_.open_append(path("a"));
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->size(), 6);
  EXPECT_EQ(read("a"), "onetwo");
}

TEST_P(FileSystemTest, CreateRefusesWhatExists) {
  write("a", "one");
  EXPECT_EQ(code_of(fs_.create(path("a")), path("a")), ErrorCode::kExists);
  EXPECT_EQ(read("a"), "one");
}

TEST_P(FileSystemTest, FilesNeedTheirFolder) {
  const std::string lost = path("none/a");
  EXPECT_EQ(code_of(fs_.create(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.open_append(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.open_read(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.lock(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.list(path("none")), "none"), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.sync_dir(path("none")), "none"), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.size(lost), lost), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.truncate(lost, 0), lost), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.free_space(lost), lost), ErrorCode::kNotFound);
}

TEST_P(FileSystemTest, AFileIsNoFolderAndAFolderNoFile) {
  write("file", "x");
  ASSERT_TRUE(fs_.make_dirs(path("dir")));
  const std::string below = path("file/below");
  EXPECT_EQ(code_of(fs_.create(below), below), ErrorCode::kNotFound);
  EXPECT_EQ(*fs_.exists(below), false);
  EXPECT_EQ(code_of(fs_.list(path("file")), "file"), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.sync_dir(path("file")), "file"), ErrorCode::kNotFound);
  EXPECT_EQ(code_of(fs_.make_dirs(path("file")), "file"), ErrorCode::kExists);
  EXPECT_EQ(code_of(fs_.make_dirs(path("file/d")), "file"), ErrorCode::kExists);
  const std::string dir = path("dir");
  EXPECT_EQ(code_of(fs_.open_append(dir), dir), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(fs_.open_read(dir), dir), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(fs_.create(dir), dir), ErrorCode::kExists);
  EXPECT_EQ(code_of(fs_.size(dir), dir), ErrorCode::kInvalid);
  EXPECT_EQ(code_of(fs_.remove(dir), dir), ErrorCode::kInvalid);
}

TEST_P(FileSystemTest, ReadsAreCutOnlyByTheEndOfTheFile) {
  write("a", "0123456789");
  const auto file = fs_.open_read(path("a"));
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

TEST_P(FileSystemTest, ReadersSeeWhatIsAppendedLater) {
  write("a", "one");
  const auto file = fs_.open_read(path("a"));
  write("a", "two");
  std::string out;
  EXPECT_TRUE((*file)->read_at(0, 100, &out));
  EXPECT_EQ(out, "onetwo");
  EXPECT_EQ(*(*file)->size(), 6);
}

TEST_P(FileSystemTest, TruncateCutsAndAppendsGoOnThere) {
  write("a", "0123456789");
  EXPECT_TRUE(fs_.truncate(path("a"), 4));
  EXPECT_EQ(read("a"), "0123");
  write("a", "x");
  EXPECT_EQ(read("a"), "0123x");
  EXPECT_TRUE(fs_.truncate(path("a"), 5));
  EXPECT_EQ(code_of(fs_.truncate(path("a"), 6), "a"), ErrorCode::kInvalid);
  EXPECT_TRUE(fs_.truncate(path("a"), 0));
  EXPECT_EQ(read("a"), "");
}

TEST_P(FileSystemTest, PunchLeavesTheRestAndTheSize) {
  const std::string bytes(20'000, 'x');
  auto file = fs_.create(path("file")).value();
  ASSERT_TRUE(file->append(bytes));
  ASSERT_TRUE(file->sync());
  ASSERT_TRUE(fs_.punch(path("file"), 4096, 8192));
  ASSERT_TRUE(file->append("end"));
  const std::string read = read_file(fs_, path("file")).value();
  ASSERT_EQ(read.size(), 20'003U);
  EXPECT_EQ(read.substr(0, 4096), bytes.substr(0, 4096));
  EXPECT_EQ(read.substr(12'288), bytes.substr(12'288) + "end");
  EXPECT_FALSE(fs_.punch(path("missing"), 0, 1));
}

TEST_P(FileSystemTest, RenameMovesAndReplaces) {
  write("a", "new");
  write("b", "old");
  EXPECT_TRUE(fs_.rename(path("a"), path("b")));
  EXPECT_EQ(list(), Names{"b"});
  EXPECT_EQ(read("b"), "new");
  ASSERT_TRUE(fs_.make_dirs(path("dir")));
  EXPECT_TRUE(fs_.rename(path("b"), path("dir/c")));
  EXPECT_EQ(read("dir/c"), "new");
  EXPECT_EQ(list(), Names{"dir"});
  EXPECT_TRUE(fs_.rename(path("dir/c"), path("dir/c")));
  EXPECT_EQ(read("dir/c"), "new");
}

TEST_P(FileSystemTest, AnOpenFileFollowsItsRenameAndOutlivesItsName) {
  auto file = fs_.create(path("a"));
  ASSERT_TRUE((*file)->append("one"));
  ASSERT_TRUE(fs_.rename(path("a"), path("b")));
  ASSERT_TRUE((*file)->append("two"));
  EXPECT_EQ(read("b"), "onetwo");
  const auto reader = fs_.open_read(path("b"));
  ASSERT_TRUE(fs_.remove(path("b")));
  EXPECT_TRUE((*file)->append("three"));
  EXPECT_TRUE((*file)->sync());
  std::string out;
  EXPECT_TRUE((*reader)->read_at(0, 100, &out));
  EXPECT_EQ(out, "onetwothree");
  EXPECT_EQ(list(), Names{});
}

TEST_P(FileSystemTest, RenameRefusesWhatCannotBe) {
  write("file", "x");
  ASSERT_TRUE(fs_.make_dirs(path("dir/below")));
  ASSERT_TRUE(fs_.make_dirs(path("empty")));
  const auto rename = [&](const std::string& from, const std::string& to) {
    return code_of(fs_.rename(path(from), path(to)), path(from));
  };
  EXPECT_EQ(rename("none", "x"), ErrorCode::kNotFound);
  EXPECT_EQ(rename("file", "none/x"), ErrorCode::kNotFound);
  EXPECT_EQ(rename("file", "dir"), ErrorCode::kInvalid);
  EXPECT_EQ(rename("dir", "file"), ErrorCode::kNotFound);
  EXPECT_EQ(rename("dir", "dir/below/x"), ErrorCode::kInvalid);
  EXPECT_EQ(rename("empty", "dir"), ErrorCode::kExists);
  EXPECT_TRUE(fs_.rename(path("dir"), path("empty")));
  EXPECT_EQ(list("empty"), Names{"below"});
}

TEST_P(FileSystemTest, RemoveTakesAFileAway) {
  write("a", "x");
  EXPECT_TRUE(fs_.remove(path("a")));
  EXPECT_EQ(*fs_.exists(path("a")), false);
  EXPECT_EQ(code_of(fs_.remove(path("a")), "a"), ErrorCode::kNotFound);
}

TEST_P(FileSystemTest, MakeDirsMakesParentsAndMayBeRepeated) {
  EXPECT_TRUE(fs_.make_dirs(path("a/b//c/")));
  EXPECT_TRUE(fs_.make_dirs(path("a/b/c")));
  EXPECT_TRUE(fs_.make_dirs(path("a/b/d")));
  EXPECT_EQ(list("a/b"), (Names{"c", "d"}));
  EXPECT_EQ(*fs_.exists(path("a/b/c")), true);
}

TEST_P(FileSystemTest, ListIsSortedByBytes) {
  for (const std::string name : {"b", "a", "ä", "B", "10", "9", ".hidden"}) write(name, "");
  ASSERT_TRUE(fs_.make_dirs(path("c")));
  EXPECT_EQ(list(), (Names{".hidden", "10", "9", "B", "a", "b", "c", "ä"}));
}

TEST_P(FileSystemTest, ALockHasOneHolderAtATime) {
  auto lock = fs_.lock(path("LOCK"));
  ASSERT_TRUE(lock);
  EXPECT_EQ(code_of(fs_.lock(path("LOCK")), "LOCK"), ErrorCode::kBusy);
  EXPECT_TRUE(fs_.lock(path("OTHER")));
  lock->reset();
  EXPECT_TRUE(fs_.lock(path("LOCK")));
  EXPECT_TRUE(fs_.lock(path("LOCK")));  // the one before is gone already
}

TEST_P(FileSystemTest, ATemporaryFileHasNoNameAndIsReadAsItGrows) {
  auto file = fs_.open_temporary(root_);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(list(), Names{});
  ASSERT_TRUE((*file)->append("abc"));
  ASSERT_TRUE((*file)->append(std::string(3'000'000, 'x')));
  std::string bytes;
  ASSERT_TRUE((*file)->read_at(2, 4, &bytes));
  EXPECT_EQ(bytes, "cxxx");
  ASSERT_TRUE((*file)->read_at(2'999'999, 100, &bytes));
  EXPECT_EQ(bytes, "xxxx");
  EXPECT_EQ((*file)->size(), 3'000'003U);
  auto other = fs_.open_temporary(root_);
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->size(), 0U);
  EXPECT_EQ(list(), Names{});
}

TEST_P(FileSystemTest, ATemporaryFileNeedsItsFolder) {
  EXPECT_EQ(code_of(fs_.open_temporary(path("none")), "none"), ErrorCode::kNotFound);
}

TEST_P(FileSystemTest, FreeSpaceIsKnown) { EXPECT_GT(*fs_.free_space(root_), 0); }

TEST_P(FileSystemTest, WriteFileAtomicallyReplacesAndLeavesNothingElse) {
  EXPECT_TRUE(write_file_atomically(fs_, path("a"), "one"));
  write("a.new", "left by a crash");
  EXPECT_TRUE(write_file_atomically(fs_, path("a"), "two"));
  EXPECT_EQ(read("a"), "two");
  EXPECT_EQ(list(), Names{"a"});
  EXPECT_EQ(code_of(write_file_atomically(fs_, path("no/a"), ""), "no/a"), ErrorCode::kNotFound);
}

TEST_P(FileSystemThreadsTest, EachThreadHasItsFiles) {
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const std::string name = fmt::format("file{}", t);
        ASSERT_TRUE(fs_.make_dirs(path("dir")));
        auto file = fs_.create(path(name));
        ASSERT_TRUE(file);
        for (int i = 0; i < 50; ++i) ASSERT_TRUE((*file)->append("x"));
        ASSERT_TRUE((*file)->sync());
        ASSERT_TRUE(fs_.rename(path(name), path("dir/" + name)));
        ASSERT_TRUE(fs_.sync_dir(path("dir")));
        EXPECT_TRUE(fs_.list(root_));
      });
    }
  }
  EXPECT_EQ(list("dir"), (Names{"file0", "file1", "file2", "file3"}));
  EXPECT_EQ(read("dir/file3"), std::string(50, 'x'));
}

TEST_P(FileSystemThreadsTest, ReadersMayShareAFileThatGrows) {
  auto writer = fs_.create(path("a"));
  const auto reader = fs_.open_read(path("a"));
  std::vector<std::jthread> threads;
  threads.reserve(4);
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

TEST_P(FileSystemThreadsTest, OneWinsTheRaceForALock) {
  std::vector<std::jthread> threads;
  threads.reserve(4);
  std::vector<base::Result<std::unique_ptr<FileLock>>> locks(4);
  for (auto& lock : locks) {
    threads.emplace_back([&] { lock = fs_.lock(path("LOCK")); });
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
