#include "app/values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "base/text.h"

namespace meguri::app {
namespace {

template <typename T>
bool read_all(std::string_view text, T* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end;
}

std::uint64_t factor_of(char unit) {
  switch (unit) {
    case 'k':
    case 'K': return 1'000;
    case 'M': return 1'000'000;
    case 'G': return 1'000'000'000;
    default: return 1;
  }
}

}  // namespace

base::Result<std::uint64_t> parse_count(std::string_view option, std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ',' && c != '_') digits.push_back(c);
  }
  const std::uint64_t factor = digits.empty() ? 1 : factor_of(digits.back());
  if (factor > 1) digits.pop_back();
  std::uint64_t count = 0;
  const bool is_number = read_all(digits, &count);
  if (!is_number || count > std::numeric_limits<std::uint64_t>::max() / factor) {
    return base::fail(base::ErrorCode::kInvalid, "{} takes a number such as 1000 or 10k, not {}",
                      option, base::quoted(text));
  }
  return count * factor;
}

base::Result<double> parse_number(std::string_view option, std::string_view text) {
  double number = 0;
  if (!read_all(text, &number) || !std::isfinite(number)) {
    return base::fail(base::ErrorCode::kInvalid, "{} takes a number such as 2.5, not {}", option,
                      base::quoted(text));
  }
  return number;
}

base::Result<std::uint16_t> parse_port(std::string_view option, std::string_view text) {
  std::uint16_t port = 0;
  if (!read_all(text, &port)) {
    return base::fail(base::ErrorCode::kInvalid, "{} takes a port from 0 to 65535, not {}", option,
                      base::quoted(text));
  }
  return port;
}

base::Result<std::uint64_t> parse_bytes(std::string_view option, std::string_view text) {
  constexpr std::string_view kUnits = "kMGT";
  std::string_view digits = text;
  std::uint64_t base = 1000;
  std::uint64_t factor = 1;
  if (digits.ends_with('B')) {
    digits.remove_suffix(1);
    if (digits.ends_with('i')) {
      digits.remove_suffix(1);
      base = 1024;
    }
    const char last = digits.empty() ? ' ' : digits.back();
    const std::size_t unit = kUnits.find(last == 'K' ? 'k' : last);
    if (unit != kUnits.npos) digits.remove_suffix(1);
    for (std::size_t i = 0; unit != kUnits.npos && i <= unit; ++i) factor *= base;
    if (base == 1024 && factor == 1) digits = {};  // "1iB"
  }
  std::uint64_t count = 0;
  const bool is_number = read_all(digits, &count);
  if (!is_number || count > std::numeric_limits<std::uint64_t>::max() / factor) {
    return base::fail(base::ErrorCode::kInvalid, "{} takes a size such as 10MB or 1GiB, not {}",
                      option, base::quoted(text));
  }
  return count * factor;
}

base::Result<base::Duration> parse_duration(std::string_view option, std::string_view text) {
  const auto duration = base::Duration::parse(text);
  if (!duration) {
    return base::fail(base::ErrorCode::kInvalid, "{} takes a duration such as 30s or 1h30m, not {}",
                      option, base::quoted(text));
  }
  return *duration;
}

base::Result<base::Instant> parse_time(std::string_view option, std::string_view text,
                                       base::Instant now) {
  if (text == "now") return now;
  if (const auto time = base::Instant::parse_rfc3339(text)) return *time;
  if (const auto time = base::Instant::parse_rfc3339(std::string(text) + "T00:00:00Z")) {
    return *time;
  }
  if (const auto time = base::Instant::parse_digits(text)) return *time;
  return base::fail(base::ErrorCode::kInvalid,
                    "{} takes a time such as 2026-11-15T08:00:00Z, 2026-11-15, 20261115080000 or "
                    "now, not {}",
                    option, base::quoted(text));
}

}  // namespace meguri::app
