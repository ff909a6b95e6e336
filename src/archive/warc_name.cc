#include "archive/warc_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kGzipSuffix = ".warc.gz";
constexpr std::string_view kPlainSuffix = ".warc";
constexpr std::size_t kPartSizeMax = 64;

// Takes what is behind the last '-' off the end of `*rest`.
std::optional<std::string_view> take_last(std::string_view* rest) {
  const std::size_t hyphen = rest->rfind('-');
  if (hyphen == std::string_view::npos) return std::nullopt;
  const std::string_view part = rest->substr(hyphen + 1);
  *rest = rest->substr(0, hyphen);
  return part;
}

}  // namespace

bool is_name_part(std::string_view text, bool allows_hyphen) {
  return !text.empty() && text.size() <= kPartSizeMax && text.front() != '.' &&
         std::ranges::all_of(text, [&](char c) {
           return web::is_alnum(c) || c == '_' || c == '.' || (c == '-' && allows_hyphen);
         });
}

std::string WarcName::to_string() const {
  return fmt::format("{}-{}-{:05}-{}{}", prefix, time.to_digits(), serial, instance,
                     compression == WarcCompression::kGzip ? kGzipSuffix : kPlainSuffix);
}

std::optional<WarcName> WarcName::parse(std::string_view name) {
  WarcName parsed;
  std::string_view rest = name;
  if (rest.ends_with(kGzipSuffix)) {
    rest.remove_suffix(kGzipSuffix.size());
  } else if (rest.ends_with(kPlainSuffix)) {
    rest.remove_suffix(kPlainSuffix.size());
    parsed.compression = WarcCompression::kNone;
  } else {
    return std::nullopt;
  }
  const auto instance = take_last(&rest);
  const auto serial = take_last(&rest);
  const auto time = take_last(&rest);
  if (!time || !is_name_part(*instance, false) || !is_name_part(rest, true)) return std::nullopt;
  const auto number = web::parse_decimal(*serial);
  if (!number || time->size() != 14) return std::nullopt;
  const auto instant = base::Instant::parse_digits(*time);
  if (!instant) return std::nullopt;
  parsed.prefix = rest;
  parsed.time = *instant;
  parsed.serial = *number;
  parsed.instance = *instance;
  if (parsed.to_string() != name) return std::nullopt;
  return parsed;
}

bool WarcName::is_after(const WarcName& other) const {
  return std::tie(time, serial) > std::tie(other.time, other.serial);
}

}  // namespace meguri::archive
