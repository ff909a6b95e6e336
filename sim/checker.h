// Checker: what a crawler did wrong, judged by the server's own log and by what the world is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/access_log.h"
#include "sim/world.h"

namespace meguri::sim {

enum class BreachKind : std::uint8_t {
  kHostOverlap,    // two requests at once to one host
  kServerOverlap,  // more at once to one server than allowed
  kHostGap,        // the next request to a host came too soon after an answer
  kServerGap,      // the same for a server
  kCrawlDelay,     // sooner than the host's robots.txt asks for, once it must have been read
  kRobots,         // robots.txt forbids the target
  kUnlinked,       // nothing that was fetched before leads there, nofollow links not counted
  kRepeated,       // fetched again after it was answered, where each page was to be fetched once
};
inline constexpr std::size_t kBreachKinds = 8;

std::string_view name_of(BreachKind kind);

struct Breach {
  BreachKind kind;
  std::size_t access;  // its index in the log
  std::string why;
};

// What was asked of the crawler.
struct CheckOptions {
  std::string agent = "meguri";
  base::Duration host_gap = base::Duration::seconds(5);  // from an answer's end to the next request
  double host_gap_factor = 0;  // and this many times the duration of that answer
  base::Duration server_gap = base::Duration::seconds(1);
  std::size_t server_parallel = 1;
  base::Duration tolerance = base::Duration::from_ms(0);  // of clocks and networks
  // No target is fetched again, but after no answer, 408, 429 or 5xx.
  bool once = false;
  std::vector<std::string> seeds;   // URLs; empty: links are not checked
  std::size_t breaches_max = 1000;  // kept; all are counted
};

struct CheckReport {
  std::size_t accesses = 0;
  std::array<std::size_t, kBreachKinds> counts{};  // by kind
  std::vector<Breach> breaches;                    // in the order of the log

  std::size_t total() const;
};

// `log` in any order; it is judged in the order of arrivals. Memory grows with the number of
// different targets.
CheckReport check_log(const World& world, std::span<const Access> log, const CheckOptions& options);

}  // namespace meguri::sim
