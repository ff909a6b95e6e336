// ControlServer: takes requests from the control socket, one JSON line each, and sends the answers
// back. docs/formats/control.md describes the lines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "app/control_socket.h"
#include "base/result.h"
#include "base/time.h"

namespace meguri::app {

struct ControlServerLimits {
  std::size_t clients_max = 32;                             // more wait to be accepted
  std::size_t line_bytes_max = 1U << 20U;                   // of a request
  base::Duration silence_max = base::Duration::minutes(1);  // of a client, by the real clock
};

// One thread serves all clients and never waits for one of them: who sends slowly, does not read
// or goes away troubles nobody else. Each has one request at a time under way; a line that is too
// long ends its connection.
class ControlServer {
 public:
  using Reply = std::function<void(std::string line)>;  // any thread, once, also after the end
  // Called by the server's thread with a line, without its end.
  using Handle = std::function<void(const std::string& line, Reply reply)>;

  // Listens until it is destroyed; by then nothing calls `handle` any more. Requires the archive's
  // lock.
  static base::Result<std::unique_ptr<ControlServer>> start(const std::string& archive,
                                                            Handle handle,
                                                            ControlServerLimits limits = {});
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;
  ~ControlServer();

 private:
  struct Outbox;
  struct Client {
    OwnedDescriptor socket;
    std::string in;
    std::string out;
    bool is_asking = false;  // an answer is awaited
    bool has_ended = false;  // sends no more
    base::Ticks last_heard;
  };
  using Clients = std::map<std::uint64_t, Client>;

  ControlServer(OwnedDescriptor socket, Handle handle, ControlServerLimits limits);
  void serve();
  void wait_for_events();
  void accept_clients();
  void take_answers();
  bool tend(std::uint64_t id, Client& client);
  bool read_from(Client& client) const;
  bool write_to(Client& client) const;

  const OwnedDescriptor socket_;
  const Handle handle_;
  const ControlServerLimits limits_;
  const std::shared_ptr<Outbox> outbox_;  // shared with replies, which may come later than the end
  Clients clients_;                       // of the server's thread
  std::uint64_t last_id_ = 0;
  std::thread thread_;
};

}  // namespace meguri::app
