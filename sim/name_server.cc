#include "sim/name_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "sim/server_address.h"

namespace meguri::sim {
namespace {

using base::ErrorCode;

constexpr int kPortTries = 16;
constexpr int kBacklog = 128;
constexpr int kDatagramsAtOnce = 256;  // then TCP has its turn
constexpr int kReceiveBufferBytes = 1 << 20;
constexpr auto kAcceptPause = base::Duration::from_ms(100);
constexpr std::size_t kOutBytesMax = 1 << 16;
constexpr std::size_t kLengthBytes = 2;

sockaddr_in socket_address(std::uint32_t address, std::uint16_t port) {
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(address);
  return place;
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

base::Status bind_to(int fd, std::uint32_t address, std::uint16_t port) {
  const sockaddr_in place = socket_address(address, port);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof(place)) == 0) return {};
  const int error = errno;
  const std::string text = address_text(address);
  if (error == EADDRINUSE) {
    return base::fail(ErrorCode::kBusy,
                      "port {} of {} is in use, so names cannot be answered there; choose another "
                      "with --dns-port",
                      port, text);
  }
  if (error == EACCES || error == EPERM) {
    return base::fail(ErrorCode::kDenied,
                      "there is no permission to answer names on port {}; choose another with "
                      "--dns-port",
                      port);
  }
  const auto what = fmt::format("cannot answer names on {}:{}", text, port);
  return std::unexpected(base::Error::from_errno(error, what));
}

}  // namespace

NameServer::Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

NameServer::Socket& NameServer::Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

NameServer::NameServer(const Census& census, const NameServerOptions& options,
                       std::uint32_t address)
    : options_(options),
      zone_(census, {.ttl_seconds = options.ttl_seconds,
                     .server_address = address,
                     .udp_bytes_max = options.udp_bytes_max,
                     .hostile = options.hostile}),
      buffer_(kDnsMessageBytesMax, '\0') {}

base::Result<std::unique_ptr<NameServer>> NameServer::start(const Census& census,
                                                            const NameServerOptions& options) {
  in_addr address = {};
  if (::inet_pton(AF_INET, options.address.c_str(), &address) != 1) {
    return base::fail(ErrorCode::kInvalid, "names are answered on an IPv4 address, not on {}",
                      base::quoted(options.address));
  }
  if (options.connections_max == 0 || options.idle_time_max <= base::Duration()) {
    return base::fail(ErrorCode::kInvalid,
                      "a name server needs at least one connection and some time for it");
  }
  const std::uint32_t host_order = ntohl(address.s_addr);
  std::unique_ptr<NameServer> server(new NameServer(census, options, host_order));
  RETURN_IF_ERROR(server->open(host_order));
  server->thread_ = std::thread([raw = server.get()] { raw->run(); });
  return server;
}

NameServer::~NameServer() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  CHECK(::write(stop_.fd(), &one, sizeof(one)) == sizeof(one));
  thread_.join();
}

base::Status NameServer::open(std::uint32_t address) {
  stop_ = Socket(::eventfd(0, EFD_CLOEXEC));
  if (stop_.fd() < 0) return std::unexpected(base::Error::from_errno(errno, "eventfd"));
  base::Status status = bind_both(address, options_.port);
  // A port that is free for one of them may be taken for the other.
  for (int i = 0; i < kPortTries && options_.port == 0 && !status; ++i) {
    if (status.error().code() != ErrorCode::kBusy) break;
    status = bind_both(address, 0);
  }
  RETURN_IF_ERROR(status);
  if (::listen(listener_.fd(), kBacklog) == 0) return {};
  // Of two that bound the same port with SO_REUSEADDR the second hears of it here.
  return base::fail(ErrorCode::kBusy,
                    "port {} is in use, so names cannot be answered there; choose another with "
                    "--dns-port",
                    port_);
}

base::Status NameServer::bind_both(std::uint32_t address, std::uint16_t port) {
  listener_ = Socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  udp_ = Socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listener_.fd() < 0 || udp_.fd() < 0) {
    return std::unexpected(base::Error::from_errno(errno, "a socket for names"));
  }
  // Connections of a server that has just ended do not keep its port.
  const int on = 1;
  ::setsockopt(listener_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  ::setsockopt(udp_.fd(), SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof(kReceiveBufferBytes));
  RETURN_IF_ERROR(bind_to(listener_.fd(), address, port));
  sockaddr_in place = {};
  socklen_t length = sizeof(place);
  if (::getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&place), &length) != 0) {
    return std::unexpected(base::Error::from_errno(errno, "the port for names"));
  }
  port_ = ntohs(place.sin_port);
  return bind_to(udp_.fd(), address, port_);
}

NameServerCounts NameServer::counts() const {
  NameServerCounts counts;
  counts.udp = udp_count_;
  counts.tcp = tcp_count_;
  counts.truncated = truncated_count_;
  counts.connections = connection_count_;
  for (std::size_t i = 0; i < kNameOutcomes; ++i) counts.by_outcome[i] = outcome_counts_[i];
  return counts;
}

void NameServer::count(const NameAnswer& answer, bool is_udp) {
  ++(is_udp ? udp_count_ : tcp_count_);
  if (answer.is_truncated) ++truncated_count_;
  ++outcome_counts_[static_cast<std::size_t>(answer.outcome)];
}

