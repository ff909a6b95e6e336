// Work on many files at once, that can be watched and stopped.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"

namespace meguri::app {

// "--workers": as many as there are cores if nothing is said. kInvalid: it is no number from 1 to
// 256.
base::Result<std::size_t> parse_workers(const std::string& text);

struct ParallelWork {
  std::size_t count = 0;    // of pieces, which are done in order as far as there are threads
  std::size_t workers = 1;  // threads
  // Does a piece; any thread. An error ends everything. Asks `is_stopped` now and then, and returns
  // kStopped if so.
  std::function<base::Status(std::size_t piece, const std::atomic<bool>& is_stopped)> work;
  std::function<std::string()> progress;  // a line; empty: nothing is said
};

// The first error. kStopped: a signal came, and those pieces that were begun have ended.
base::Status do_in_parallel(const ParallelWork& parallel);

}  // namespace meguri::app
