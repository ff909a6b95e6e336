#include "web/robots_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "web/ascii.h"

namespace meguri::web {
namespace {

struct KeyName {
  std::string_view name;
  RobotsKey key;
};

constexpr auto kKeyNames = std::to_array<KeyName>({
    {"user-agent", RobotsKey::kUserAgent},
    {"useragent", RobotsKey::kUserAgent},
    {"user agent", RobotsKey::kUserAgent},
    {"allow", RobotsKey::kAllow},
    {"disallow", RobotsKey::kDisallow},
    {"dissallow", RobotsKey::kDisallow},
    {"dissalow", RobotsKey::kDisallow},
    {"disalow", RobotsKey::kDisallow},
    {"diasllow", RobotsKey::kDisallow},
    {"disallaw", RobotsKey::kDisallow},
    {"sitemap", RobotsKey::kSitemap},
    {"site-map", RobotsKey::kSitemap},
    {"crawl-delay", RobotsKey::kCrawlDelay},
    {"crawldelay", RobotsKey::kCrawlDelay},
    {"crawl delay", RobotsKey::kCrawlDelay},
    {"request-rate", RobotsKey::kRequestRate},
});

std::optional<RobotsKey> key_of(std::string_view text) {
  const auto* found = std::ranges::find_if(kKeyNames, [text](const KeyName& known) {
    return starts_with_ignoring_case(text, known.name);
  });
  if (found == kKeyNames.end()) return std::nullopt;
  return found->key;
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Where the key ends and the value begins; false if the line is neither "key: value" nor two words.
bool split(std::string_view line, std::string_view* key, std::string_view* value) {
  if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    *key = trim(line.substr(0, colon));
    *value = trim(line.substr(colon + 1));
    return true;
  }
  const auto* blank = std::ranges::find_if(line, is_blank);
  const auto length = static_cast<std::size_t>(blank - line.begin());
  *key = line.substr(0, length);
  *value = trim(line.substr(length));
  return !value->empty() && std::ranges::none_of(*value, is_blank);
}

// Decimal digits at the front of `*text`, taken off it; more than nine count as 999,999,999.
std::optional<std::int64_t> take_number(std::string_view* text) {
  constexpr std::int64_t kMax = 999'999'999;
  std::int64_t number = 0;
  std::size_t i = 0;
  for (; i < text->size() && is_digit((*text)[i]); ++i) {
    number = std::min(number * 10 + ((*text)[i] - '0'), kMax);
  }
  if (i == 0) return std::nullopt;
  text->remove_prefix(i);
  return number;
}

}  // namespace

std::string_view RobotsLines::next_raw() {
  const std::size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(end);
  rest_.remove_prefix(rest_.starts_with("\r\n") ? 2 : std::min<std::size_t>(1, rest_.size()));
  ++number_;
  return line;
}

std::optional<RobotsLine> RobotsLines::next() {
  while (!rest_.empty()) {
    const std::string_view raw = next_raw();
    const std::string_view line = trim(raw.substr(0, raw.find('#')));
    std::string_view key;
    std::string_view value;
    if (line.empty() || !split(line, &key, &value)) continue;
    if (const auto known = key_of(key)) return RobotsLine{number_, *known, value};
  }
  return std::nullopt;
}

std::string_view robots_product_token(std::string_view agent) {
  const auto* end =
      std::ranges::find_if_not(agent, [](char c) { return is_alpha(c) || c == '_' || c == '-'; });
  return agent.substr(0, static_cast<std::size_t>(end - agent.begin()));
}

std::optional<base::Duration> parse_crawl_delay(std::string_view value) {
  const auto whole = take_number(&value);
  std::int64_t ms = whole.value_or(0) * 1000;
  if (value.starts_with('.')) {
    value.remove_prefix(1);
    if (!whole && value.empty()) return std::nullopt;
    std::int64_t unit = 100;
    for (; !value.empty() && is_digit(value.front()); value.remove_prefix(1), unit /= 10) {
      ms += (value.front() - '0') * unit;
    }
  } else if (!whole) {
    return std::nullopt;
  }
  if (!value.empty()) return std::nullopt;
  return std::min(base::Duration::from_ms(ms), kRobotsDelayMax);
}

std::optional<base::Duration> parse_request_rate(std::string_view value) {
  const auto pages = take_number(&value);
  if (!pages || *pages == 0 || !value.starts_with('/')) return std::nullopt;
  value.remove_prefix(1);
  const auto time = take_number(&value);
  if (!time) return std::nullopt;
  const char unit = value.empty() ? ' ' : to_lower(value.front());
  std::int64_t seconds = 1;
  switch (unit) {
    case ' ':
    case '\t':
    case 's': break;
    case 'm': seconds = 60; break;
    case 'h': seconds = 3600; break;
    default: return std::nullopt;
  }
  return std::min(base::Duration::from_ms(*time * seconds * 1000 / *pages), kRobotsDelayMax);
}

}  // namespace meguri::web
