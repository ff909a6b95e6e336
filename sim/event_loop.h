// EventLoop: one thread of a server: it accepts connections, runs them when their sockets or their
// times call, and closes those that stand idle.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "env/clock.h"
#include "sim/access_batch.h"
#include "sim/connection.h"
#include "sim/descriptor.h"
#include "sim/idle_list.h"
#include "sim/server_address.h"
#include "sim/tls_context.h"
#include "sim/world.h"

struct epoll_event;  // NOLINT(readability-identifier-naming): as the system calls it

namespace meguri::sim {

// run() belongs to one thread; stop() and tally() are for any.
class EventLoop {
 public:
  struct Parts {
    const World* world = nullptr;
    const env::Clock* clock = nullptr;
    const TlsContext* tls = nullptr;  // may be null: no HTTPS
    HttpLimits limits;                // of this loop
    AccessSink sink;
    Descriptor listener;      // does not block
    Descriptor tls_listener;  // may be empty
  };

  static base::Result<std::unique_ptr<EventLoop>> make(Parts parts);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void run();   // until stop(); closes all connections then
  void stop();  // soon; does not wait

  const HttpTally& tally() const { return tally_; }

 private:
  // Connections are named by slot and generation, so that what was meant for one that has gone
  // never reaches another.
  struct Slot {
    std::unique_ptr<Connection> connection;
    std::uint32_t generation = 0;
  };
  struct Timer {
    std::int64_t deadline_ns;
    std::uint64_t name;

    // Turned round, for the heaps of the standard library have the greatest first.
    friend bool operator<(const Timer& a, const Timer& b) { return a.deadline_ns > b.deadline_ns; }
  };

  explicit EventLoop(Parts parts);

  Connection* connection_of(std::uint64_t name);
  void run_connection(std::uint64_t name, Connection& connection);
  void close_connection(std::uint64_t name);
  void accept_some(const Descriptor& listener, bool is_tls);
  void add_connection(Descriptor socket, bool is_tls, Address server);
  bool is_full() const;                            // of connections
  std::optional<std::uint64_t> find_idle() const;  // one that may be closed for another
  void pause_accepting();
  void resume_accepting();
  bool watch_listeners();
  void handle(const epoll_event& event);
  void run_turns();
  void run_timers();
  void close_idle();
  void flush_log();
  std::int64_t wait_ns() const;  // until something of ours is due; 0: now
  int wait_for_events(epoll_event* events) const;

  Parts parts_;
  HttpTally tally_;
  AccessBatch log_;
  std::vector<char> scratch_;
  ConnectionShared shared_;
  Descriptor epoll_;
  Descriptor wake_;
  std::atomic<bool> stopping_{false};
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  IdleList idle_;
  std::vector<Timer> timers_;              // a heap; those of connections that went on are ignored
  std::vector<std::uint64_t> turns_;       // names of those that used up their turn
  std::vector<std::uint64_t> served_;      // the same, while they are run
  std::int64_t now_ns_ = 0;                // at the last look
  std::optional<std::int64_t> flush_ns_;   // when the log must go out
  std::optional<std::int64_t> resume_ns_;  // when to accept again
};

}  // namespace meguri::sim
