#include "env/process_usage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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
  EXPECT_GE(after.address_bytes, after.resident_bytes);
  EXPECT_GE(after.cpu_seconds, before.cpu_seconds);
  for (const int descriptor : opened) ::close(descriptor);
}

TEST(ProcessUsage, MayHaveAsManyFilesOpenAsTheSystemAllows) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit before = limit;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 100);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  raise_open_files_max();
  EXPECT_EQ(process_usage().open_files_max, limit.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace meguri::env
