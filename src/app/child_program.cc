#include "app/child_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace meguri::app {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";  // holds even when the file was replaced
constexpr int kCannotStart = 127;                       // as shells have it

// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : value_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int value() const { return value_; }

 private:
  int value_;
};

// In the child, where only async-signal-safe calls are allowed.
[[noreturn]] void become(char* const* arguments, int out, int error, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotStart);  // it died before that was asked for
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
  ::execv(kThisProgram, arguments);
  ::_exit(kCannotStart);
}

}  // namespace

base::Result<ChildProgram> ChildProgram::start(const std::vector<std::string>& arguments,
                                               const std::string& out_path,
                                               const std::string& error_path) {
  std::vector<std::string> texts = {"meguri"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);

  const Descriptor out(out_path);
  if (out.value() < 0) {
    return std::unexpected(base::Error::from_errno(errno, "cannot write to " + out_path));
  }
  const Descriptor error(error_path);
  if (error.value() < 0) {
    return std::unexpected(base::Error::from_errno(errno, "cannot write to " + error_path));
  }
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) return std::unexpected(base::Error::from_errno(errno, "cannot start a process"));
  if (id == 0) become(pointers.data(), out.value(), error.value(), parent);
  return ChildProgram(id);
}

ChildProgram::ChildProgram(ChildProgram&& other) noexcept
    : id_(std::exchange(other.id_, 0)), exit_code_(other.exit_code_) {}

ChildProgram::~ChildProgram() {
  if (id_ == 0 || exit_code_) return;
  send(SIGKILL);
  wait();
}

void ChildProgram::take_status(int status) {
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::optional<int> ChildProgram::exit_code() {
  int status = 0;
  if (!exit_code_ && ::waitpid(id_, &status, WNOHANG) == id_) take_status(status);
  return exit_code_;
}

void ChildProgram::send(int signal) const {
  if (!exit_code_) ::kill(id_, signal);
}

int ChildProgram::wait() {
  int status = 0;
  while (!exit_code_) {
    if (::waitpid(id_, &status, 0) == id_) {
      take_status(status);
    } else if (errno != EINTR) {
      exit_code_ = kCannotStart;  // nothing of ours to wait for
    }
  }
  return *exit_code_;
}

}  // namespace meguri::app
