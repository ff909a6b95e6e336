// Moments and periods as people write them.
#pragma once

#include <string_view>

#include "archive/time_span.h"
#include "base/result.h"
#include "base/time.h"

namespace meguri::archive {

// What a text names: a year, a month, a day, an hour, a minute, a second or a millisecond.
//   2026, 2026-11, 2026-11-16, 2026-11-16T08, 2026-11-16T08:09, and with :10, .123 and a zone as in
//     RFC 3339; without one it is UTC
//   2026, 202611, 20261116, 2026111608, ... 20261116080910, 20261116080910123: digits alone
//   now, 90s ago, 7d ago, 2h30m ago: that millisecond
// kInvalid: nothing of these; the sentence says what there is.
base::Result<TimeSpan> parse_named_time(std::string_view text, base::Instant now);

// The last moment of what a text names, so that "2026-11" is as things stood when November ended.
base::Result<base::Instant> parse_moment(std::string_view text, base::Instant now);

// "A..B": from the first moment of A to the last of B, where B names a minute or more; a second or
// less is a moment, up to which, but without which, the period goes. Either may be left out: from
// the beginning of time, without an end. "A" alone: what it names. kInvalid too if it is empty.
base::Result<TimeSpan> parse_period(std::string_view text, base::Instant now);

}  // namespace meguri::archive
