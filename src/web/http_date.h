// Dates as servers, feeds and sitemaps write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace meguri::web {

inline constexpr std::size_t kDateBytesMax = 128;  // longer texts are no dates

// The three forms of RFC 9110 ("Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
// "Sun Nov  6 08:49:37 1994") and what resembles them: any order of the parts as long as day comes
// before year, the weekday missing or wrong, full month names, '-' or further blanks between parts,
// no seconds or no time (midnight), fractions, zones as numbers or by name (none: UTC), comments in
// parentheses, and anything behind ';'. Zones by a name we do not know are refused.
//
// `year_now` decides what two digits mean: the year of this century, or of the last one if that is
// more than 50 years ahead.
std::optional<base::Instant> parse_http_date(std::string_view text, int year_now);

// W3C's profile of ISO 8601: "1997", "1997-07", "1997-07-16", "1997-07-16T19:20+01:00", with
// seconds and fractions. Taken too: a space for 'T', blanks before the zone, "+0100", "+01", "UTC",
// no zone (UTC), one digit for month or day.
std::optional<base::Instant> parse_w3c_date(std::string_view text);

// Whichever of the two forms it is.
std::optional<base::Instant> parse_any_date(std::string_view text, int year_now);

// "Sun, 06 Nov 1994 08:49:37 GMT". Milliseconds are dropped; moments outside the years 0000..9999
// become the nearest one inside.
std::string format_http_date(base::Instant time);

// Of UTC; for the year_now of the others.
int year_of(base::Instant time);

}  // namespace meguri::web
