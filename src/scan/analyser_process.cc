#include "scan/analyser_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "env/cpu_time.h"
#include "scan/process_end.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has no header for it

namespace meguri::scan {

namespace {

using base::Error;

constexpr int kCannotStart = 127;       // as shells have it
constexpr int kPipeBytes = 256 << 10U;  // on their way to it
constexpr int kLittleWaits = 100;       // of kLittleWaitMs each
constexpr int kLittleWaitMs = 10;
constexpr std::size_t kNameBytesMax = 200;  // in messages

// A descriptor that is closed at the end, unless it was taken.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void set(int value) {
    close();
    value_ = value;
  }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }
  int get() const { return value_; }
  int take() { return std::exchange(value_, -1); }

 private:
  int value_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read.set(ends[0]);
    write.set(ends[1]);
    return true;
  }
};

// What went wrong between fork and exec, for the parent.
struct Failure {
  enum class Step : int { kNetwork, kProgram };
  Step step = Step::kProgram;
  int error_number = 0;
};

// All that the child needs, made before the fork: after it little is allowed.
struct Plan {
  std::string path;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::uint64_t memory_max = 0;
  const NetworkFilter* filter = nullptr;
  int input = -1;
  int output = -1;
  int failures = -1;
  pid_t parent = 0;
};

// As far as it is not lower already.
void set_limit(int what, std::uint64_t most) {
  rlimit limit{};
  ::getrlimit(what, &limit);
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, most);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, most);
  ::setrlimit(what, &limit);
}

// In the child, where only async-signal-safe calls are allowed.
[[noreturn]] void become(const Plan& plan) {
  const auto fail = [&plan](Failure::Step step) {
    const Failure failure{.step = step, .error_number = errno};
    const ssize_t written = ::write(plan.failures, &failure, sizeof failure);
    ::_exit(written == sizeof failure ? kCannotStart : kCannotStart + 1);
  };
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(kCannotStart);  // it died before that was asked for
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::dup2(plan.input, STDIN_FILENO);
  ::dup2(plan.output, STDOUT_FILENO);
  set_limit(RLIMIT_CORE, 0);
  if (plan.memory_max > 0) set_limit(RLIMIT_AS, plan.memory_max);
  if (plan.filter != nullptr && !plan.filter->apply()) fail(Failure::Step::kNetwork);
  ::execve(plan.path.c_str(), plan.arguments.data(), plan.environment.data());
  fail(Failure::Step::kProgram);
  ::_exit(kCannotStart);
}

// Where a program is, as execvp() would find it; a name that is nowhere as it is.
std::string path_of(const std::string& name) {
  if (name.contains('/')) return name;
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/bin:/bin" : variable;
  for (;;) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = end == 0 ? "." : folders.substr(0, end);
    std::string path = fmt::format("{}/{}", folder, name);
    if (::access(path.c_str(), X_OK) == 0) return path;
    if (end == folders.size()) return name;
    folders.remove_prefix(end + 1);
  }
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Ours, with these instead of those of the same name.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all = changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view front = text.substr(0, text.find('=') + 1);
    const bool is_changed = std::ranges::any_of(
        changes, [&front](const std::string& change) { return change.starts_with(front); });
    if (!is_changed) all.emplace_back(text);
  }
  return all;
}

std::string told_name(const std::string& program) {
  std::string name;
  base::append_printable(std::string_view(program).substr(0, kNameBytesMax), &name);
  return name;
}

Error error_of(const Failure& failure, const std::string& program) {
  const std::string what = fmt::format("cannot start '{}'", told_name(program));
  if (failure.step == Failure::Step::kNetwork) {
    return Error::from_errno(failure.error_number, what + ": the network cannot be denied to it");
  }
  return Error::from_errno(failure.error_number, what);
}

// Empty: it ended well.
std::string end_of(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::string() : describe_end(status);
}

std::uint64_t nanoseconds_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

}  // namespace

