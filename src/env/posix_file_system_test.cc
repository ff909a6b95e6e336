#include "env/posix_file_system.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "env/testing.h"

namespace meguri::env {
namespace {

using base::ErrorCode;

void hold_lock(const std::string& path) {
  PosixFileSystem fs;
  const auto lock = fs.lock(path);
  ChildProgram::say(lock ? "held" : lock.error().message());
  ::pause();
}
const ChildProgram lock_holder("hold_lock", hold_lock);

TEST(PosixFileSystem, ALockSaysWhoHoldsItAndIsFreeAfterKill9) {
  const TempDir dir;
  PosixFileSystem fs;
  const std::string path = dir.path("LOCK");
  {
    ChildProcess child(lock_holder, path);
    ASSERT_EQ(child.read_line(), "held");
    const auto lock = fs.lock(path);
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().code(), ErrorCode::kBusy);
    EXPECT_EQ(lock.error().message(), fmt::format("{} is held by process {}", path, child.pid()));
    child.kill();
  }
  EXPECT_TRUE(fs.lock(path));
}

TEST(PosixFileSystem, AHeldLockIsRefusedToAnotherProcess) {
  const TempDir dir;
  PosixFileSystem fs;
  const auto lock = fs.lock(dir.path("LOCK"));
  ASSERT_TRUE(lock);
  ChildProcess child(lock_holder, dir.path("LOCK"));
  EXPECT_EQ(child.read_line(),
            fmt::format("{} is held by process {}", dir.path("LOCK"), ::getpid()));
}

TEST(PosixFileSystem, ATemporaryFileNeedsNoHelpOfTheDisk) {
  const TempDir dir;
  PosixFileSystem fs({.has_unnamed_files = false});
  const auto file = fs.open_temporary(dir.path());
  ASSERT_TRUE(file) << file.error().message();
  ASSERT_TRUE((*file)->append("abc"));
  std::string bytes;
  ASSERT_TRUE((*file)->read_at(1, 9, &bytes));
  EXPECT_EQ(bytes, "bc");
  EXPECT_TRUE(fs.list(dir.path())->empty());
  EXPECT_EQ(fs.open_temporary(dir.path("none")).error().code(), ErrorCode::kNotFound);
}

// Says which of the descriptors it inherited are files of the folder given.
void list_inherited(const std::string& dir) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(entry, ignored);
    if (target.starts_with(dir)) ChildProgram::say(target);
  }
}
const ChildProgram inheritance_lister("list_inherited", list_inherited);

TEST(PosixFileSystem, NothingOpenIsInherited) {
  const TempDir dir;
  PosixFileSystem fs;
  const auto file = fs.create(dir.path("a"));
  const auto reader = fs.open_read(dir.path("a"));
  const auto lock = fs.lock(dir.path("LOCK"));
  ASSERT_TRUE(file && reader && lock);
  ChildProcess child(inheritance_lister, dir.path());
  EXPECT_EQ(child.read_line(), "");
  EXPECT_TRUE(child.wait());
}

