#include "app/parallel_work.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "app/stop_signals.h"
#include "app/values.h"
#include "base/console.h"
#include "base/mutex.h"
#include "base/progress.h"
#include "base/time.h"
#include "env/clock.h"

namespace meguri::app {

namespace {

using base::ErrorCode;

constexpr base::Duration kLookEvery = base::Duration::from_ms(50);
constexpr std::uint64_t kWorkersMax = 256;

}  // namespace

base::Result<std::size_t> parse_workers(const std::string& text) {
  if (text.empty()) return std::max(1U, std::thread::hardware_concurrency());
  ASSIGN_OR_RETURN(const std::uint64_t count, parse_count("--workers", text));
  if (count == 0 || count > kWorkersMax) {
    return base::fail(ErrorCode::kInvalid, "--workers must be from 1 to {}", kWorkersMax);
  }
  return count;
}

base::Status do_in_parallel(const ParallelWork& parallel) {
  const StopSignals signals;
  RETURN_IF_ERROR(signals.check());  // one that came before
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> ended = 0;
  std::atomic<bool> is_stopped = false;
  base::Mutex mutex;
  std::optional<base::Error> failure;
  const auto run = [&] {
    for (std::size_t i = next++; i < parallel.count && !is_stopped; i = next++) {
      const auto status = parallel.work(i, is_stopped);
      if (status) continue;
      const base::MutexLock lock(mutex);
      if (!failure) failure = status.error();
      is_stopped = true;
    }
    ++ended;
  };
  std::vector<std::thread> threads;
  const std::size_t workers = std::min(parallel.workers, parallel.count);
  for (std::size_t i = 0; i < workers; ++i) threads.emplace_back(run);
  const env::RealClock clock;
  base::Progress shown(base::Console::standard_error());
  const auto show = [&] {
    if (const std::string text = parallel.progress(); !text.empty()) {
      shown.update(clock.ticks(), text);
    }
  };
  bool is_signalled = false;
  while (ended < workers) {
    if (signals.wait(kLookEvery)) {
      is_signalled = true;
      is_stopped = true;
    }
    show();
  }
  for (std::thread& thread : threads) thread.join();
  show();
  shown.finish();
  const base::MutexLock lock(mutex);
  const bool is_failed = failure && failure->code() != ErrorCode::kStopped;
  if (is_failed) return std::unexpected(*std::move(failure));
  if (is_signalled) return base::fail(ErrorCode::kStopped, "stopped");
  return {};
}

}  // namespace meguri::app
