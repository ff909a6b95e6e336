// StopSignals: SIGINT, SIGTERM and SIGHUP as something to wait for.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>

#include "base/result.h"
#include "base/time.h"

namespace meguri::app {

// From its making on, none of these signals ends this thread, nor those that are started from it.
class StopSignals {
 public:
  // What becomes of signals that nobody waited for: one made within another leaves them to that.
  enum class Rest : std::uint8_t { kLeft, kDropped };

  explicit StopSignals(Rest rest = Rest::kLeft);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  // Until a signal comes, or `limit` of real time has passed. False: it has passed.
  bool wait(std::optional<base::Duration> limit) const;
  // kStopped: one came.
  base::Status check() const;

 private:
  const Rest rest_;
  sigset_t set_{};
  sigset_t before_{};
};

}  // namespace meguri::app