std::vector<pollfd> NameServer::watched() const {
  std::vector<pollfd> all = {{stop_.fd(), POLLIN, 0}, {udp_.fd(), POLLIN, 0}};
  all.push_back({may_accept() ? listener_.fd() : -1, POLLIN, 0});
  for (const Connection& connection : connections_) {
    int events = connection.out.empty() ? 0 : POLLOUT;
    if (!connection.is_ended && connection.out.size() < kOutBytesMax) events |= POLLIN;
    all.push_back({connection.socket.fd(), static_cast<short>(events), 0});
  }
  return all;
}

bool NameServer::may_accept() const {
  return connections_.size() < options_.connections_max && clock_.ticks() >= accept_after_;
}

int NameServer::wait_ms() const {
  const base::Ticks now = clock_.ticks();
  base::Ticks until = now < accept_after_ ? accept_after_ : base::Ticks::never();
  for (const Connection& connection : connections_) {
    until = std::min(until, connection.last_query + options_.idle_time_max);
  }
  if (until == base::Ticks::never()) return -1;
  return static_cast<int>(std::clamp<std::int64_t>((until - now).ms(), 0, 60'000));
}

void NameServer::run() {
  while (true) {
    std::vector<pollfd> fds = watched();
    if (::poll(fds.data(), fds.size(), wait_ms()) < 0) {
      CHECK(errno == EINTR, "poll of the name server failed with error {}", errno);
      continue;
    }
    if (fds[0].revents != 0) return;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      if (fds[i + 3].revents != 0) serve(fds[i + 3].revents, &connections_[i]);
    }
    const base::Ticks now = clock_.ticks();
    std::erase_if(connections_, [&](const Connection& connection) {
      return connection.is_broken || (connection.is_ended && connection.out.empty()) ||
             now - connection.last_query >= options_.idle_time_max;
    });
    if (fds[1].revents != 0) serve_datagrams();
    if (fds[2].revents != 0) accept_connections();
  }
}

void NameServer::serve_datagrams() {
  for (int i = 0; i < kDatagramsAtOnce; ++i) {
    sockaddr_in from = {};
    socklen_t length = sizeof(from);
    auto* const address = reinterpret_cast<sockaddr*>(&from);
    const ssize_t got = ::recvfrom(udp_.fd(), buffer_.data(), buffer_.size(), 0, address, &length);
    if (got < 0) return;  // nothing there, or an error of an earlier answer's client
    const std::string_view query(buffer_.data(), static_cast<std::size_t>(got));
    const NameAnswer answer = zone_.answer(query, true);
    count(answer, true);
    if (answer.bytes.empty()) continue;
    // An answer that finds no room is lost, as datagrams are.
    ::sendto(udp_.fd(), answer.bytes.data(), answer.bytes.size(), 0, address, length);
  }
}

void NameServer::accept_connections() {
  while (connections_.size() < options_.connections_max) {
    Socket socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.fd() < 0) {
      // The waiting connection would wake us at once, again and again.
      if (!would_block()) accept_after_ = clock_.ticks() + kAcceptPause;
      return;
    }
    ++connection_count_;
    connections_.push_back({.socket = std::move(socket), .last_query = clock_.ticks()});
  }
}

void NameServer::serve(short events, Connection* connection) {
  if ((events & (POLLERR | POLLNVAL)) != 0) connection->is_broken = true;
  if (connection->is_broken) return;
  const bool may_read = !connection->is_ended && connection->out.size() < kOutBytesMax;
  if (may_read && (events & (POLLIN | POLLHUP)) != 0) read_queries(connection);
  if (!connection->out.empty()) write_answers(connection);
}

void NameServer::read_queries(Connection* connection) {
  const ssize_t got = ::recv(connection->socket.fd(), buffer_.data(), buffer_.size(), 0);
  if (got < 0 && would_block()) return;
  if (got < 0) {
    connection->is_broken = true;
    return;
  }
  if (got == 0) connection->is_ended = true;
  connection->in.append(buffer_.data(), static_cast<std::size_t>(got));
  std::string_view rest = connection->in;
  while (rest.size() >= kLengthBytes) {
    const auto high = static_cast<unsigned char>(rest[0]);
    const auto low = static_cast<unsigned char>(rest[1]);
    const std::size_t length = static_cast<std::size_t>(high) << 8U | low;
    if (rest.size() - kLengthBytes < length) break;
    const NameAnswer answer = zone_.answer(rest.substr(kLengthBytes, length), false);
    rest.remove_prefix(kLengthBytes + length);
    count(answer, false);
    connection->last_query = clock_.ticks();
    if (answer.bytes.empty()) continue;
    append_u16(static_cast<std::uint16_t>(answer.bytes.size()), &connection->out);
    connection->out.append(answer.bytes);
  }
  connection->in.erase(0, connection->in.size() - rest.size());
}

void NameServer::write_answers(Connection* connection) {
  const ssize_t sent =
      ::send(connection->socket.fd(), connection->out.data(), connection->out.size(), MSG_NOSIGNAL);
  if (sent < 0) {
    connection->is_broken = !would_block();
    return;
  }
  connection->out.erase(0, static_cast<std::size_t>(sent));
}

}  // namespace meguri::sim