// Appends to a file that may not grow beyond 10,000 bytes: the kernel writes what fits and then
// refuses, as a full disk does.
void append_beyond_limit(const std::string& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{10'000, 10'000};
  CHECK(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  const std::string a(6000, 'a');
  const std::string b(6000, 'b');
  const std::string c(4000, 'c');
  PosixFileSystem fs;
  auto file = fs.create(path);
  CHECK(file && (*file)->append(a));
  const auto failed = (*file)->append(b);
  CHECK(!failed && failed.error().code() == ErrorCode::kNoSpace, "no failure, or another");
  CHECK(failed.error().message().contains(path));
  const auto size = fs.size(path);
  CHECK((*file)->size() == a.size() && size == a.size(), "the file was not cut back");
  CHECK((*file)->append(c) && (*file)->sync());
  ChildProgram::say("done");
}
const ChildProgram limited_appender("append_beyond_limit", append_beyond_limit);

TEST(PosixFileSystem, WhatWillBeSyncedIsWrittenAsItWasAppended) {
  const TempDir dir;
  std::string all;
  for (const bool writes_through : {false, true}) {
    PosixFileSystem fs({.writes_through = writes_through});
    const auto file = fs.open_append(dir.path("file")).value();
    for (std::size_t size = 1; size < 20'000; size = size * 3 + 1) {
      const std::string part(size, static_cast<char>('a' + size % 26));
      ASSERT_TRUE(file->append(part));
      file->will_sync();
      all += part;
    }
    ASSERT_TRUE(file->sync());
  }
  PosixFileSystem fs;
  EXPECT_TRUE(read_file(fs, dir.path("file")).value() == all);
}

TEST(PosixFileSystem, AFailedAppendIsCutBackAndTheFileGoesOn) {
  const TempDir dir;
  ChildProcess child(limited_appender, dir.path("a"));
  EXPECT_EQ(child.read_line(), "done");
  EXPECT_TRUE(child.wait());
  PosixFileSystem fs;
  std::string expected(6000, 'a');
  expected.append(4000, 'c');
  EXPECT_EQ(*read_file(fs, dir.path("a")), expected);
}

TEST(PosixFileSystem, AFullDeviceIsNoSpace) {
  PosixFileSystem fs;
  auto file = fs.open_append("/dev/full");
  ASSERT_TRUE(file);
  const auto failed = (*file)->append("x");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(),
            base::Error(ErrorCode::kNoSpace, "cannot write to /dev/full: No space left on device"));
  EXPECT_EQ((*file)->size(), 0);
}

TEST(PosixFileSystem, AFileThatFailedToSyncFailsForEver) {
  // A pipe cannot be synced, which is the one failure of fdatasync that can be had at will.
  const TempDir dir;
  const std::string path = dir.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  PosixFileSystem fs;
  auto file = fs.open_append(path);
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->sync());
  const auto later = (*file)->append("x");
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().message(),
            fmt::format("cannot go on writing {}: it failed to sync before", path));
  EXPECT_FALSE((*file)->sync());
  ::close(reader);
}

TEST(PosixFileSystem, MessagesSayWhatWasTriedAndWhy) {
  const TempDir dir;
  PosixFileSystem fs;
  const std::string path = dir.path("none/a");
  EXPECT_EQ(fs.open_read(path).error().message(),
            fmt::format("cannot open {}: No such file or directory", path));
  EXPECT_EQ(fs.rename(path, dir.path("b")).error().message(),
            fmt::format("cannot rename {} to {}: No such file or directory", path, dir.path("b")));
}

TEST(PosixFileSystem, AFolderThatTakesNoFilesIsAnError) {
  // /proc refuses new files to everybody, root included.
  PosixFileSystem fs;
  EXPECT_FALSE(fs.create("/proc/meguri"));
  EXPECT_FALSE(fs.make_dirs("/proc/meguri/a"));
  EXPECT_TRUE(fs.make_dirs("/proc/self"));
}

TEST(PosixFileSystem, MakeDirsWorksFromTheCurrentFolder) {
  const TempDir dir;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path());
  PosixFileSystem fs;
  EXPECT_TRUE(fs.make_dirs("a/b"));
  EXPECT_TRUE(fs.make_dirs("c"));
  EXPECT_TRUE(write_file_atomically(fs, "file", "x"));
  EXPECT_EQ(*fs.list("."), (std::vector<std::string>{"a", "c", "file"}));
  std::filesystem::current_path(before);
}

TEST(PosixFileSystem, AbsolutePathIsOneForEachFile) {
  const TempDir dir;
  PosixFileSystem fs;
  const std::string real = std::filesystem::canonical(dir.path());
  ASSERT_TRUE(fs.make_dirs(dir.path("a/b")));
  ASSERT_TRUE(write_file_atomically(fs, dir.path("a/file"), "x"));
  std::filesystem::create_symlink(dir.path("a"), dir.path("link"));
  EXPECT_EQ(*absolute_path(dir.path("a/b/../file")), real + "/a/file");
  EXPECT_EQ(*absolute_path(dir.path("link/./file")), real + "/a/file");
  EXPECT_EQ(*absolute_path(dir.path("link/none/x")), real + "/a/none/x");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir.path("a"));
  EXPECT_EQ(*absolute_path("file"), real + "/a/file");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace meguri::env
