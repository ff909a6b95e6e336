// Workers: where analysers run. Processes of this machine (process_workers.h), or in tests a play
// of them; those of other machines will be another kind.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace meguri::scan {

struct WorkerEnd {
  std::string how;   // "it ended with exit status 3"
  std::string said;  // the end of what it and its analyser said on standard error
};

// Something that came from a worker: bytes of frames, or its end, which is the last of it.
struct WorkerEvent {
  std::size_t worker = 0;
  std::string bytes = {};
  std::optional<WorkerEnd> end = std::nullopt;
};

// A fixed number of places for workers; each is started, ends, and may be started again.
// Thread-compatible.
class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  virtual ~Workers() = default;  // kills those that run

  // Requires that none runs at this place.
  virtual base::Status start(std::size_t worker) = 0;
  // As many of the bytes as it takes without waiting; how many. None, if it has ended.
  virtual std::size_t send(std::size_t worker, std::string_view bytes) = 0;
  // Ends it and all that it started; an event tells when it is gone.
  virtual void kill(std::size_t worker) = 0;
  // Waits until something has come, a worker of `wanted` takes bytes again, or the time is over.
  // Appends what has come.
  virtual base::Status wait(base::Duration limit, const std::vector<bool>& wanted,
                            std::vector<WorkerEvent>& events) = 0;
  // Lets the time go by, unless one ends: what comes meanwhile is had at once afterwards.
  virtual void rest(base::Duration duration) = 0;
};

}  // namespace meguri::scan
