// Connection: one client's connection, from its first byte to the last of its answers, as a state
// machine that never waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "env/clock.h"
#include "sim/access_batch.h"
#include "sim/hostile.h"
#include "sim/http_reply.h"
#include "sim/http_request.h"
#include "sim/server_address.h"
#include "sim/stream.h"
#include "sim/world.h"
#include "web/http_chunked.h"
#include "web/http_head.h"

namespace meguri::sim {

// Times here are real, whatever the clock's speed: they guard this machine.
struct HttpLimits {
  std::size_t connections_max = 20'000;          // fewer where descriptors are few
  std::size_t head_bytes_max = 16'384;           // of a request; more: 431
  std::uint64_t body_bytes_max = 1'048'576;      // of a request, which is read and dropped
  std::chrono::milliseconds idle_time{60'000};   // without a byte either way, while not waiting
  std::chrono::milliseconds linger_time{2'000};  // for the client to close after the last answer
};

// Written by one thread, read by any.
struct HttpTally {
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> bytes{0};  // sent, heads and bodies, before encryption
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> refused{0};  // connections from or to addresses outside 127.0.0.0/8
  std::atomic<std::uint64_t> open{0};

  // Cheaper than an atomic addition, and enough for one writer.
  static void add(std::atomic<std::uint64_t>& count, std::uint64_t n) {
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
};

// What the connections of one thread share.
struct ConnectionShared {
  const World& world;
  const env::Clock& clock;
  const HttpLimits& limits;
  AccessBatch& log;
  HttpTally& tally;
  std::span<char> scratch;  // at least Stream::kRecordBytes; no connection keeps anything in it
};

// Thread-compatible. Reads nothing while an answer is under way, so a client that only sends is
// slowed down by TCP itself.
class Connection {
 public:
  // What it waits for next.
  enum class Next : std::uint8_t {
    kEvent,  // its socket
    kTimer,  // the time deadline_ns(), or its socket; said once for each deadline
    kTurn,   // nothing: it has used up its turn, and others may want theirs
    kClose,  // nothing any more
  };

  // `server` is the address the client connected to, and `door` how it treats connections.
  Connection(ConnectionShared& shared, int socket, OpenSslPtr<SSL> ssl, Address server,
             HostileDoor door = HostileDoor::kOpen);
  ~Connection();  // logs a request that was not answered in full

  // Tells what epoll said of its socket. Events are edges: nothing is said twice.
  void note_events(std::uint32_t events);

  // Goes on as far as it can.
  Next run();

  std::int64_t deadline_ns() const { return deadline_ns_; }  // of the clock's nanoseconds()
  // Between requests: a server in need may close it, as clients must expect. One that has asked
  // nothing yet is about to.
  bool is_idle() const {
    return state_ == State::kHead && head_bytes_ == 0 && pending_.empty() && has_answered_;
  }
  bool is_waiting() const { return state_ == State::kWait; }

 private:
  enum class State : std::uint8_t {
    kHandshake,
    kHead,    // reads a request
    kBody,    // drops its body
    kWait,    // for the time to answer
    kReply,   // writes
    kLinger,  // has ended its side, and waits for the client's end
    kReset,   // resets the connection
  };

  // Each does one step of its state: nullopt means that there is more to do at once.
  std::optional<Next> step();
  std::optional<Next> step_handshake();
  std::optional<Next> step_head();
  std::optional<Next> step_body();
  std::optional<Next> step_wait();
  std::optional<Next> step_reply();
  std::optional<Next> step_linger();
  std::optional<Next> step_reset();

  // Bytes of the client: first those left over, then from the socket. `take` says how many of them
  // it used; it leaves some only when the state has changed.
  template <typename Take>
  std::optional<Next> receive(Take take);
  std::size_t take_head(std::string_view bytes);
  std::size_t take_body(std::string_view bytes);

  void begin_request();
  void answer(const AskedFor& asked);
  void refuse(int status);
  void end_reply(base::Instant now);
  void log_end(base::Instant now);
  std::optional<Next> wait_until(std::int64_t deadline_ns);
  void pause(base::Duration time);  // of a reply that is under way
  std::string_view scheme() const { return stream_.is_tls() ? "https" : "http"; }

  ConnectionShared& shared_;
  Stream stream_;
  web::HeadParser parser_{web::HeadKind::kRequest};
  std::size_t head_bytes_ = 0;   // taken for the head so far
  std::uint64_t body_left_ = 0;  // of the request, where it has a length
  std::uint64_t body_bytes_ = 0;
  std::unique_ptr<web::ChunkedDecoder> chunks_;  // of the request, where it has chunks
  std::string pending_;                          // came with the last request, and is not used yet
  std::size_t pending_at_ = 0;
  HttpReply reply_;
  Access access_;
  std::int64_t arrival_ns_ = 0;
  std::int64_t deadline_ns_ = 0;
  std::uint64_t lingered_bytes_ = 0;
  HostileDoor door_;
  State state_;
  bool timer_is_set_ = false;
  bool is_asked_ = false;  // a request is under way, and not in the log yet
  bool has_answered_ = false;
  bool is_readable_ = false;  // the socket may hold something
  bool has_ended_ = false;    // the client's side has, or will when all is read
  bool is_gone_ = false;
};

}  // namespace meguri::sim
