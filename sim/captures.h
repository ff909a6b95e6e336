// Captures: what an archive says it holds of the virtual web, judged against the true histories.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/recall.h"
#include "sim/world.h"

namespace meguri::sim {

struct Capture {
  std::string url;
  base::Instant time;

  friend bool operator==(const Capture&, const Capture&) = default;
};

// One line for each: a URL and a time (RFC 3339, 14 or 17 digits), separated by blanks, or a line
// of CDXJ. Empty lines, and lines that begin with '#' or '!', are passed over. Errors name the
// line.
base::Result<std::vector<Capture>> parse_captures(std::string_view text);

// [from, to).
struct Period {
  base::Instant from;
  base::Instant to;
};

// From the first capture to just after the last.
Period period_of(std::span<const Capture> captures);

struct CaptureReport {
  std::size_t pages = 0;           // there were to be held
  std::size_t pages_captured = 0;  // of these, at least once
  std::size_t captures = 0;
  std::size_t captures_of_no_page = 0;  // of embeds, errors, strangers, or outside the period
  Holdings holdings;
};

// Over every page that was there within the period; where there are seeds, over those that can be
// reached from them at its end.
CaptureReport judge_captures(const World& world, std::span<const Capture> captures, Period period,
                             std::span<const std::string> seeds);

}  // namespace meguri::sim
