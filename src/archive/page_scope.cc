#include "archive/page_scope.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "web/surt.h"
#include "web/url.h"

namespace meguri::archive {

namespace {

using base::ErrorCode;

// "com,example" of "example.com"; nullopt: it is no host.
std::optional<std::string> host_front(std::string_view host) {
  const auto url = web::Url::parse("http://" + std::string(host) + "/");
  const bool is_host = url && url->path() == "/" && !url->has_query() && !url->has_fragment() &&
                       !url->has_credentials() && !url->host().empty();
  if (!is_host) return std::nullopt;
  std::string surt = web::surt_key(*url);
  const std::size_t end = surt.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  surt.resize(end);
  return surt;
}

bool has_port(std::string_view front) {
  const std::size_t colon = front.rfind(':');
  return colon != std::string_view::npos && front.find(':') == colon;
}

// What follows the host may begin with any of these.
std::vector<std::string> fronts_of(const std::string& host, std::string_view ends) {
  std::vector<std::string> fronts;
  for (const char end : ends) fronts.push_back(host + end);
  return fronts;
}

bool has_scheme(std::string_view text) { return text.find("://") != std::string_view::npos; }

}  // namespace

base::Status PageScope::add_host(std::string_view host) {
  const auto front = host_front(host);
  if (!front) return base::fail(ErrorCode::kInvalid, "{} is no name of a host", base::quoted(host));
  rules_.push_back({.fronts = fronts_of(*front, has_port(*front) ? ")" : "):")});
  return {};
}

base::Status PageScope::add_domain(std::string_view domain) {
  const auto front = host_front(domain);
  if (!front || has_port(*front)) {
    return base::fail(ErrorCode::kInvalid, "{} is no name of a domain", base::quoted(domain));
  }
  rules_.push_back({.fronts = fronts_of(*front, "):,")});
  return {};
}

base::Status PageScope::add_prefix(std::string_view prefix) {
  const bool is_exact = has_scheme(prefix);
  const auto url =
      web::Url::parse(is_exact ? std::string(prefix) : "http://" + std::string(prefix));
  if (!url || !url->has_host() || url->host().empty()) {
    return base::fail(ErrorCode::kInvalid, "{} is no beginning of a URL, such as {}",
                      base::quoted(prefix), "https://example.com/docs/");
  }
  // A query is sorted in keys, so that its beginning may be anywhere there.
  const std::string_view text = url->without_fragment();
  const std::string_view path = text.substr(0, text.find('?'));
  std::string front = web::surt_key(path);
  Rule rule;
  if (is_exact) {
    rule.url = text;
  } else {
    rule.ends_segment = path.ends_with('/') && !front.ends_with('/');
  }
  rule.fronts.push_back(std::move(front));
  rules_.push_back(std::move(rule));
  return {};
}

base::Status PageScope::add_url(std::string_view url) {
  if (!has_scheme(url)) {
    return base::fail(ErrorCode::kInvalid, "{} is no URL; it begins with http:// or https://",
                      base::quoted(url));
  }
  // As it is written, and as a crawl would have written it.
  std::vector<std::string> forms = {std::string(url)};
  if (const auto parsed = web::Url::parse(url)) {
    if (parsed->without_fragment() != url) forms.emplace_back(parsed->without_fragment());
  }
  for (std::string& form : forms) {
    Rule rule{.fronts = {web::surt_key(form)}, .url = std::move(form), .is_exact = true};
    rules_.push_back(std::move(rule));
  }
  return {};
}

std::vector<KeyRange> PageScope::ranges() const {
  if (rules_.empty()) return {range_of_entries()};
  std::vector<KeyRange> ranges;
  for (const Rule& rule : rules_) {
    if (rule.is_exact) {
      ranges.push_back(range_of_front(page_key_of(rule.url)));
      continue;
    }
    for (const std::string& front : rule.fronts) {
      ranges.push_back(range_of_front(kEntryKeyPrefix + front.substr(0, kKeySurtBytesMax)));
    }
  }
  return joined(std::move(ranges));
}

bool PageScope::holds(const EntryView& entry) const {
  return rules_.empty() ||
         std::ranges::any_of(rules_, [&](const Rule& rule) { return holds(rule, entry); });
}

bool PageScope::holds(const Rule& rule, const EntryView& entry) {
  const std::string_view surt = entry.surt();
  const bool is_there = std::ranges::any_of(rule.fronts, [&](std::string_view front) {
    front = front.substr(0, kKeySurtBytesMax);
    if (!surt.starts_with(front)) return false;
    if (!rule.ends_segment || surt.size() == front.size()) return true;
    return surt[front.size()] == '/' || surt[front.size()] == '?';
  });
  if (!is_there || rule.url.empty()) return is_there;
  const std::string url = entry.url();
  return rule.is_exact ? url == rule.url : url.starts_with(rule.url);
}

}  // namespace meguri::archive
