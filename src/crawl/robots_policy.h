// What we hold of a robots.txt, and what is to be done about it (RFC 9309, section 2.3).
//
// | answer                    | until it is asked again                                          |
// | 2xx                       | its rules hold, up to robots_age_max                             |
// | 4xx but 429, 3xx too many | everything is allowed, as long                                   |
// | 5xx, 429, none            | nothing is allowed. Asked again after 30 s and 2 min, for which  |
// |                           | pages wait; then after 10 min, 40 min, ... 1 day, should there   |
// |                           | be pages: they are sent back for so long, and refused for good   |
// |                           | after tries_max failures                                         |
// | none of use for 30 days   | everything is allowed                                            |
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "web/robots.h"

namespace meguri::crawl {

inline constexpr std::uint8_t kRobotsHopsMax = 5;    // redirects that are followed
inline constexpr std::uint32_t kRobotsTriesMax = 3;  // for which pages wait
inline constexpr base::Duration kRobotsGivenUpAfter = base::Duration::days(30);

// Times are of UTC, because they outlive the process. A clock that was set back only makes us ask
// again.
struct RobotsRecord {
  web::Robots rules;
  bool is_known = false;
  base::Instant fetched;        // when `rules` came; requires is_known
  std::uint32_t failures = 0;   // in a row, since the last answer of use
  base::Instant failed;         // the last of them
  base::Instant failing_since;  // the first of them; zero: none
};

enum class RobotsStep : std::uint8_t {
  kUse,     // the rules hold
  kAsk,     // robots.txt must be fetched now
  kWait,    // it will be asked for soon, in robots_wait() from the last failure on
  kRefuse,  // it cannot be had, and pages shall not wait here for it
};

RobotsStep robots_step(const RobotsRecord& record, base::Instant now, base::Duration age_max);

// From the last of so many failures in a row to the next try. Requires failures > 0.
base::Duration robots_wait(std::uint32_t failures);

// robots.txt was answered with `status` after all redirects that were followed; 0: not at all.
// `text` counts for 2xx, and our name in it is `agent`.
void take_robots(RobotsRecord& record, int status, std::string_view text, std::string_view agent,
                 base::Instant now, web::RobotsScope scope = web::RobotsScope::kOwnGroup);

// For the store; rules are bound to the agent they were compiled for and unknown to any other.
std::string encode_robots(const RobotsRecord& record, std::string_view agent);
bool decode_robots(std::string_view bytes, std::string_view agent, RobotsRecord& record);

}  // namespace meguri::crawl
