// WireScript: an answer of a host that misbehaves, as the very bytes and pauses that it sends.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/time.h"

namespace meguri::sim {

inline constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();

// A pause, then bytes, as often as it says. A step that is never over has one of the two.
struct WireStep {
  std::string bytes = {};
  std::uint64_t times = 1;
  base::Duration pause = {};  // by the web's clock, before the bytes of each time
};

struct WireScript {
  std::vector<WireStep> steps;
  bool resets = false;  // the connection at the end, instead of closing it
};

}  // namespace meguri::sim
