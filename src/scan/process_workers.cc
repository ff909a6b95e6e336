#include "scan/process_workers.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "base/console.h"
#include "scan/process_end.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has no header for it

namespace meguri::scan {

namespace {

constexpr int kSocketBytes = 1 << 20;  // on their way, in each direction
constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

// A pair of descriptors, closed at the end as far as they were not taken.
struct Pair {
  Pair() = default;
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    close_descriptor(ours);
    close_descriptor(theirs);
  }
  int take_ours() { return std::exchange(ours, -1); }

  int ours = -1;
  int theirs = -1;
};

bool open_sockets(Pair& pair) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  pair.ours = ends[0];
  pair.theirs = ends[1];
  for (const int end : ends) {
    ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  }
  return ::fcntl(pair.ours, F_SETFL, O_NONBLOCK) == 0;
}

bool open_pipe(Pair& pair) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  pair.ours = ends[0];
  pair.theirs = ends[1];
  return ::fcntl(pair.ours, F_SETFL, O_NONBLOCK) == 0;
}

// What posix_spawn() is told, which must be given back.
class Spawning {
 public:
  Spawning() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;
  ~Spawning() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // 0, or an error's number.
  int spawn(const std::string& program, char* const* arguments, int socket, int errors, pid_t& id) {
    sigset_t none;
    sigemptyset(&none);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);  // an analyser is a program like any other
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, kWorkerDescriptor);
    return ::posix_spawn(&id, program.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

ProcessWorkers::ProcessWorkers(ProcessWorkersOptions options)
    : options_(std::move(options)), processes_(options_.workers) {}

ProcessWorkers::~ProcessWorkers() {
  for (std::size_t i = 0; i < processes_.size(); ++i) kill(i);
  for (Process& process : processes_) {
    int status = 0;
    while (process.id != 0 && ::waitpid(process.id, &status, 0) < 0 && errno == EINTR) continue;
    close_descriptor(process.handle);
    close_descriptor(process.socket);
    close_descriptor(process.errors);
  }
}

base::Status ProcessWorkers::start(std::size_t worker) {
  Process& process = processes_[worker];
  Pair sockets;
  Pair errors;
  if (!open_sockets(sockets) || !open_pipe(errors)) {
    return std::unexpected(base::Error::from_errno(errno, "cannot speak to a worker"));
  }
  // Descriptors of theirs lie above those they are copied to, or the copies would close them.
  const int socket = ::fcntl(sockets.theirs, F_DUPFD_CLOEXEC, 10);
  const int error = ::fcntl(errors.theirs, F_DUPFD_CLOEXEC, 10);
  std::vector<std::string> texts = {"meguri"};
  texts.insert(texts.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  pid_t id = 0;
  const int failure = Spawning().spawn(options_.program, pointers.data(), socket, error, id);
  if (socket >= 0) ::close(socket);
  if (error >= 0) ::close(error);
  if (failure != 0) {
    return std::unexpected(base::Error::from_errno(failure, "cannot start a worker"));
  }
  process.id = id;
  process.handle = static_cast<int>(::syscall(SYS_pidfd_open, id, 0));
  if (process.handle < 0) {
    const int number = errno;
    kill(worker);
    return std::unexpected(base::Error::from_errno(number, "cannot watch a worker"));
  }
  process.socket = sockets.take_ours();
  process.errors = errors.take_ours();
  process.said.clear();
  return {};
}

std::size_t ProcessWorkers::send(std::size_t worker, std::string_view bytes) {
  const Process& process = processes_[worker];
  if (process.socket < 0) return 0;
  const ssize_t sent = ::send(process.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  // Whatever failed: its end will be seen.
  return sent < 0 ? 0 : static_cast<std::size_t>(sent);
}

void ProcessWorkers::kill(std::size_t worker) {
  const Process& process = processes_[worker];
  if (process.id != 0) ::kill(-process.id, SIGKILL);
}

// False: nothing was there.
bool ProcessWorkers::read_socket(std::size_t worker, std::vector<WorkerEvent>& events) {
  Process& process = processes_[worker];
  if (process.socket < 0) return false;
  buffer_.resize(kReadBytes);
  const ssize_t got = ::recv(process.socket, buffer_.data(), buffer_.size(), 0);
  if (got > 0) {
    events.push_back(
        {.worker = worker, .bytes = std::string(buffer_, 0, static_cast<std::size_t>(got))});
    return true;
  }
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) close_descriptor(process.socket);
  return false;
}

// False: nothing was there.
bool ProcessWorkers::read_errors(Process& process) {
  if (process.errors < 0) return false;
  buffer_.resize(kSaidBytesMax);
  const ssize_t got = ::read(process.errors, buffer_.data(), buffer_.size());
  if (got > 0) {
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(got));
    process.said += bytes;
    if (process.said.size() > kSaidBytesMax) {
      process.said.erase(0, process.said.size() - kSaidBytesMax);
    }
    if (options_.shows_errors) {
      base::Console::standard_error().write_line(bytes.substr(0, bytes.find_last_not_of('\n') + 1));
    }
    return true;
  }
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) close_descriptor(process.errors);
  return false;
}

// What it sent before its end counts. What it left in its group goes with it.
void ProcessWorkers::end(std::size_t worker, std::vector<WorkerEvent>& events) {
  Process& process = processes_[worker];
  while (read_socket(worker, events)) continue;
  ::kill(-process.id, SIGKILL);  // before it is reaped, while its group is its own
  int status = 0;
  while (::waitpid(process.id, &status, 0) < 0 && errno == EINTR) continue;
  while (read_errors(process)) continue;
  close_descriptor(process.errors);
  close_descriptor(process.socket);
  close_descriptor(process.handle);
  process.id = 0;
  events.push_back({.worker = worker,
                    .bytes = {},
                    .end = WorkerEnd{.how = describe_end(status),
                                     .said = std::exchange(process.said, std::string())}});
}

void ProcessWorkers::rest(base::Duration duration) {
  std::vector<pollfd> polls;
  polls.reserve(processes_.size());
  for (const Process& process : processes_) {
    polls.push_back({.fd = process.handle, .events = POLLIN, .revents = 0});
  }
  ::poll(polls.data(), polls.size(), static_cast<int>(duration.ms()));
}

base::Status ProcessWorkers::wait(base::Duration limit, const std::vector<bool>& wanted,
                                  std::vector<WorkerEvent>& events) {
  std::vector<pollfd> polls;
  polls.reserve(3 * processes_.size());
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const auto room = static_cast<short>(wanted[i] ? POLLIN | POLLOUT : POLLIN);
    polls.push_back({.fd = processes_[i].socket, .events = room, .revents = 0});
    polls.push_back({.fd = processes_[i].errors, .events = POLLIN, .revents = 0});
    polls.push_back({.fd = processes_[i].handle, .events = POLLIN, .revents = 0});
  }
  const auto ms = static_cast<int>(std::clamp<std::int64_t>(limit.ms(), 0, 60'000));
  const int ready = ::poll(polls.data(), polls.size(), ms);
  if (ready < 0 && errno != EINTR) {
    return std::unexpected(base::Error::from_errno(errno, "cannot wait for the workers"));
  }
  if (ready <= 0) return {};
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (polls[3 * i + 1].revents != 0) read_errors(processes_[i]);
    if ((polls[3 * i].revents & ~POLLOUT) != 0) read_socket(i, events);
    if (polls[3 * i + 2].revents != 0) end(i, events);
  }
  return {};
}

}  // namespace meguri::scan
