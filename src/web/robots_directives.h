// What a page says to robots about itself: <meta name="robots"> and X-Robots-Tag.
// Pure functions; any thread; linear time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::web {

// What is read of one value; the rest of a longer one is ignored.
inline constexpr std::size_t kRobotsDirectivesBytesMax = 8192;
// A longer date of unavailable_after is cut.
inline constexpr std::size_t kUnavailableAfterBytesMax = 100;

enum class ImagePreview : std::uint8_t { kNone, kStandard, kLarge };

// Everything off or absent: nothing is asked for. "all", "index" and "follow" are that too.
struct RobotsDirectives {
  bool noindex = false;
  bool nofollow = false;   // "none" is both
  bool noarchive = false;  // "nocache" too
  bool nosnippet = false;
  bool noimageindex = false;
  bool notranslate = false;
  bool indexifembedded = false;
  std::optional<std::int64_t> max_snippet;        // characters; -1: no limit
  std::optional<std::int64_t> max_video_preview;  // seconds; -1: no limit
  std::optional<ImagePreview> max_image_preview;
  std::string unavailable_after;  // a date as it is written; empty: none

  friend bool operator==(const RobotsDirectives&, const RobotsDirectives&) = default;
};

// Both together: of two values the stricter, of two dates the first.
RobotsDirectives merge(const RobotsDirectives& a, const RobotsDirectives& b);

// Whether a <meta> of this name speaks to us: "robots", or the product token of `agent`, in any
// case.
bool is_robots_meta_name(std::string_view name, std::string_view agent);

// The content of such a <meta>: directives in any case, separated by commas, semicolons or blanks.
RobotsDirectives parse_meta_robots(std::string_view content);

// One X-Robots-Tag header. "agent: noindex, nofollow" speaks to that agent up to the next
// "agent:"; what stands before the first speaks to all. Headers should be parsed one by one and
// merged: in a joined value, a header without an agent seems to belong to the agent before it.
RobotsDirectives parse_x_robots_tag(std::string_view value, std::string_view agent);

}  // namespace meguri::web
