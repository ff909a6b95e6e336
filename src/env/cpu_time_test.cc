#include "env/cpu_time.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace meguri::env {
namespace {

TEST(CpuTime, OfThisProcessHoldsThatOfItsThread) {
  const std::int64_t before = thread_cpu_nanoseconds();
  while (thread_cpu_nanoseconds() - before < 10'000'000) continue;
  const std::int64_t thread = thread_cpu_nanoseconds();
  const auto process = process_cpu_nanoseconds(::getpid());
  ASSERT_TRUE(process);
  EXPECT_GE(*process, thread);
}

TEST(CpuTime, OfAProcessThatIsGoneIsUnknown) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_GT(child, 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(process_cpu_nanoseconds(child), std::nullopt);
}

}  // namespace
}  // namespace meguri::env
