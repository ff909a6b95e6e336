#include "scan/limits.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "base/check.h"
#include "env/process_usage.h"
#include "env/testing.h"

namespace meguri::scan {
namespace {

using env::ChildProcess;
using env::ChildProgram;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

std::string outcome_of(long returned) { return returned >= 0 ? "works" : ::strerrorname_np(errno); }

void apply(const ProcessLimits& limits) {
  const auto status = apply_limits(limits);
  CHECK(status.has_value(), "{}", status.error().message());
}

void say_sockets() {
  std::array<int, 2> pair{};
  ChildProgram::say(outcome_of(::socket(AF_INET, SOCK_STREAM, 0)));
  ChildProgram::say(outcome_of(::socket(AF_INET6, SOCK_DGRAM, 0)));
  ChildProgram::say(outcome_of(::socket(AF_NETLINK, SOCK_RAW, 0)));
  ChildProgram::say(outcome_of(::socketpair(AF_INET, SOCK_STREAM, 0, pair.data())));
  ChildProgram::say(outcome_of(::socket(AF_UNIX, SOCK_STREAM, 0)));
  ChildProgram::say(outcome_of(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data())));
}

const ChildProgram without_network("scan_without_network", [](const std::string&) {
  apply({.memory_max = 0, .has_network = false});
  say_sockets();
});

TEST(Limits, LeaveOnlySocketsOfTheFileSystem) {
  ChildProcess child(without_network, "");
  for (const char* const expected : {"EACCES", "EACCES", "EACCES", "EACCES", "works", "works"}) {
    EXPECT_EQ(child.read_line(), expected);
  }
  EXPECT_TRUE(child.wait());
}

const ChildProgram with_network("scan_with_network", [](const std::string&) {
  apply({.memory_max = 0, .has_network = true});
  ChildProgram::say(outcome_of(::socket(AF_INET, SOCK_STREAM, 0)));
});

TEST(Limits, LeaveTheNetworkToWhomItIsAllowed) {
  ChildProcess child(with_network, "");
  EXPECT_EQ(child.read_line(), "works");
  EXPECT_TRUE(child.wait());
}

// A number above 32 bits whose lower ones are AF_INET, as if it were none.
const ChildProgram odd_calls("scan_odd_calls", [](const std::string&) {
  apply({.memory_max = 0, .has_network = false});
  const long inet = (1L << 32) | AF_INET;
  const long above = (1L << 32) | AF_UNIX;
  ChildProgram::say(outcome_of(::syscall(SYS_socket, inet, SOCK_STREAM, 0)));
  ChildProgram::say(outcome_of(::syscall(SYS_socket, above, SOCK_STREAM, 0)));
  ChildProgram::say(outcome_of(::syscall(SYS_io_uring_setup, 1, nullptr)));
});

TEST(Limits, AreNotPassedByOddCalls) {
  ChildProcess child(odd_calls, "");
  EXPECT_EQ(child.read_line(), "EACCES");
  EXPECT_EQ(child.read_line(), "EACCES");
  EXPECT_EQ(child.read_line(), "ENOSYS");
  EXPECT_TRUE(child.wait());
}

#ifdef __x86_64__
// getpid() as a program of 32 bits calls it.
const ChildProgram foreign_call("scan_foreign_call", [](const std::string&) {
  apply({.memory_max = 0, .has_network = false});
  long number = 20;
  asm volatile("int $0x80" : "+a"(number) : : "memory");
  ChildProgram::say("passed");
});

TEST(Limits, EndWhoCallsAsAnotherProcessor) {
  ChildProcess child(foreign_call, "");
  EXPECT_EQ(child.read_line(), "");
  EXPECT_FALSE(child.wait());
}
#endif

const ChildProgram other_thread("scan_other_thread", [](const std::string&) {
  std::array<int, 2> ends{};
  CHECK(::pipe(ends.data()) == 0);
  std::thread earlier([&ends] {
    char byte = 0;
    CHECK(::read(ends[0], &byte, 1) == 1);
    ChildProgram::say(outcome_of(::socket(AF_INET, SOCK_STREAM, 0)));
  });
  apply({.memory_max = 0, .has_network = false});
  CHECK(::write(ends[1], "x", 1) == 1);
  earlier.join();
});

TEST(Limits, HoldForThreadsThatRanBefore) {
  ChildProcess child(other_thread, "");
  EXPECT_EQ(child.read_line(), "EACCES");
  EXPECT_TRUE(child.wait());
}

// The filter is made before the fork, and set behind it, as for a program.
const ChildProgram python("scan_python", [](const std::string&) {
  const auto filter = NetworkFilter::make();
  CHECK(filter.has_value(), "{}", filter.error().message());
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (!filter->apply()) ::_exit(126);
    ::execlp("python3", "python3", "-c",
             "import socket\n"
             "try:\n"
             "  socket.socket(socket.AF_INET)\n"
             "  print('works')\n"
             "except PermissionError:\n"
             "  print('denied')\n"
             "socket.socket(socket.AF_UNIX)\n"
             "print('works')\n",
             nullptr);
    ::_exit(127);
  }
  int status = 0;
  CHECK(::waitpid(pid, &status, 0) == pid);
  CHECK(status == 0, "python3 ended with {}", status);
  ChildProgram::say(outcome_of(::socket(AF_INET, SOCK_STREAM, 0)));
});

TEST(Limits, AreInheritedByProgramsAndLeaveTheParentAlone) {
  ChildProcess child(python, "");
  EXPECT_EQ(child.read_line(), "denied");
  EXPECT_EQ(child.read_line(), "works");
  EXPECT_EQ(child.read_line(), "works");
  EXPECT_TRUE(child.wait());
}

const ChildProgram core_dump("scan_core_dump", [](const std::string&) {
  apply({.memory_max = 0, .has_network = true});
  rlimit limit{};
  CHECK(::getrlimit(RLIMIT_CORE, &limit) == 0);
  ChildProgram::say(std::to_string(limit.rlim_max));
});

TEST(Limits, LeaveNoCoreDumps) {
  ChildProcess child(core_dump, "");
  EXPECT_EQ(child.read_line(), "0");
  EXPECT_TRUE(child.wait());
}

std::string outcome_of_mapping(std::uint64_t bytes) {
  const void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? outcome_of(-1) : "works";
}

const ChildProgram memory("scan_memory", [](const std::string&) {
  apply({.memory_max = env::process_usage().address_bytes + 256 * kMiB, .has_network = true});
  ChildProgram::say(outcome_of_mapping(64 * kMiB));
  ChildProgram::say(outcome_of_mapping(256 * kMiB));
});

TEST(Limits, BoundMemoryButUnderASanitizer) {
  ChildProcess child(memory, "");
  EXPECT_EQ(child.read_line(), "works");
  EXPECT_EQ(child.read_line(), can_limit_memory() ? "ENOMEM" : "works");
  EXPECT_TRUE(child.wait());
}

const ChildProgram little_memory("scan_little_memory", [](const std::string&) {
  const auto status = apply_limits({.memory_max = 1, .has_network = true});
  ChildProgram::say(status ? "" : status.error().message());
});

TEST(Limits, SayThatTheProcessIsAboveThemAlready) {
  ChildProcess child(little_memory, "");
  const std::string line = child.read_line();
  EXPECT_EQ(line.starts_with("an analyser may take 1 bytes of memory"), can_limit_memory()) << line;
  EXPECT_TRUE(child.wait());
}

}  // namespace
}  // namespace meguri::scan
