#include "bench/control_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace meguri::bench {
namespace {

TEST(ControlGroupMount, IsTheOneOfTheSecondVersion) {
  EXPECT_EQ(control_group_mount("cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
                                "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n"),
            "/sys/fs/cgroup/unified");
  EXPECT_EQ(control_group_mount("cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"), "");
  EXPECT_EQ(control_group_mount("cgroup2\n\n"), "");
  EXPECT_EQ(control_group_mount(""), "");
}

TEST(ControlGroupOf, IsTheLineWithoutControllers) {
  EXPECT_EQ(control_group_of("4:memory:/other\n0::/user.slice/session\n"), "/user.slice/session");
  EXPECT_EQ(control_group_of("0::/\n"), "/");
  EXPECT_EQ(control_group_of("10::/x\n4:memory:/other\n"), "");
}

TEST(ControlGroupParents, GoUpToTheMount) {
  EXPECT_EQ(control_group_parents("/m", "/a/b"),
            (std::vector<std::string>{"/m/a/b", "/m/a", "/m"}));
  EXPECT_EQ(control_group_parents("/m", "/"), std::vector<std::string>{"/m"});
  EXPECT_EQ(control_group_parents("/m", ""), std::vector<std::string>{"/m"});
}

// Plain folders and files, which look the same.
class ControlGroups : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = testing::TempDir() + "control_group_test." + std::to_string(::getpid());
    std::filesystem::create_directories(dir_ + "/inner");
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  static std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string dir_;
};

TEST_F(ControlGroups, AreMadeWhereMemoryIsHandedOut) {
  write(dir_ + "/inner/cgroup.subtree_control", "cpu memory_other\n");
  write(dir_ + "/cgroup.subtree_control", "cpu memory pids\n");
  const auto group = ControlGroup::make_in({dir_ + "/inner", dir_}, 12345).value();
  EXPECT_EQ(std::filesystem::path(group->path()).parent_path(), dir_);
  EXPECT_EQ(read(group->path() + "/memory.max"), "12345\n");
  ASSERT_TRUE(group->enter());
  EXPECT_EQ(read(group->path() + "/cgroup.procs"), std::to_string(::getpid()) + "\n");
  EXPECT_FALSE(group->peak_bytes());
  write(group->path() + "/memory.peak", "777\n");
  EXPECT_EQ(group->peak_bytes(), 777U);
}

TEST_F(ControlGroups, AreNotMadeWhereMemoryIsNotHandedOut) {
  write(dir_ + "/cgroup.subtree_control", "hugetlb\n");
  const auto group = ControlGroup::make_in({dir_ + "/inner", dir_}, 12345);
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code(), base::ErrorCode::kUnsupported);
}

TEST_F(ControlGroups, AreGoneAfterwards) {
  write(dir_ + "/cgroup.subtree_control", "memory\n");
  auto group = ControlGroup::make_in({dir_}, 1).value();
  const std::string path = group->path();
  // A plain folder has to be emptied for this.
  std::filesystem::remove(path + "/memory.max");
  group.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace meguri::bench