base::Result<std::unique_ptr<AnalyserProcess>> AnalyserProcess::start(
    const AnalyserProcessSettings& settings) {
  const std::string& program = settings.arguments.front();
  Pipe input;
  Pipe output;
  Pipe failures;
  Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const bool is_open = wake.get() >= 0 && input.open() && output.open() && failures.open() &&
                       ::fcntl(input.write.get(), F_SETFL, O_NONBLOCK) == 0;
  if (!is_open) return std::unexpected(Error::from_errno(errno, "cannot speak to a program"));
  ::fcntl(input.write.get(), F_SETPIPE_SZ, kPipeBytes);  // where it is not allowed, less is enough
  std::vector<std::string> arguments = settings.arguments;
  std::vector<std::string> environment = environment_with(settings.environment);
  const Plan plan{.path = path_of(program),
                  .arguments = pointers_to(arguments),
                  .environment = pointers_to(environment),
                  .memory_max = settings.memory_max,
                  .filter = settings.filter,
                  .input = input.read.get(),
                  .output = output.write.get(),
                  .failures = failures.write.get(),
                  .parent = ::getpid()};
  const pid_t id = ::fork();
  if (id < 0) return std::unexpected(error_of({.error_number = errno}, program));
  if (id == 0) become(plan);
  std::unique_ptr<AnalyserProcess> process(
      new AnalyserProcess(id, input.write.take(), output.read.take(), wake.take()));
  failures.write.close();
  Failure failure;
  ssize_t told = 0;
  do {
    told = ::read(failures.read.get(), &failure, sizeof failure);
  } while (told < 0 && errno == EINTR);
  if (told == sizeof failure) return std::unexpected(error_of(failure, program));
  return process;
}

AnalyserProcess::~AnalyserProcess() {
  kill();
  wait();
  close_input();
  ::close(output_);
  ::close(wake_);
}

bool AnalyserProcess::write(std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    // The system does not write there, but its type does not say so.
    std::array<iovec, 2> parts = {
        iovec{.iov_base = const_cast<char*>(first.data()), .iov_len = first.size()},
        iovec{.iov_base = const_cast<char*>(second.data()), .iov_len = second.size()}};
    const ssize_t written = ::writev(input_, parts.data(), static_cast<int>(parts.size()));
    if (written < 0) {
      const bool may_go_on = errno == EINTR || (errno == EAGAIN && wait_for_room());
      if (!may_go_on) return false;
      continue;
    }
    const auto taken = static_cast<std::size_t>(written);
    const std::size_t of_first = std::min(taken, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(taken - of_first);
  }
  return true;
}

// False: nobody wants it any more.
bool AnalyserProcess::wait_for_room() const {
  std::array<pollfd, 2> wanted = {pollfd{.fd = input_, .events = POLLOUT, .revents = 0},
                                  pollfd{.fd = wake_, .events = POLLIN, .revents = 0}};
  ::poll(wanted.data(), wanted.size(), -1);
  return wanted[1].revents == 0;
}

void AnalyserProcess::stop_writing() {
  // It holds one number, which does not overflow.
  if (::eventfd_write(wake_, 1) != 0) return;
}

void AnalyserProcess::close_input() {
  if (input_ >= 0) ::close(std::exchange(input_, -1));
}

bool AnalyserProcess::has_read_all() const {
  int left = 0;
  return ::ioctl(input_, FIONREAD, &left) != 0 || left == 0;
}

base::Result<AnalyserProcess::Event> AnalyserProcess::read(int timeout_ms, std::string& out) {
  out.clear();
  if (timeout_ms >= 0) {
    pollfd wanted{.fd = output_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wanted, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR)) return Event::kNothing;
  }
  ssize_t got = 0;
  out.resize_and_overwrite(kReadBytes, [this, &got](char* to, std::size_t room) {
    do {
      got = ::read(output_, to, room);
    } while (got < 0 && errno == EINTR);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  });
  if (got < 0) return std::unexpected(Error::from_errno(errno, "cannot read what it writes"));
  return got == 0 ? Event::kEnd : Event::kBytes;
}

void AnalyserProcess::kill() {
  const base::MutexLock lock(mutex_);
  if (!is_reaped_) ::kill(id_, SIGKILL);
}

// It has ended, or will soon.
void AnalyserProcess::reap() {
  {
    const base::MutexLock lock(mutex_);
    if (is_reaped_) return;
  }
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const base::MutexLock lock(mutex_);
  is_reaped_ = true;
  rusage usage{};
  if (::wait4(id_, &status_, 0, &usage) != id_) return;
  cpu_ns_ = nanoseconds_of(usage.ru_utime) + nanoseconds_of(usage.ru_stime);
}

std::string AnalyserProcess::wait() {
  reap();
  const base::MutexLock lock(mutex_);
  return end_of(status_);
}

std::string AnalyserProcess::wait_a_little() {
  for (int i = 0; i < kLittleWaits; ++i) {
    siginfo_t info{};
    const int failed = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT | WNOHANG);
    if (failed != 0 || info.si_pid != 0) return wait();
    ::poll(nullptr, 0, kLittleWaitMs);
  }
  kill();
  reap();
  return {};
}

std::uint64_t AnalyserProcess::cpu_ns() const {
  const base::MutexLock lock(mutex_);
  if (is_reaped_) return cpu_ns_;
  return static_cast<std::uint64_t>(env::process_cpu_nanoseconds(id_).value_or(0));
}

}  // namespace meguri::scan
