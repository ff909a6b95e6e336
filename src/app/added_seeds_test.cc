#include "app/added_seeds.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "env/crash_points.h"
#include "env/memory_file_system.h"

namespace meguri::app {
namespace {

using Urls = std::vector<std::string>;

TEST(AddedSeeds, AreReadInTheirOrderAndEachOnce) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs("a"));
  EXPECT_EQ(read_added_seeds(files, "a").value(), Urls{});
  const AddedSeeds first = append_added_seeds(files, "a", {"http://b/", "http://a/"}).value();
  EXPECT_EQ(first.fresh, 2U);
  const AddedSeeds again =
      append_added_seeds(files, "a", {"http://a/", "http://c/", "http://c/"}).value();
  EXPECT_EQ(again.fresh, 1U);
  EXPECT_EQ(again.known, 2U);
  EXPECT_EQ(read_added_seeds(files, "a").value(), (Urls{"http://b/", "http://a/", "http://c/"}));
}

TEST(AddedSeeds, ATornLineIsNoSeed) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs("a"));
  ASSERT_TRUE(env::write_file_atomically(files, "a/seeds.txt", "http://a/\r\n\nhttp://tor"));
  EXPECT_EQ(read_added_seeds(files, "a").value(), Urls{"http://a/"});
  ASSERT_TRUE(append_added_seeds(files, "a", {"http://b/"}));
  EXPECT_EQ(read_added_seeds(files, "a").value(), (Urls{"http://a/", "http://b/"}));
}

// What was acknowledged is there, and nothing is there that was not added.
TEST(AddedSeeds, OutliveACrashAtEveryWrite) {
  const auto url_of = [](std::size_t i) { return "http://host-" + std::to_string(i) + "/"; };
  std::size_t acknowledged = 0;
  const auto changes = env::for_each_crash_point(
      {},
      [&](env::FaultyFileSystem& files) {
        acknowledged = 0;
        ASSERT_TRUE(files.make_dirs("a"));
      },
      [&](env::FaultyFileSystem& files) {
        while (acknowledged < 4 && append_added_seeds(files, "a", {url_of(acknowledged)})) {
          ++acknowledged;
        }
      },
      [&](env::FaultyFileSystem& files, env::CrashPoint point) {
        SCOPED_TRACE(point.change);
        const Urls found = read_added_seeds(files, "a").value();
        ASSERT_GE(found.size(), acknowledged);
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], url_of(i));
        EXPECT_TRUE(append_added_seeds(files, "a", {"http://more/"}));
        EXPECT_EQ(read_added_seeds(files, "a").value().back(), "http://more/");
      });
  EXPECT_GT(changes, 4U);
}

}  // namespace
}  // namespace meguri::app
