// Reads times and durations out of any bytes; what is accepted must survive its printed form.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/time.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using meguri::base::Duration;
  using meguri::base::Instant;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = Instant::parse_rfc3339(text)) {
    CHECK(Instant::parse_rfc3339(time->to_rfc3339()) == *time);
    CHECK(Instant::parse_rfc3339(time->to_rfc3339_ms()) == *time);
    CHECK(Instant::parse_digits(time->to_digits_ms()) == *time);
  }
  if (const auto time = Instant::parse_digits(text)) {
    CHECK(Instant::parse_digits(time->to_digits_ms()) == *time);
    CHECK(time->to_digits() == text.substr(0, 14) || text.substr(12, 2) == "60");
  }
  if (const auto duration = Duration::parse(text)) {
    CHECK(*duration >= Duration());
    const auto printed = Duration::parse(duration->to_string());
    CHECK(printed && *printed <= *duration);
  }
  return 0;
}
