// HttpServer: the virtual web on sockets, HTTP and HTTPS, on every address 127.x.y.z of this
// machine and on none that others can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "env/clock.h"
#include "sim/access_batch.h"
#include "sim/connection.h"
#include "sim/descriptor.h"
#include "sim/event_loop.h"
#include "sim/tls_context.h"
#include "sim/world.h"

namespace meguri::sim {

struct HttpServerOptions {
  static constexpr std::size_t kThreadsMax = 256;

  std::uint16_t port = 0;                 // 0: any free one
  std::optional<std::uint16_t> tls_port;  // nullopt: no HTTPS; 0: any free one
  std::size_t threads = 1;
  AccessSink access_log;  // may be empty
  HttpLimits limits;      // of all threads together

  base::Status check() const;
};

// What a server has done since it began, all threads together.
struct HttpCounts {
  std::uint64_t requests = 0;     // whose heads came in full, or were refused
  std::uint64_t bytes = 0;        // sent, heads and bodies, before encryption
  std::uint64_t connections = 0;  // accepted
  std::uint64_t refused = 0;      // connections from or to addresses outside 127.0.0.0/8
  std::uint64_t open = 0;         // connections now
};

// Asks the world for every answer at the clock's time, and waits the answer's delay in the clock's
// time before the first byte. The keys of HTTPS are random and new in every run (certificates.h).
// Calls are for one thread, but for counts(), which any may call.
class HttpServer {
 public:
  // World and clock are borrowed and must outlive the server. Raises the process's limit of open
  // files as far as it may; where that is too low, fewer connections are served at once. Errors
  // are sentences for the user: kBusy for a port in use, kDenied for one that is not ours to take.
  static base::Result<std::unique_ptr<HttpServer>> start(const World& world,
                                                         const env::Clock& clock,
                                                         const HttpServerOptions& options);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  // Closes all connections, hands out the last lines of the log, and joins the threads. Later
  // calls do nothing.
  void stop();

  std::uint16_t port() const { return port_; }
  std::optional<std::uint16_t> tls_port() const { return tls_port_; }
  std::size_t connections_max() const { return connections_max_; }
  // The certificate that clients of HTTPS must trust, as PEM; empty without HTTPS.
  std::string authority_pem() const { return tls_ ? tls_->authority().pem() : ""; }
  HttpCounts counts() const;

 private:
  HttpServer() = default;

  base::Status listen(const World& world, const env::Clock& clock,
                      const HttpServerOptions& options);

  std::uint16_t port_ = 0;
  std::optional<std::uint16_t> tls_port_;
  std::size_t connections_max_ = 0;
  std::unique_ptr<TlsContext> tls_;
  std::vector<std::unique_ptr<EventLoop>> loops_;
  std::vector<std::thread> threads_;
  std::vector<Descriptor> deaf_;  // of hostile hosts that are never connected to
};

}  // namespace meguri::sim
