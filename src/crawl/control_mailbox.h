// ControlMailbox: where other threads leave requests for a crawl.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "crawl/control_messages.h"
#include "flow/module.h"

namespace meguri::crawl {

// Shared by Control, which reads, and whoever asks, because either may end first. Thread-safe.
class ControlMailbox {
 public:
  static constexpr std::size_t kRequestsMax = 64;

  struct Posted {
    ControlRequest request;
    ControlDone done;
  };

  // `done` is called once, by Control's thread or by this one, and must be quick. kBusy: too many
  // wait already; kStopped: the crawl has ended, or ended before it could answer.
  void post(ControlRequest request, ControlDone done);

  // For Control: from open() to close() it is woken for every request.
  void open(flow::Waker waker);
  std::optional<Posted> take();
  void close();  // fails what was not taken, and all that comes

 private:
  base::Mutex mutex_;
  std::deque<Posted> waiting_ GUARDED_BY(mutex_);
  std::optional<flow::Waker> waker_ GUARDED_BY(mutex_);
  bool is_closed_ GUARDED_BY(mutex_) = false;
};

// What a request gets that comes too late.
std::unexpected<base::Error> crawl_has_ended();

}  // namespace meguri::crawl
