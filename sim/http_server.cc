#include "sim/http_server.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "sim/listener.h"

namespace meguri::sim {
namespace {

// Signals are for the threads that expect them; and OpenSSL writes to sockets that may have been
// closed, which must not end the process with SIGPIPE.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

base::Status HttpServerOptions::check() const {
  if (threads < 1 || threads > kThreadsMax) {
    return base::fail(base::ErrorCode::kInvalid, "a server has 1 to {} threads, not {}",
                      kThreadsMax, threads);
  }
  if (limits.connections_max < threads) {
    return base::fail(base::ErrorCode::kInvalid,
                      "every thread of a server needs at least one connection: {} are too few for "
                      "{} threads",
                      limits.connections_max, threads);
  }
  if (tls_port && port != 0 && *tls_port == port) {
    return base::fail(base::ErrorCode::kInvalid, "HTTP and HTTPS cannot share port {}", port);
  }
  return {};
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(const World& world,
                                                            const env::Clock& clock,
                                                            const HttpServerOptions& options) {
  RETURN_IF_ERROR(options.check());
  std::unique_ptr<HttpServer> made(new HttpServer);
  RETURN_IF_ERROR(made->listen(world, clock, options));
  for (const auto& loop : made->loops_) {
    made->threads_.emplace_back([&one = *loop] {
      block_signals();
      one.run();
    });
  }
  return made;
}

base::Status HttpServer::listen(const World& world, const env::Clock& clock,
                                const HttpServerOptions& options) {
  ASSIGN_OR_RETURN(connections_max_, make_room_for_connections(options.limits.connections_max));
  const auto habits = world.hostile().habits();
  const auto is_deaf = [](const HostileHabit* habit) { return habit->door == HostileDoor::kDeaf; };
  const bool is_shared = std::ranges::any_of(habits, is_deaf);
  ASSIGN_OR_RETURN(Listeners plain,
                   listen_on_loopback(options.port, options.threads, is_shared, "--port"));
  port_ = plain.port;
  for (const HostileHabit* habit : habits) {
    if (!is_deaf(habit)) continue;
    ASSIGN_OR_RETURN(auto sockets, listen_deafly(HostileWeb::address_of(*habit), port_));
    for (Descriptor& socket : sockets) deaf_.push_back(std::move(socket));
  }
  Listeners secure;
  if (options.tls_port) {
    const auto fault_of = [&world](std::string_view host) {
      const HostileHabit* const habit = world.hostile().of_host(host);
      return habit == nullptr ? CertificateFault::kNone : habit->certificate;
    };
    ASSIGN_OR_RETURN(tls_, TlsContext::make(fault_of));
    ASSIGN_OR_RETURN(secure,
                     listen_on_loopback(*options.tls_port, options.threads, false, "--tls-port"));
    tls_port_ = secure.port;
  }
  for (std::size_t i = 0; i < options.threads; ++i) {
    EventLoop::Parts parts;
    parts.world = &world;
    parts.clock = &clock;
    parts.tls = tls_.get();
    parts.limits = options.limits;
    parts.limits.connections_max = connections_max_ / options.threads;
    parts.sink = options.access_log;
    parts.listener = std::move(plain.sockets[i]);
    if (tls_) parts.tls_listener = std::move(secure.sockets[i]);
    ASSIGN_OR_RETURN(auto loop, EventLoop::make(std::move(parts)));
    loops_.push_back(std::move(loop));
  }
  return {};
}

HttpServer::~HttpServer() { stop(); }

void HttpServer::stop() {
  for (const auto& loop : loops_) loop->stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

HttpCounts HttpServer::counts() const {
  HttpCounts sum;
  for (const auto& loop : loops_) {
    const HttpTally& tally = loop->tally();
    sum.requests += tally.requests.load(std::memory_order_relaxed);
    sum.bytes += tally.bytes.load(std::memory_order_relaxed);
    sum.connections += tally.connections.load(std::memory_order_relaxed);
    sum.refused += tally.refused.load(std::memory_order_relaxed);
    sum.open += tally.open.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace meguri::sim
