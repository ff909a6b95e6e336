#include "env/scratch_folder.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "env/posix_file_system.h"
#include "env/testing.h"

namespace meguri::env {
namespace {

TEST(ScratchFolder, IsGoneWithAllThatIsInIt) {
  PosixFileSystem files;
  std::string path;
  {
    auto folder = ScratchFolder::make("meguri-test");
    ASSERT_TRUE(folder);
    path = folder->path();
    ASSERT_TRUE(files.make_dirs(path + "/a/b"));
    ASSERT_TRUE(write_file_atomically(files, path + "/a/b/c", "x"));
    const ScratchFolder moved = std::move(*folder);
    EXPECT_TRUE(*files.exists(path));
  }
  EXPECT_FALSE(*files.exists(path));
}

TEST(ScratchFolder, StaysWhenItIsKept) {
  const TempDir dir;
  PosixFileSystem files;
  {
    auto folder = ScratchFolder::make_at(dir.path("a/b"));
    ASSERT_TRUE(folder);
    folder->keep();
  }
  EXPECT_TRUE(*files.exists(dir.path("a/b")));
}

TEST(ScratchFolder, TakesNoFolderThatHoldsSomething) {
  const TempDir dir;
  PosixFileSystem files;
  ASSERT_TRUE(files.make_dirs(dir.path("a/b")));
  const auto folder = ScratchFolder::make_at(dir.path("a"));
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code(), base::ErrorCode::kInvalid);
  EXPECT_TRUE(*files.exists(dir.path("a/b")));
}

TEST(ScratchFolder, OnlyEmptyFoldersAreRemovedByName) {
  const TempDir dir;
  PosixFileSystem files;
  ASSERT_TRUE(files.make_dirs(dir.path("a/b")));
  EXPECT_EQ(remove_empty_folder(dir.path("a")).error().code(), base::ErrorCode::kExists);
  ASSERT_TRUE(remove_empty_folder(dir.path("a/b")));
  EXPECT_FALSE(*files.exists(dir.path("a/b")));
  EXPECT_EQ(remove_empty_folder(dir.path("a/b")).error().code(), base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace meguri::env
