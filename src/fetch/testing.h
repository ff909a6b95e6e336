// What tests of clients need: a server of raw sockets, with TLS if wanted, that does exactly what a
// test says, right or wrong; certificates; and the loop round a client.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "env/clock.h"
#include "fetch/http_client.h"
#include "fetch/tls_testing.h"

namespace meguri::fetch {

// One connection as the server has it. Writes and reads wait; both end when the client has gone.
class RawConnection {
 public:
  RawConnection(int handle, SSL* tls) : handle_(handle), tls_(tls) {}
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  ~RawConnection() {
    if (tls_ != nullptr) {
      ::SSL_shutdown(tls_);
      ::SSL_free(tls_);
    }
    ::close(handle_);
  }

  // The bytes of the next request up to its empty line; empty: there is none.
  std::string read_head() {
    std::string head;
    char c = '\0';
    while (!head.ends_with("\r\n\r\n")) {
      if (!read_byte(&c)) return {};
      head += c;
    }
    return head;
  }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto size =
          tls_ != nullptr ? ssize_t{::SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()))}
                          : ::send(handle_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
  }

  // The close at the end becomes a reset.
  void reset_at_end() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(handle_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  }

  void wait_until_closed() {
    char c = '\0';
    while (read_byte(&c)) {
    }
  }

  bool read_byte(char* c) {
    return (tls_ != nullptr ? ssize_t{::SSL_read(tls_, c, 1)} : ::recv(handle_, c, 1, 0)) == 1;
  }

 private:
  int handle_;
  SSL* tls_;
};

// Listens on 127.0.0.1 at a port of its own, and runs the handler for each connection, in a thread
// each. Ends them all at its end by shutting their sockets down.
class RawServer {
 public:
  using Handler = std::function<void(RawConnection&)>;

  // `address_to_bind` is IPv4 in host order; 0 listens on all of 127.0.0.0/8, and on the outside
  // too.
  explicit RawServer(Handler handler, const TlsIdentity* identity = nullptr,
                     std::uint32_t address_to_bind = INADDR_LOOPBACK)
      : handler_(std::move(handler)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (identity != nullptr) tls_ = make_server_context(*identity);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(address_to_bind);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, 1024) == 0);
    CHECK(::getsockname(listener_, generic, &size) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const base::MutexLock lock(mutex_);
      for (const int handle : open_) ::shutdown(handle, SHUT_RDWR);
    }
    workers_.clear();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  Endpoint endpoint() const { return {IpAddress::v4(0x7f000001), port_}; }
  int connections() const { return connections_.load(); }

 private:
  struct Worker {
    std::atomic<bool> has_ended = false;
    std::jthread thread;
  };

  void accept_all() {
    while (true) {
      const int handle = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (handle < 0) return;
      ++connections_;
      {
        const base::MutexLock lock(mutex_);
        open_.push_back(handle);
      }
      std::erase_if(workers_, [](Worker& worker) { return worker.has_ended.load(); });
      Worker& worker = workers_.emplace_back();
      worker.thread = std::jthread([this, handle, &worker] {
        serve(handle);
        worker.has_ended.store(true);
      });
    }
  }

  void serve(int handle) {
    SSL* tls = nullptr;
    if (tls_) {
      tls = ::SSL_new(tls_.get());
      ::SSL_set_fd(tls, handle);
      if (::SSL_accept(tls) != 1) {
        forget(handle);
        ::SSL_free(tls);
        ::close(handle);
        return;
      }
    }
    RawConnection connection(handle, tls);
    handler_(connection);
    forget(handle);
  }

  void forget(int handle) {
    const base::MutexLock lock(mutex_);
    std::erase(open_, handle);
  }

  Handler handler_;
  int listener_;
  std::uint16_t port_ = 0;
  TlsContext tls_;
  std::atomic<int> connections_ = 0;
  base::Mutex mutex_;
  std::vector<int> open_ GUARDED_BY(mutex_);
  std::list<Worker> workers_;  // the acceptor's until it has ended
  std::thread acceptor_;
};

// Answers every request on a connection with the same bytes.
inline RawServer::Handler always(std::string answer) {
  return [answer = std::move(answer)](RawConnection& connection) {
    while (!connection.read_head().empty() && connection.send(answer)) {
    }
  };
}

// Reads one request, sends the bytes and closes.
inline RawServer::Handler once(std::string answer) {
  return [answer = std::move(answer)](RawConnection& connection) {
    connection.read_head();
    connection.send(answer);
  };
}

// Polls until `count` results have come; gives up after a minute, of which nothing else depends.
template <typename Client>
auto take_results(Client& client, std::size_t count) {
  const env::RealClock clock;
  const base::Ticks end = clock.ticks() + base::Duration::minutes(1);
  auto results = client.take();
  while (results.size() < count && clock.ticks() < end) {
    client.poll(base::Duration::from_ms(100));
    for (auto& result : client.take()) results.push_back(std::move(result));
  }
  EXPECT_EQ(results.size(), count);
  results.resize(count);
  return results;
}

}  // namespace meguri::fetch
