// Reads any bytes as dates; a date that was read is written and read back as the same.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "web/http_date.h"

namespace {

using namespace meguri;

void check_date(std::optional<base::Instant> date) {
  constexpr std::int64_t kDayMs = 86'400'000;
  if (!date) return;
  // A zone may move a date out of the years 0000..9999, by less than a day.
  CHECK(date->ms() >= -62'167'219'200'000 - kDayMs && date->ms() < 253'402'300'800'000 + kDayMs);
  const std::string text = web::format_http_date(*date);
  CHECK(text.size() == 29);
  const auto again = web::parse_http_date(text, 2026);
  CHECK(again.has_value() && web::format_http_date(*again) == text);
  CHECK(web::parse_w3c_date(again->to_rfc3339()) == again);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_date(web::parse_http_date(text, 2026));
  check_date(web::parse_w3c_date(text));
  check_date(web::parse_any_date(text, 1999));
  return 0;
}
