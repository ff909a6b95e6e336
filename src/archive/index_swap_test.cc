#include "archive/index_swap.h"

#include <gtest/gtest.h>

#include "env/crash_points.h"
#include "env/faulty_file_system.h"

namespace meguri::archive {
namespace {

// Stands for a store: a folder with one file, whose text tells the stores apart.
void make_store(env::FileSystem& files, const std::string& folder, std::string_view text) {
  ASSERT_TRUE(files.make_dirs(folder));
  ASSERT_TRUE(env::write_file_atomically(files, folder + "/CURRENT", text));
}

// The memory's folders stay when they are empty.
auto remover(env::FileSystem& files) {
  return [&files](const std::string& folder) -> base::Status {
    ASSIGN_OR_RETURN(const auto names, files.list(folder));
    for (const std::string& name : names) RETURN_IF_ERROR(files.remove(folder + "/" + name));
    return files.sync_dir(folder);
  };
}

std::string text_of_index(env::FileSystem& files) {
  const auto folder = find_index(files, "/a");
  if (!folder) return folder.error().message();
  return env::read_file(files, *folder + "/CURRENT").value_or("nothing");
}

base::Status swap(env::FileSystem& files) {
  RETURN_IF_ERROR(declare_index_ready(files, "/a"));
  return settle_index(files, "/a", remover(files));
}

TEST(IndexSwap, AtEveryMomentOneOfTheTwoCounts) {
  bool is_declared = false;
  const std::uint64_t changes = env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem& fs) {
        is_declared = false;
        ASSERT_TRUE(fs.make_dirs("/a"));
        make_store(fs, "/a/index", "old");
        make_store(fs, "/a/index.build", "new");
      },
      [&](env::FaultyFileSystem& fs) {
        if (!declare_index_ready(fs, "/a")) return;
        is_declared = true;
        std::ignore = settle_index(fs, "/a", remover(fs));
      },
      [&](env::FaultyFileSystem& fs, env::CrashPoint point) {
        SCOPED_TRACE(point.change);
        const std::string text = text_of_index(fs);
        EXPECT_TRUE(text == "new" || (text == "old" && !is_declared)) << text;
        ASSERT_TRUE(settle_index(fs, "/a", remover(fs)));
        EXPECT_EQ(text_of_index(fs), text);
        EXPECT_EQ(env::read_file(fs, "/a/index/CURRENT").value(), text);
        EXPECT_FALSE(fs.exists("/a/index.new").value());
        EXPECT_FALSE(fs.exists("/a/index.old/CURRENT").value());
        if (fs.exists("/a/index.build").value()) {
          ASSERT_TRUE(swap(fs));
          EXPECT_EQ(text_of_index(fs), "new");
        }
      });
  EXPECT_GT(changes, 6U);
}

TEST(IndexSwap, NothingIsDoneWhereNothingWasDeclared) {
  env::FaultyFileSystem fs;
  ASSERT_TRUE(fs.make_dirs("/a"));
  make_store(fs, "/a/index", "old");
  make_store(fs, "/a/index.build", "half");
  ASSERT_TRUE(settle_index(fs, "/a", remover(fs)));
  EXPECT_EQ(text_of_index(fs), "old");
}

TEST(IndexSwap, ANewIndexNeedsNoOldOne) {
  env::FaultyFileSystem fs;
  ASSERT_TRUE(fs.make_dirs("/a"));
  make_store(fs, "/a/index.build", "new");
  ASSERT_TRUE(swap(fs));
  EXPECT_EQ(text_of_index(fs), "new");
}

}  // namespace
}  // namespace meguri::archive
