#include "app/control_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "env/clock.h"

namespace meguri::app {

// What the server's thread is told by others.
struct ControlServer::Outbox {
  base::Mutex mutex;
  std::vector<std::pair<std::uint64_t, std::string>> answers GUARDED_BY(mutex);
  bool is_stopping GUARDED_BY(mutex) = false;
  OwnedDescriptor wake_up{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};

  void wake() const {
    const std::uint64_t one = 1;
    // It can only fail when it is full, and then the thread is awake.
    [[maybe_unused]] const auto written = ::write(wake_up.get(), &one, sizeof(one));
  }
  bool stops() {
    const base::MutexLock lock(mutex);
    return is_stopping;
  }
};

base::Result<std::unique_ptr<ControlServer>> ControlServer::start(const std::string& archive,
                                                                  Handle handle,
                                                                  ControlServerLimits limits) {
  ASSIGN_OR_RETURN(OwnedDescriptor socket, listen_at(archive));
  std::unique_ptr<ControlServer> server(
      new ControlServer(std::move(socket), std::move(handle), limits));
  if (!server->outbox_->wake_up.is_open()) {
    return std::unexpected(base::Error::from_errno(errno, "cannot make an eventfd"));
  }
  server->thread_ = std::thread([&self = *server] { self.serve(); });
  return server;
}

ControlServer::ControlServer(OwnedDescriptor socket, Handle handle, ControlServerLimits limits)
    : socket_(std::move(socket)),
      handle_(std::move(handle)),
      limits_(limits),
      outbox_(std::make_shared<Outbox>()) {}

// Nothing is left that could be connected to: the file stays, and the next crawl replaces it.
ControlServer::~ControlServer() {
  if (!thread_.joinable()) return;
  {
    const base::MutexLock lock(outbox_->mutex);
    outbox_->is_stopping = true;
  }
  outbox_->wake();
  thread_.join();
}

void ControlServer::serve() {
  while (!outbox_->stops()) {
    wait_for_events();
    accept_clients();
    take_answers();
    for (auto client = clients_.begin(); client != clients_.end();) {
      client = tend(client->first, client->second) ? std::next(client) : clients_.erase(client);
    }
  }
}

// Looks at all of them afterwards: they are few.
void ControlServer::wait_for_events() {
  constexpr int kLookEveryMs = 1000;  // for clients that are silent
  std::vector<pollfd> watched;
  watched.push_back({outbox_->wake_up.get(), POLLIN, 0});
  if (clients_.size() < limits_.clients_max) watched.push_back({socket_.get(), POLLIN, 0});
  for (const auto& [id, client] : clients_) {
    // One that is being answered is not read: its next request has time.
    const int reads = client.is_asking || client.has_ended ? 0 : POLLIN;
    const int writes = client.out.empty() ? 0 : POLLOUT;
    if ((reads | writes) == 0) continue;  // else a client that is gone would not let us wait
    watched.push_back({client.socket.get(), static_cast<short>(reads | writes), 0});
  }
  ::poll(watched.data(), watched.size(), kLookEveryMs);
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(outbox_->wake_up.get(), &count, sizeof(count));
}

void ControlServer::accept_clients() {
  while (clients_.size() < limits_.clients_max) {
    OwnedDescriptor socket(
        ::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) return;
    Client& client = clients_[++last_id_];
    client.socket = std::move(socket);
    client.last_heard = env::RealClock().ticks();
  }
}

void ControlServer::take_answers() {
  std::vector<std::pair<std::uint64_t, std::string>> answers;
  {
    const base::MutexLock lock(outbox_->mutex);
    answers.swap(outbox_->answers);
  }
  for (auto& [id, line] : answers) {
    const auto client = clients_.find(id);
    if (client == clients_.end()) continue;  // it did not wait
    client->second.is_asking = false;
    client->second.out += line + "\n";
    client->second.last_heard = env::RealClock().ticks();
  }
}

// False: the connection is over.
bool ControlServer::tend(std::uint64_t id, Client& client) {
  if (!write_to(client)) return false;
  if (!client.is_asking && !client.has_ended && !read_from(client)) return false;
  const std::size_t end = client.in.find('\n');
  if (!client.is_asking && client.out.empty() && end != std::string::npos) {
    std::string line = client.in.substr(0, end);
    client.in.erase(0, end + 1);
    client.is_asking = true;
    handle_(line, [outbox = outbox_, id](std::string answer) {
      {
        const base::MutexLock lock(outbox->mutex);
        outbox->answers.emplace_back(id, std::move(answer));
      }
      outbox->wake();
    });
    return true;
  }
  if (client.is_asking) return true;
  if (end == std::string::npos && client.in.size() >= limits_.line_bytes_max) return false;
  if (client.has_ended && client.out.empty()) return false;
  return env::RealClock().ticks() - client.last_heard < limits_.silence_max;
}

// False: it is gone.
bool ControlServer::read_from(Client& client) const {
  std::array<char, 1U << 16U> buffer{};
  while (client.in.size() < limits_.line_bytes_max) {
    const ssize_t size = ::recv(client.socket.get(), buffer.data(), buffer.size(), 0);
    if (size > 0) {
      client.in.append(buffer.data(), static_cast<std::size_t>(size));
      client.last_heard = env::RealClock().ticks();
      continue;
    }
    if (size == 0) {
      client.has_ended = true;  // it may still read
      return true;
    }
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK;
  }
  return true;
}

bool ControlServer::write_to(Client& client) const {
  while (!client.out.empty()) {
    const ssize_t size =
        ::send(client.socket.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (size >= 0) {
      client.out.erase(0, static_cast<std::size_t>(size));
      client.last_heard = env::RealClock().ticks();
      continue;
    }
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK;
  }
  return true;
}

}  // namespace meguri::app
