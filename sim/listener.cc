#include "sim/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace meguri::sim {
namespace {

using base::ErrorCode;

constexpr int kBacklog = 65'535;                // the kernel takes what net.core.somaxconn allows
constexpr std::size_t kOtherDescriptors = 128;  // files, logs, libraries
constexpr std::size_t kConnectionsLeast = 16;   // a server for fewer makes no sense
constexpr int kPrivilegedPorts = 1024;

base::Error listen_error(int number, std::uint16_t port, std::string_view option) {
  switch (number) {
    case EADDRINUSE:
      if (port == 0) return {ErrorCode::kBusy, "no port of this machine is free"};
      return {ErrorCode::kBusy,
              fmt::format("port {} is in use; choose another with {}", port, option)};
    case EACCES:
    case EPERM:
      if (port == 0 || port >= kPrivilegedPorts) break;
      return {ErrorCode::kDenied,
              fmt::format("ports below {} need more rights than we have, and {} is one; choose "
                          "another with {}",
                          kPrivilegedPorts, port, option)};
    case EADDRNOTAVAIL:
      return {ErrorCode::kUnsupported, "this machine has no IPv4 addresses to listen on"};
    case EMFILE:
    case ENFILE:
      return {ErrorCode::kFailed,
              "too many files are open to listen; raise the limit with ulimit -n"};
    default: break;
  }
  return base::Error::from_errno(number, fmt::format("cannot listen on port {}", port));
}

void set_option(int socket, int level, int name) {
  const int on = 1;
  setsockopt(socket, level, name, &on, sizeof(on));
}

sockaddr_in socket_address(std::uint32_t address, std::uint16_t port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(port);
  made.sin_addr.s_addr = htonl(address);
  return made;
}

// A socket bound to `port`; -1 with errno. A shared one can be bound again by us.
Descriptor bound_socket(std::uint32_t address, std::uint16_t port, bool is_shared) {
  Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.is_open()) return made;
  set_option(made.number(), SOL_SOCKET, SO_REUSEADDR);
  if (is_shared) set_option(made.number(), SOL_SOCKET, SO_REUSEPORT);
  // Inherited by what is accepted. Answers are written whole, so waiting to fill packets would only
  // delay the last one.
  set_option(made.number(), IPPROTO_TCP, TCP_NODELAY);
  // No packet from outside even reaches us, where the kernel lets us ask for that (since 5.7);
  // elsewhere connections from outside are closed when they are accepted.
  constexpr std::string_view kLoopback = "lo";
  setsockopt(made.number(), SOL_SOCKET, SO_BINDTODEVICE, kLoopback.data(), kLoopback.size());
  sockaddr_in place = socket_address(address, port);
  const int result = bind(made.number(), reinterpret_cast<sockaddr*>(&place), sizeof(place));
  return result == 0 ? std::move(made) : Descriptor();
}

std::uint16_t port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace

base::Result<Listeners> listen_on_loopback(std::uint16_t port, std::size_t count, bool is_shared,
                                           std::string_view option) {
  Listeners made;
  made.port = port;
  is_shared = is_shared || count > 1;
  if (is_shared && port != 0) {
    // Another server of ours that shares the port would let us in and take half of the clients.
    const Descriptor probe = bound_socket(INADDR_ANY, port, false);
    if (!probe.is_open()) return std::unexpected(listen_error(errno, port, option));
  }
  for (std::size_t i = 0; i < count; ++i) {
    Descriptor socket = bound_socket(INADDR_ANY, made.port, is_shared);
    if (!socket.is_open() || ::listen(socket.number(), kBacklog) != 0) {
      return std::unexpected(listen_error(errno, port, option));
    }
    made.port = port_of(socket.number());
    made.sockets.push_back(std::move(socket));
  }
  return made;
}

base::Result<std::vector<Descriptor>> listen_deafly(std::uint32_t address, std::uint16_t port) {
  std::vector<Descriptor> sockets;
  sockets.push_back(bound_socket(address, port, true));
  // One connection is taken into a queue of none; a second one waits for ever, as others do.
  if (!sockets[0].is_open() || ::listen(sockets[0].number(), 0) != 0) {
    return std::unexpected(base::Error::from_errno(errno, "cannot listen without an ear"));
  }
  for (int i = 0; i < 2; ++i) {
    sockets.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_in place = socket_address(address, port);
    const int result =
        connect(sockets.back().number(), reinterpret_cast<sockaddr*>(&place), sizeof(place));
    if (result != 0 && errno != EINPROGRESS) {
      return std::unexpected(base::Error::from_errno(errno, "cannot fill a queue"));
    }
  }
  return sockets;
}

base::Result<std::size_t> make_room_for_connections(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::unexpected(base::Error::from_errno(errno, "cannot read the limit of open files"));
  }
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (limit.rlim_cur < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  const std::size_t room = limit.rlim_cur - std::min<rlim_t>(limit.rlim_cur, kOtherDescriptors);
  if (room < std::min(wanted, kConnectionsLeast)) {
    return base::fail(ErrorCode::kFailed,
                      "at most {} files may be open at once, which is too few for a server; raise "
                      "the limit with ulimit -n",
                      limit.rlim_cur);
  }
  return std::min(wanted, room);
}

}  // namespace meguri::sim
