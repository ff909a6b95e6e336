#include "bench/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <utility>

#include "base/check.h"

namespace meguri::bench {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct Started {
  pid_t pid;
  int output;  // to read what it writes
};

Started start_child(const std::function<int()>& work) {
  std::array<int, 2> ends{};
  CHECK(::pipe2(ends.data(), O_CLOEXEC) == 0, "cannot make a pipe");
  const pid_t pid = ::fork();
  CHECK(pid >= 0, "cannot fork");
  if (pid == 0) {
    ::signal(SIGTERM, SIG_DFL);  // ours removes the scratch folder
    ::signal(SIGINT, SIG_DFL);
    ::dup2(ends[1], STDOUT_FILENO);
    ::_exit(work());
  }
  ::close(ends[1]);
  return {pid, ends[0]};
}

// In a child; returns only if the program cannot be started.
int become(const std::vector<std::string>& words) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  return 127;
}

}  // namespace

ChildEnd run_child(const std::function<int()>& work) {
  const Started child = start_child(work);
  ChildEnd end;
  std::array<char, 65536> buffer{};
  for (ssize_t size = 0; (size = ::read(child.output, buffer.data(), buffer.size())) > 0;) {
    end.output.append(buffer.data(), static_cast<std::size_t>(size));
  }
  ::close(child.output);
  int status = 0;
  rusage usage{};
  ::wait4(child.pid, &status, 0, &usage);
  end.is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  end.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  end.peak_mb = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  return end;
}

ChildEnd run_program(const std::vector<std::string>& words) {
  return run_child([&words] { return become(words); });
}

std::string program_folder() {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  CHECK(length > 0);
  const std::string path(buffer.data(), static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/'));
}

base::Result<std::unique_ptr<WebProcess>> WebProcess::start(std::vector<std::string> arguments) {
  std::vector<std::string> words = {program_folder() + "/meguri", "virtual-web"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(),
               {"--port", "0", "--dns-port", "0", "--https-port", "0", "--delay", "0", "--json"});
  const Started child = start_child([&words] { return become(words); });
  std::string line;
  for (char c = 0; ::read(child.output, &c, 1) == 1 && c != '\n';) line.push_back(c);
  ::close(child.output);
  auto ready = nlohmann::json::parse(line, nullptr, false);
  std::unique_ptr<WebProcess> web(new WebProcess(child.pid, std::move(ready)));
  if (web->ready_.is_discarded()) {
    return base::fail(base::ErrorCode::kFailed, "{} virtual-web did not start", words.front());
  }
  return web;
}

WebProcess::~WebProcess() {
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace meguri::bench
