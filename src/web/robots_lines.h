// The lines of robots.txt, with the slips that site owners make. Pure; any thread; linear time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace meguri::web {

enum class RobotsKey : std::uint8_t {
  kUserAgent,
  kAllow,
  kDisallow,
  kSitemap,
  kCrawlDelay,
  kRequestRate,
};

struct RobotsLine {
  std::uint32_t number = 0;  // from 1
  RobotsKey key = RobotsKey::kUserAgent;
  std::string_view value;  // trimmed, without comment; may be empty
};

// Gives the lines whose key is known, one after the other; the rest is skipped. Lines end with LF,
// CR or CRLF. "#" begins a comment. A key is known by its beginning, in any case, and in its usual
// misspellings. Without a colon, a line of exactly two words is read as key and value.
// Borrows the text.
class RobotsLines {
 public:
  explicit RobotsLines(std::string_view text) : rest_(text) {}

  std::optional<RobotsLine> next();  // nullopt: the end

 private:
  std::string_view next_raw();

  std::string_view rest_;
  std::uint32_t number_ = 0;
};

// The product token a user-agent line or our own agent's name begins with: the longest front of
// letters, "_" and "-". "Meguri/1.0 (archive)" and "meguri 2" name "meguri"; "Meguri-Images" names
// only itself.
std::string_view robots_product_token(std::string_view agent);

// "5", "0.5", ".5"; nullopt for anything else. Above kRobotsDelayMax it is that.
std::optional<base::Duration> parse_crawl_delay(std::string_view value);

// "1/10", "30/1m", "100/24h 0600-0845": pages in a time (seconds without a unit), as the time
// between two pages. The hours of the day are not looked at.
std::optional<base::Duration> parse_request_rate(std::string_view value);

inline constexpr base::Duration kRobotsDelayMax = base::Duration::days(30);

}  // namespace meguri::web
