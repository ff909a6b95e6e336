#include "env/overlay_file_system.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/memory_file_system.h"

namespace meguri::env {
namespace {

using base::ErrorCode;
using Names = std::vector<std::string>;

class OverlayFileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(below_.make_dirs("/disk"));
    ASSERT_TRUE(scratch_.make_dirs("/scratch"));
    ASSERT_TRUE(write_file_atomically(below_, "/disk/a", "first"));
    ASSERT_TRUE(write_file_atomically(below_, "/disk/b", "second"));
  }
  // Whatever was done, this has not happened below.
  void TearDown() override {
    EXPECT_EQ(below_.list("/disk").value(), (Names{"a", "b"}));
    EXPECT_EQ(read_file(below_, "/disk/a").value(), "first");
    EXPECT_EQ(read_file(below_, "/disk/b").value(), "second");
  }

  MemoryFileSystem below_;
  MemoryFileSystem scratch_;
  OverlayFileSystem files_{below_, scratch_, "/scratch"};
};

TEST_F(OverlayFileSystemTest, ShowsWhatIsBelow) {
  EXPECT_EQ(files_.list("/disk").value(), (Names{"a", "b"}));
  EXPECT_EQ(read_file(files_, "/disk/a").value(), "first");
  EXPECT_EQ(files_.size("/disk/b").value(), 6U);
  EXPECT_FALSE(files_.exists("/disk/c").value());
  EXPECT_EQ(files_.open_read("/disk/c").error().code(), ErrorCode::kNotFound);
  EXPECT_FALSE(files_.list("/nowhere"));
}

TEST_F(OverlayFileSystemTest, CutsAndRemovesHereAlone) {
  ASSERT_TRUE(files_.truncate("/disk/a", 3));
  EXPECT_EQ(read_file(files_, "/disk/a").value(), "fir");
  EXPECT_EQ(files_.size("/disk/a").value(), 3U);
  EXPECT_EQ(files_.stamp("/disk/a")->size, 3U);
  EXPECT_FALSE(files_.truncate("/disk/a", 4));
  ASSERT_TRUE(files_.punch("/disk/a", 0, 3));
  ASSERT_TRUE(files_.remove("/disk/b"));
  EXPECT_FALSE(files_.exists("/disk/b").value());
  EXPECT_FALSE(files_.open_read("/disk/b"));
  EXPECT_FALSE(files_.size("/disk/b"));
  EXPECT_EQ(files_.remove("/disk/b").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(files_.list("/disk").value(), Names{"a"});
}

TEST_F(OverlayFileSystemTest, KeepsNewFilesElsewhere) {
  EXPECT_EQ(files_.create("/disk/a").error().code(), ErrorCode::kExists);
  EXPECT_EQ(files_.create("/none/a").error().code(), ErrorCode::kNotFound);
  auto file = files_.create("/disk/c").value();
  ASSERT_TRUE(file->append("third"));
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(read_file(files_, "/disk/c").value(), "third");
  EXPECT_EQ(files_.list("/disk").value(), (Names{"a", "b", "c"}));
  ASSERT_TRUE(files_.remove("/disk/c"));
  EXPECT_FALSE(files_.exists("/disk/c").value());
  // A name that was removed is free.
  ASSERT_TRUE(files_.remove("/disk/b"));
  ASSERT_TRUE(files_.open_append("/disk/b").value()->append("new"));
  EXPECT_EQ(read_file(files_, "/disk/b").value(), "new");
}

TEST_F(OverlayFileSystemTest, MakesFoldersThatAreNotBelow) {
  ASSERT_TRUE(files_.make_dirs("/disk"));
  ASSERT_TRUE(files_.make_dirs("/disk/x/y"));
  ASSERT_TRUE(files_.create("/disk/x/y/f"));
  EXPECT_EQ(files_.list("/disk/x/y").value(), Names{"f"});
  EXPECT_EQ(files_.list("/disk").value(), (Names{"a", "b", "x"}));
}

TEST_F(OverlayFileSystemTest, RefusesWhatItCannotPretend) {
  auto file = files_.open_append("/disk/a").value();
  EXPECT_EQ(file->size(), 5U);
  EXPECT_EQ(file->append("more").error().code(), ErrorCode::kDenied);
  EXPECT_EQ(files_.rename("/disk/a", "/disk/c").error().code(), ErrorCode::kDenied);
  EXPECT_EQ(files_.lock("/disk/lock").error().code(), ErrorCode::kDenied);
}

}  // namespace
}  // namespace meguri::env
