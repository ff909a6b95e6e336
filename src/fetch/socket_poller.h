// SocketPoller: epoll and a wake-up, for clients that watch many sockets from one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace meguri::fetch {

// Borrows the sockets it watches: forget() them before they are closed. All calls but wake() come
// from one thread.
class SocketPoller {
 public:
  struct Event {
    int socket = -1;
    bool can_read = false;
    bool can_write = false;
    bool has_failed = false;  // hung up or in error
  };

  static base::Result<std::unique_ptr<SocketPoller>> create();
  SocketPoller(const SocketPoller&) = delete;
  SocketPoller& operator=(const SocketPoller&) = delete;
  ~SocketPoller();

  // Sets what to wait for on `socket`, known already or not; neither: it is forgotten.
  void watch(int socket, bool reads, bool writes);
  void forget(int socket);

  // Waits up to `wait`, which is rounded up to milliseconds. The events live until the next call.
  std::span<const Event> wait(std::chrono::nanoseconds wait);

  // Ends a wait, or the next one. From any thread.
  void wake();

 private:
  SocketPoller(int epoll, int wake_up);

  static constexpr std::size_t kEventsMax = 512;  // of one wait

  int epoll_;
  int wake_up_;                         // an eventfd
  std::vector<unsigned char> watched_;  // by socket: whether epoll knows it
  std::vector<Event> events_;
};

}  // namespace meguri::fetch
