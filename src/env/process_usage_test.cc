#include "env/process_usage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace meguri::env {
namespace {

TEST(ProcessUsage, CountsFilesAndMemory) {
  const ProcessUsage before = process_usage();
  EXPECT_GT(before.open_files_max, 0U);
  std::vector<int> opened(10);
  for (int& descriptor : opened) descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::vector<char> memory(std::size_t{32} << 20U, 'x');
  const ProcessUsage after = process_usage();
  EXPECT_EQ(after.open_files, before.open_files + 10);
  EXPECT_GE(after.resident_bytes, before.resident_bytes + memory.size() / 2);
  EXPECT_GE(after.cpu_seconds, before.cpu_seconds);
  for (const int descriptor : opened) ::close(descriptor);
}

}  // namespace
}  // namespace meguri::env
