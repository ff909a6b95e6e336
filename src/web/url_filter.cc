#include "web/url_filter.h"

#include <algorithm>
#include <array>

#include "web/domain.h"
#include "web/host.h"

namespace meguri::web {

namespace {

constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kNameMax = 253;

// The ports that browsers refuse, by the Fetch Standard, and 0. Sorted.
constexpr std::array<std::uint16_t, 83> kBlockedPorts = {
    0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,   25,
    37,   42,   43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,  109,
    110,  111,  113,  115,  117,  119,  123,  135,  137,  139,  143,  161,  179,  389,
    427,  465,  512,  513,  514,  515,  526,  530,  531,  532,  540,  548,  554,  556,
    563,  587,  601,  636,  989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045,
    4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080};
static_assert(std::ranges::is_sorted(kBlockedPorts));

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

bool has_bad_label(std::string_view name) {
  std::size_t length = 0;
  for (const char c : name) {
    length = c == '.' ? 0 : length + 1;
    if (length > kLabelMax) return true;
  }
  return name.starts_with('.') || name.ends_with('.') || name.contains("..");
}

std::optional<UrlRefusal> check_host(std::string_view host, bool allow_intranet) {
  if (host.empty() || std::ranges::all_of(host, [](char c) { return c == '.'; })) {
    return UrlRefusal::kNoHost;
  }
  if (is_ip_address(host)) return std::nullopt;
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() > kNameMax || has_bad_label(host)) return UrlRefusal::kBadHost;
  if (!std::ranges::all_of(host, is_name_byte)) return UrlRefusal::kBadHost;
  if (allow_intranet) return std::nullopt;
  if (registrable_domain(host).empty()) {
    return is_public_suffix(host) ? UrlRefusal::kBareSuffix : UrlRefusal::kSingleLabel;
  }
  if (!has_known_suffix(host)) return UrlRefusal::kUnknownSuffix;
  return std::nullopt;
}

std::optional<UrlRefusal> check_traps(const Url& url, const UrlFilterLimits& limits) {
  const std::string_view path = url.path();
  std::size_t depth = 0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (path[i] != '/' && path[i - 1] == '/') ++depth;
  }
  if (depth > limits.depth_max) return UrlRefusal::kTooDeep;
  if (has_repeating_segments(path, limits.repeats_max)) return UrlRefusal::kRepeatingPath;
  if (!limits.allow_session_ids && has_session_id(path, url.query())) return UrlRefusal::kSessionId;
  if (limits.year_now == 0) return std::nullopt;
  // Years of more digits than four are no dates.
  const auto years = [](std::uint32_t count) {
    return static_cast<int>(std::min<std::uint32_t>(count, 10'000));
  };
  const int year_min = limits.year_now - years(limits.years_back_max);
  const int year_max = limits.year_now + years(limits.years_ahead_max);
  if (has_distant_date(path, url.query(), year_min, year_max)) return UrlRefusal::kCalendar;
  return std::nullopt;
}

}  // namespace

std::string_view name_of(UrlRefusal refusal) {
  switch (refusal) {
    case UrlRefusal::kTooLong: return "too-long";
    case UrlRefusal::kScheme: return "scheme";
    case UrlRefusal::kNoHost: return "no-host";
    case UrlRefusal::kBadHost: return "bad-host";
    case UrlRefusal::kBareSuffix: return "bare-suffix";
    case UrlRefusal::kSingleLabel: return "single-label";
    case UrlRefusal::kUnknownSuffix: return "unknown-suffix";
    case UrlRefusal::kBadPort: return "bad-port";
    case UrlRefusal::kTooDeep: return "too-deep";
    case UrlRefusal::kRepeatingPath: return "repeating-path";
    case UrlRefusal::kSessionId: return "session-id";
    case UrlRefusal::kCalendar: return "calendar";
  }
  return "unknown";
}

std::optional<UrlRefusal> check(const Url& url, const UrlFilterLimits& limits) {
  if (url.without_fragment().size() > limits.bytes_max) return UrlRefusal::kTooLong;
  if (!url.is_http()) return UrlRefusal::kScheme;
  if (const auto refusal = check_host(url.host(), limits.allow_intranet)) return refusal;
  if (const auto port = url.port(); port && std::ranges::binary_search(kBlockedPorts, *port)) {
    return UrlRefusal::kBadPort;
  }
  return check_traps(url, limits);
}

}  // namespace meguri::web
