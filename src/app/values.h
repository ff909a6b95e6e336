// Values of options: text to numbers, durations and times, with one sentence when it is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace meguri::app {

// "1000", "1,000", "10k", "2M", "1G" (powers of ten). `option` is named in the sentence.
base::Result<std::uint64_t> parse_count(std::string_view option, std::string_view text);

base::Result<double> parse_number(std::string_view option, std::string_view text);

// 0 is any free port.
base::Result<std::uint16_t> parse_port(std::string_view option, std::string_view text);

// "512", "10kB", "100MB", "1GiB": bytes, by powers of 1000 or, with an i, of 1024.
base::Result<std::uint64_t> parse_bytes(std::string_view option, std::string_view text);

base::Result<base::Duration> parse_duration(std::string_view option, std::string_view text);

// RFC 3339, a date alone, 14 or 17 digits, or "now".
base::Result<base::Instant> parse_time(std::string_view option, std::string_view text,
                                       base::Instant now);

}  // namespace meguri::app
