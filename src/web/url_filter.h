// Which URLs may become candidates: form, names, and the patterns of crawler traps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "web/url.h"

namespace meguri::web {

// Why a URL is not followed, in the order in which it is looked for.
enum class UrlRefusal : std::uint8_t {
  kTooLong,        // longer than bytes_max
  kScheme,         // neither http nor https
  kNoHost,         // an empty name, or only dots
  kBadHost,        // an empty or too long label, a name above 253 bytes, other characters
  kBareSuffix,     // a public suffix alone, as in http://co.uk/
  kSingleLabel,    // a name without dots, unless allowed
  kUnknownSuffix,  // a top-level domain nobody registered, unless allowed
  kBadPort,        // port 0, or one that browsers block because other services live there
  kTooDeep,        // more than depth_max segments
  kRepeatingPath,  // the same one to four segments three times in a row
  kSessionId,      // a session id in path or query
  kCalendar,       // a date far from now
};

std::string_view name_of(UrlRefusal refusal);

struct UrlFilterLimits {
  std::size_t bytes_max = 4096;
  std::size_t depth_max = 20;
  std::size_t repeats_max = 2;  // how often in a row segments may stand in a path
  bool allow_intranet = false;  // single labels and unknown suffixes
  bool allow_session_ids = false;
  int year_now = 0;                    // 0: no calendar rule
  std::uint32_t years_back_max = 150;  // archives of newspapers go back that far
  std::uint32_t years_ahead_max = 3;
};

// Nothing if the URL may be followed; else the first reason against it. Pure; linear in the URL.
std::optional<UrlRefusal> check(const Url& url, const UrlFilterLimits& limits);

// The single rules for traps, on a path and a query as Url gives them.
bool has_repeating_segments(std::string_view path, std::size_t repeats_max);
bool has_session_id(std::string_view path, std::string_view query);
// True if a date in path or query has a year before `year_min` or after `year_max`.
bool has_distant_date(std::string_view path, std::string_view query, int year_min, int year_max);

// True if the parameter `name` (any case) is known to carry a session, and `value` looks like one.
bool is_session_argument(std::string_view name, std::string_view value);
// True for a segment as ASP.NET writes sessions: "(S(24 letters and digits))".
bool is_session_segment(std::string_view segment);

}  // namespace meguri::web
