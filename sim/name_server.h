// NameServer: the names of a virtual web over real sockets, UDP and TCP, so that any resolver can
// be pointed at it.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/clock.h"
#include "sim/name_zone.h"

namespace meguri::sim {

struct NameServerOptions {
  std::uint16_t port = 0;  // 0: any that is free, the same for UDP and TCP
  std::string address = "127.0.0.1";
  std::uint32_t ttl_seconds = 300;
  std::size_t udp_bytes_max = 1232;                            // see NameZoneOptions
  HostileWeb hostile = {};                                     // likewise
  std::size_t connections_max = 256;                           // others wait in the backlog
  base::Duration idle_time_max = base::Duration::seconds(10);  // of a connection without a query
};

// How many queries there were. Read while the server runs, these are not of one moment.
struct NameServerCounts {
  std::uint64_t udp = 0;
  std::uint64_t tcp = 0;
  std::uint64_t truncated = 0;  // UDP answers that send their client to TCP
  std::uint64_t connections = 0;
  std::array<std::uint64_t, kNameOutcomes> by_outcome = {};

  std::uint64_t of(NameOutcome outcome) const {
    return by_outcome[static_cast<std::size_t>(outcome)];
  }
};

// Runs one thread from start() until its destructor, which closes all connections. Borrows its
// census. Public calls from any thread.
class NameServer {
 public:
  // Errors say what to do about them: kBusy for a port in use, kDenied for one that needs rights.
  static base::Result<std::unique_ptr<NameServer>> start(const Census& census,
                                                         const NameServerOptions& options);
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  std::uint16_t port() const { return port_; }
  NameServerCounts counts() const;

 private:
  // A file descriptor, closed by its destructor.
  class Socket {
   public:
    Socket() = default;
    explicit Socket(int fd) : fd_(fd) {}
    ~Socket();
    Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    Socket& operator=(Socket&& other) noexcept;
    int fd() const { return fd_; }

   private:
    int fd_ = -1;
  };

  struct Connection {
    Socket socket;
    std::string in = {};   // what is not yet a whole query; one query at most, and one read
    std::string out = {};  // what the client has not yet taken; reading stops while it is long
    base::Ticks last_query = {};
    bool is_ended = false;  // the client sends no more
    bool is_broken = false;
  };

  NameServer(const Census& census, const NameServerOptions& options, std::uint32_t address);

  base::Status open(std::uint32_t address);
  base::Status bind_both(std::uint32_t address, std::uint16_t port);
  void run();
  std::vector<pollfd> watched() const;
  bool may_accept() const;
  int wait_ms() const;  // until time alone gives something to do; -1: for ever
  void serve_datagrams();
  void accept_connections();
  void serve(short events, Connection* connection);
  void read_queries(Connection* connection);
  void write_answers(Connection* connection);
  void count(const NameAnswer& answer, bool is_udp);

  const NameServerOptions options_;
  const NameZone zone_;
  const env::RealClock clock_;  // sockets live in real time, however fast the virtual web runs
  std::uint16_t port_ = 0;
  Socket udp_;
  Socket listener_;
  Socket stop_;  // an eventfd

  // Of the thread alone.
  std::vector<Connection> connections_;
  std::string buffer_;
  base::Ticks accept_after_;  // the process had no descriptor left

  std::atomic<std::uint64_t> udp_count_{0};
  std::atomic<std::uint64_t> tcp_count_{0};
  std::atomic<std::uint64_t> truncated_count_{0};
  std::atomic<std::uint64_t> connection_count_{0};
  std::array<std::atomic<std::uint64_t>, kNameOutcomes> outcome_counts_ = {};

  std::thread thread_;
};

}  // namespace meguri::sim
