#include "app/stop_signals.h"

#include <cerrno>
#include <ctime>

namespace meguri::app {

StopSignals::StopSignals(Rest rest) : rest_(rest) {
  sigemptyset(&set_);
  sigaddset(&set_, SIGINT);
  sigaddset(&set_, SIGTERM);
  // The terminal was closed; nohup ignores that, and so do we then.
  struct sigaction hang_up{};
  const bool is_known = ::sigaction(SIGHUP, nullptr, &hang_up) == 0;
  if (is_known && hang_up.sa_handler != SIG_IGN) sigaddset(&set_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set_, &before_);
}

StopSignals::~StopSignals() {
  while (rest_ == Rest::kDropped && wait(base::Duration())) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool StopSignals::wait(std::optional<base::Duration> limit) const {
  for (;;) {
    timespec time{};
    if (limit) {
      time.tv_sec = limit->ms() / 1000;
      time.tv_nsec = limit->ms() % 1000 * 1'000'000;
    }
    const int signal = limit ? sigtimedwait(&set_, nullptr, &time) : sigwaitinfo(&set_, nullptr);
    if (signal > 0) return true;
    // Another signal, such as that of a debugger, interrupts the wait.
    if (errno != EINTR) return false;
  }
}

base::Status StopSignals::check() const {
  if (wait(base::Duration())) return base::fail(base::ErrorCode::kStopped, "stopped");
  return {};
}

}  // namespace meguri::app
