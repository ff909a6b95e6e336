#include "web/redirect.h"

#include <algorithm>

#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::web {

namespace {

constexpr std::string_view kHtmlBlanks = "\t\n\f\r ";

void skip_html_blanks(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(kHtmlBlanks), text->size()));
}

// "url=" in any case with blanks round '='. What does not begin so is the address itself.
std::string_view without_url_prefix(std::string_view text) {
  std::string_view rest = text;
  for (const char letter : {'u', 'r', 'l'}) {
    if (rest.empty() || to_lower(rest.front()) != letter) return letter == 'u' ? rest : text;
    rest.remove_prefix(1);
  }
  skip_html_blanks(&rest);
  if (!rest.starts_with('=')) return text;
  rest.remove_prefix(1);
  skip_html_blanks(&rest);
  return rest;
}

}  // namespace

std::optional<std::string_view> redirect_target(const HttpHead& head) {
  if (!is_redirect_status(head.status)) return std::nullopt;
  const auto location = head.fields.get("Location");
  if (!location) return std::nullopt;
  // The URL standard strips these ends, too.
  const auto is_end = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  const auto first = std::ranges::find_if_not(*location, is_end);
  std::string_view target = location->substr(static_cast<std::size_t>(first - location->begin()));
  while (!target.empty() && is_end(target.back())) target.remove_suffix(1);
  if (target.empty()) return std::nullopt;
  return target;
}

std::optional<Refresh> parse_refresh(std::string_view text) {
  Refresh refresh;
  skip_html_blanks(&text);
  if (text.empty() || (!is_digit(text.front()) && text.front() != '.')) return std::nullopt;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    const std::uint64_t delay =
        std::uint64_t{refresh.delay_seconds} * 10 + static_cast<std::uint64_t>(text.front() - '0');
    refresh.delay_seconds =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(delay, kRefreshSecondsMax));
  }
  // Fractions are ignored.
  text.remove_prefix(std::min(text.find_first_not_of("0123456789."), text.size()));
  if (text.empty()) return refresh;
  if (text.front() != ';' && text.front() != ',' && !kHtmlBlanks.contains(text.front())) {
    return std::nullopt;
  }
  skip_html_blanks(&text);
  if (text.starts_with(';') || text.starts_with(',')) text.remove_prefix(1);
  skip_html_blanks(&text);

  const std::string_view url = without_url_prefix(text);
  refresh.url = url;
  if (!url.empty() && (url.front() == '"' || url.front() == '\'')) {
    refresh.url = url.substr(1, url.substr(1).find(url.front()));
  }
  refresh.url = trimmed(refresh.url, kHtmlBlanks);
  return refresh;
}

}  // namespace meguri::web
