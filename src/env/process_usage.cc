#include "env/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace meguri::env {

namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void read_memory(ProcessUsage& usage) {
  std::ifstream file("/proc/self/statm");
  std::uint64_t mapped = 0;
  std::uint64_t resident = 0;
  file >> mapped >> resident;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  usage.address_bytes = mapped * page_bytes;
  usage.resident_bytes = resident * page_bytes;
}

// The descriptor that lists them is among them.
std::uint64_t open_files() {
  std::error_code error;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

ProcessUsage process_usage() {
  ProcessUsage usage;
  rusage times{};
  if (::getrusage(RUSAGE_SELF, &times) == 0) {
    usage.cpu_seconds = seconds_of(times.ru_utime) + seconds_of(times.ru_stime);
  }
  read_memory(usage);
  usage.open_files = open_files();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) usage.open_files_max = limit.rlim_cur;
  return usage;
}

void raise_open_files_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace meguri::env
