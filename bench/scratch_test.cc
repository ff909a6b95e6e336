#include "bench/scratch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>

namespace meguri::bench {
namespace {

TEST(Scratch, IsRemovedWithItsFiles) {
  std::string path;
  {
    const base::Result<Scratch> scratch = Scratch::make("");
    ASSERT_TRUE(scratch.has_value()) << scratch.error().message();
    path = scratch->path();
    std::filesystem::create_directory(path + "/a");
    std::ofstream(path + "/a/b") << "x";
    EXPECT_TRUE(std::filesystem::exists(path + "/a/b"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Scratch, KeepsWhatElseIsInItsParent) {
  const base::Result<Scratch> parent = Scratch::make("");
  ASSERT_TRUE(parent.has_value());
  std::ofstream(parent->path() + "/mine") << "x";
  {
    const base::Result<Scratch> scratch = Scratch::make(parent->path());
    ASSERT_TRUE(scratch.has_value());
  }
  EXPECT_TRUE(std::filesystem::exists(parent->path() + "/mine"));
}

TEST(Scratch, ParentThatCannotBeMadeIsAnError) {
  const base::Result<Scratch> scratch = Scratch::make("/proc/none");
  ASSERT_FALSE(scratch.has_value());
  EXPECT_NE(scratch.error().message().find("/proc/none"), std::string::npos);
}

TEST(ScratchDeathTest, IsRemovedWhenInterrupted) {
  const base::Result<Scratch> parent = Scratch::make("");
  ASSERT_TRUE(parent.has_value());
  EXPECT_EXIT(
      {
        const base::Result<Scratch> scratch = Scratch::make(parent->path());
        std::raise(SIGTERM);
      },
      testing::ExitedWithCode(1), "");
  EXPECT_TRUE(std::filesystem::is_empty(parent->path()));
}

}  // namespace
}  // namespace meguri::bench
