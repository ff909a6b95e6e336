// StopSignals: SIGINT, SIGTERM and SIGHUP as something to wait for.
#pragma once

#include <csignal>
#include <optional>

#include "base/time.h"

namespace meguri::app {

// From its making on, none of these signals ends this thread, nor those that are started from it.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // Until a signal comes, or `limit` of real time has passed. False: it has passed.
  bool wait(std::optional<base::Duration> limit) const;

 private:
  sigset_t set_{};
  sigset_t before_{};
};

}  // namespace meguri::app
