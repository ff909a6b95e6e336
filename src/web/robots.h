// robots.txt (RFC 9309): what a site asks of crawlers, compiled for fast and frequent questions.
//
// Which group holds: all groups whose user-agent line names our product token, merged; if there is
// none, the groups of "*". A line names the token it begins with, letters, "_" and "-" only, in any
// case, and only a whole token counts: "Meguri/1.0 (+url)" and "meguri, other" name "meguri", but
// "Meguri-Images" and "meg" do not. Allow and Disallow lines end the list of user-agent lines
// before them; nothing else does. A Crawl-delay counts for the user-agent lines since the last
// rule or Crawl-delay, which is how site owners mean it.
//
// Which rule decides: the longest pattern that matches (octets in comparable form, wildcards
// included), an Allow on a tie; no match allows. Patterns that begin with neither "/" nor "*" and
// empty ones match nothing. /robots.txt is always allowed.
//
// Limits. Beyond kRobotsBytesMax the rest is ignored, the line cut there included. Beyond
// kRobotsRulesMax further rules of the group are ignored. A Disallow longer than
// kRobotsRuleBytesMax is cut to that, so it forbids more; an Allow that long is ignored. All three
// are said by flags. A path that would take more than kRobotsWorkMax octets of wildcard matching is
// disallowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "web/robots_rules.h"

namespace meguri::web {

inline constexpr std::size_t kRobotsBytesMax = 512U << 10U;
inline constexpr std::size_t kRobotsRuleBytesMax = 2048;
inline constexpr std::size_t kRobotsSitemapsMax = 1000;
inline constexpr std::size_t kRobotsSitemapBytesMax = 4096;

// Whose Disallow lines count.
enum class RobotsScope : std::uint8_t {
  kOwnGroup,  // those of the group that holds for us, as the RFC has it
  kAnyAgent,  // those of every other group as well, and no Allow line lifts the latter
};

// What is to be done with the answer to a request for robots.txt.
enum class RobotsPolicy : std::uint8_t {
  kParse,
  kAllowAll,     // unavailable: 4xx, or redirects without end
  kDisallowAll,  // unreachable: 5xx, 429, no answer (status 0), anything unknown
  kKeep,         // 304: what we hold still holds
};

// `status` is that of the last answer after redirects.
RobotsPolicy robots_for_status(int status);

// What is said of a file as a whole.
struct RobotsFlags {
  bool own_group = false;   // a group names us
  bool star_group = false;  // no group names us, and there is one of "*"
  bool markup = false;      // the bytes begin with "<": a page sent by mistake; no rules
  bool bytes_cut = false;
  bool rules_ignored = false;  // more than kRobotsRulesMax, or an overlong Allow
  bool rule_cut = false;       // an overlong Disallow

  friend bool operator==(const RobotsFlags&, const RobotsFlags&) = default;
};

struct RobotsVerdict {
  bool allowed = true;
  bool gave_up = false;        // disallowed because of kRobotsWorkMax
  std::uint32_t line = 0;      // of the deciding rule in the file; 0: no rule of a file decided
  std::string_view rule = {};  // its pattern in comparable form; lives as long as the bytes
};

// Borrowed bytes of Robots::blob(). Any thread.
class RobotsView {
 public:
  RobotsView() = default;  // allows everything

  // nullopt: not such bytes. Whatever is taken is safe to ask. Linear in the number of rules.
  static std::optional<RobotsView> open(std::string_view blob);

  // `path_and_query` is that of a URL, a fragment is ignored. No memory is taken for paths that are
  // in comparable form already, which most are.
  RobotsVerdict check(std::string_view path_and_query) const;

  std::optional<base::Duration> crawl_delay() const;
  RobotsFlags flags() const;

 private:
  friend class Robots;
  static bool split(std::string_view blob, std::string_view* own, std::string_view* others);

  std::string_view header_;  // empty, or all of the header's bytes
  RobotsRulesView own_;
  RobotsRulesView others_;
};

// Owns the bytes: 14 for a file without rules; 24 a rule, 40 with wildcards, and its text. Const
// calls from any thread. Views of verdicts die with the object and when it is moved or assigned. To
// ask often, keep a view().
class Robots {
 public:
  using Verdict = RobotsVerdict;

  Robots() = default;  // allows everything

  // `agent` is our product token or whole user-agent, of which the token in front is taken. Any
  // bytes are a robots.txt; UTF-8 is expected, UTF-16 is read behind its byte order mark.
  static Robots parse(std::string_view bytes, std::string_view agent,
                      RobotsScope scope = RobotsScope::kOwnGroup);
  static Robots allow_all() { return {}; }
  static Robots disallow_all();

  // nullopt: bytes that blob() never gives. Sitemaps are not in a blob.
  static std::optional<Robots> from_blob(std::string blob);

  // Empty for allow_all().
  const std::string& blob() const { return blob_; }

  RobotsView view() const;
  Verdict check(std::string_view path_and_query) const { return view().check(path_and_query); }
  std::optional<base::Duration> crawl_delay() const { return view().crawl_delay(); }
  RobotsFlags flags() const { return view().flags(); }

  // The Sitemap lines of the whole file in their order, without repetitions, as they are written:
  // at most kRobotsSitemapsMax, longer ones than kRobotsSitemapBytesMax left out.
  const std::vector<std::string>& sitemaps() const { return sitemaps_; }

 private:
  explicit Robots(std::string blob) : blob_(std::move(blob)) {}

  std::string blob_;
  std::vector<std::string> sitemaps_;
};

}  // namespace meguri::web
