#include "web/url.h"

#include "web/ascii.h"
#include "web/percent.h"
#include "web/url_parser.h"
#include "web/url_plain.h"

namespace meguri::web {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr char kSpace = ' ';
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= kSpace) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= kSpace) text.remove_suffix(1);
  return text;
}

bool has_tab_or_newline(std::string_view text) {
  return text.find_first_of("\t\n\r") != std::string_view::npos;
}

// True if `host` may be an IPv4 address in one of its spellings, or ends in a dot.
bool may_be_number(std::string_view host) {
  const std::size_t label = host.rfind('.') + 1;  // npos + 1 is 0
  return label == host.size() || is_digit(host[label]);
}

}  // namespace

std::string_view name_of(UrlFailure failure) {
  switch (failure) {
    case UrlFailure::kTooLong: return "too-long";
    case UrlFailure::kNoBase: return "no-base";
    case UrlFailure::kBadHost: return "bad-host";
    case UrlFailure::kBadPort: return "bad-port";
  }
  return "unknown";
}

bool Url::parse_plain(std::string_view input) {
  std::size_t at = 4;
  if (!input.starts_with("http")) return false;
  if (at < input.size() && input[at] == 's') ++at;
  if (input.substr(at, 3) != "://") return false;
  const std::size_t scheme_end = at;
  const std::size_t host_begin = at + 3;
  const std::size_t host_end = skip_plain(input, host_begin, kPlainHost);
  if (host_end == host_begin) return false;
  if (may_be_number(input.substr(host_begin, host_end - host_begin))) return false;
  if (host_end < input.size() && !std::string_view("/?#").contains(input[host_end])) return false;

  const std::size_t path_end = skip_plain_path(input, host_end);
  at = path_end;
  if (at < input.size() && input[at] == '?') {
    query_begin_ = static_cast<std::uint32_t>(at);
    at = skip_plain(input, at + 1, kPlainQuery);
  }
  if (at < input.size() && input[at] == '#') {
    fragment_begin_ = static_cast<std::uint32_t>(at);
    at = skip_plain(input, at + 1, kPlainFragment);
  }
  if (at < input.size()) return false;

  if (path_end > host_end) {
    href_.assign(input);
  } else {  // the path is written as "/"
    href_.reserve(input.size() + 1);
    href_.append(input.substr(0, host_end)).append("/").append(input.substr(host_end));
    if (query_begin_ != kNone) ++query_begin_;
    if (fragment_begin_ != kNone) ++fragment_begin_;
  }
  scheme_end_ = static_cast<std::uint32_t>(scheme_end);
  username_end_ = host_begin_ = static_cast<std::uint32_t>(host_begin);
  host_end_ = path_begin_ = static_cast<std::uint32_t>(host_end);
  has_host_ = special_ = http_ = true;
  return true;
}

std::optional<Url> Url::parse(std::string_view input, const Url* base, Charset query_charset,
                              UrlFailure* failure) {
  UrlFailure ignored{};
  UrlFailure* const why = failure != nullptr ? failure : &ignored;
  if (input.size() > kUrlBytesMax) {
    *why = UrlFailure::kTooLong;
    return std::nullopt;
  }
  input = trimmed(input);
  std::optional<Url> url(Url{});
  if (url->parse_plain(input) && url->href_.size() <= kUrlBytesMax) return url;

  std::string cleaned;
  if (has_tab_or_newline(input)) {
    cleaned = input;
    std::erase_if(cleaned, [](char c) { return c == '\t' || c == '\n' || c == '\r'; });
    input = cleaned;
  }
  if (!is_ascii(input) && !is_utf8(input)) {
    cleaned = repaired_utf8(input);
    input = cleaned;
  }
  *url = Url{};
  if (UrlParser(input, base, query_charset, &*url).run(why)) return url;
  return std::nullopt;
}

std::string_view Url::password() const {
  if (!has_credentials() || href_[username_end_] != ':') return {};
  return part(username_end_ + 1, host_begin_ - 1);
}

std::optional<std::uint16_t> Url::port() const {
  return has_port_ ? std::optional(port_) : std::nullopt;
}

std::string_view Url::query() const {
  return has_query() ? part(query_begin_ + 1, query_end()) : std::string_view();
}

std::string_view Url::fragment() const {
  return has_fragment() ? part(fragment_begin_ + 1, href_.size()) : std::string_view();
}

std::string Url::origin() const {
  if (scheme() == "blob") {
    const auto inner = Url::parse(path());
    return inner && inner->is_http() ? inner->origin() : "null";
  }
  if (!special_ || scheme() == "file") return "null";
  std::string origin(scheme());
  return origin.append("://").append(part(host_begin_, path_begin_));
}

}  // namespace meguri::web
