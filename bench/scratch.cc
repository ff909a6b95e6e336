#include "bench/scratch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace meguri::bench {

namespace {

char interrupted_path[PATH_MAX];  // what the signal handler removes

// A handler may not walk folders, but it may become a program that does; exec also ends all
// threads, so nothing is written behind its back.
extern "C" void remove_and_end(int /*signal*/) {
  ::execl("/bin/sh", "sh", "-c", "rm -rf \"$0\"; exit 1", interrupted_path, nullptr);
  ::_exit(1);
}

void remove_on_signals(const std::string& path) {
  if (path.size() >= sizeof interrupted_path) return;
  std::memcpy(interrupted_path, path.c_str(), path.size() + 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, remove_and_end);
}

std::string default_parent() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

}  // namespace

base::Result<Scratch> Scratch::make(std::string parent) {
  if (parent.empty()) parent = default_parent();
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  std::string path = parent + "/meguri-bench-XXXXXX";
  if (error || ::mkdtemp(path.data()) == nullptr) {
    const int number = error ? error.value() : errno;
    return std::unexpected(base::Error::from_errno(
        number,
        fmt::format("cannot make a scratch folder in {} (--dir names another place)", parent)));
  }
  remove_on_signals(path);
  return Scratch(std::move(path));
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Scratch::~Scratch() {
  if (path_.empty()) return;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  std::error_code ignored;  // nothing is lost but space, and there is nobody to tell
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace meguri::bench
