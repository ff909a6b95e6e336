#include "app/result_file.h"

#include <gtest/gtest.h>

#include <string>

#include "env/memory_file_system.h"

namespace meguri::app {
namespace {

TEST(ResultFile, IsThereWholeOrNotAtAll) {
  env::MemoryFileSystem files;
  ASSERT_TRUE(files.make_dirs("/d"));
  Output out(stdout);
  ASSERT_TRUE(env::write_file_atomically(files, "/d/result", "before"));
  {
    const auto result = ResultFile::open(files, "/d/result", out).value();
    ASSERT_TRUE(result->write(std::string(3U << 20U, 'x')));
    EXPECT_EQ(env::read_file(files, "/d/result").value(), "before");
  }
  EXPECT_EQ(files.list("/d").value(), std::vector<std::string>{"result"});
  // Left by one that was killed.
  ASSERT_TRUE(env::write_file_atomically(files, "/d/result.part", "half"));
  const auto result = ResultFile::open(files, "/d/result", out).value();
  ASSERT_TRUE(result->write("after"));
  ASSERT_TRUE(result->finish());
  EXPECT_EQ(result->bytes(), 5U);
  EXPECT_EQ(env::read_file(files, "/d/result").value(), "after");
  EXPECT_EQ(files.list("/d").value(), std::vector<std::string>{"result"});
}

}  // namespace
}  // namespace meguri::app
