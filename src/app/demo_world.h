// DemoWorld: the virtual web of `meguri demo`, what is in it, and the clock that it shares with the
// crawler.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/leads.h"
#include "sim/world.h"

namespace meguri::app {

// What is worth telling of a web before it is crawled.
struct WorldFacts {
  std::vector<std::string> languages;  // the most frequent first
  std::set<std::string> charsets;
  std::size_t hosts_with_robots = 0;
  std::size_t hosts_with_delay = 0;  // that ask for one
  base::Duration delay_max;          // of these
  std::size_t hosts_with_wrong_charset = 0;
};

struct TruthFacts {
  std::size_t pages = 0;
  std::size_t embeds = 0;  // images, styles and scripts
  std::size_t redirects = 0;
  std::size_t dead = 0;     // 404 and 410
  std::size_t failing = 0;  // 5xx
};

// Const calls from any thread.
class DemoWorld {
 public:
  static constexpr int kSpeed = 100;

  // `pages` of 100 to a million; it begins at `origin`, when the clocks of all do.
  DemoWorld(std::uint64_t pages, base::Instant origin);

  const sim::World& world() const { return world_; }
  base::Instant time_at(base::Instant real) const;  // by the web's clock

  // What the programs are told, so that all mean the same web and the same time.
  std::vector<std::string> world_arguments() const;
  std::vector<std::string> clock_arguments() const;

  WorldFacts facts() const;

 private:
  base::Instant origin_;
  sim::World world_;
};

TruthFacts facts_of(const std::vector<sim::Reached>& truth);

}  // namespace meguri::app
