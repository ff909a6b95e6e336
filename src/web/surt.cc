#include "web/surt.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "web/ascii.h"
#include "web/percent.h"
#include "web/surt_steps.h"

namespace meguri::web {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r\v\f";
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

// The length of the scheme `text` begins with, before its ':'; 0 if there is none.
std::size_t scheme_length(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') return i;
    const bool later = is_digit(c) || c == '+' || c == '-' || c == '.';
    if (!is_alpha(c) && (i == 0 || !later)) return 0;
  }
  return 0;
}

// "http://https://a" is read as "https://a".
std::string_view without_repeated_schemes(std::string_view text) {
  const auto length = [](std::string_view t) -> std::size_t {
    return t.starts_with("http://") ? 7 : t.starts_with("https://") ? 8 : 0;
  };
  for (std::size_t first = length(text); first > 0; first = length(text)) {
    if (length(text.substr(first)) == 0) break;
    text.remove_prefix(first);
  }
  return text;
}

// Splits "user@host:port" into host and digits of the port, brackets around the host removed.
std::pair<std::string_view, std::string_view> host_and_port(std::string_view netloc) {
  netloc.remove_prefix(netloc.rfind('@') + 1);  // npos + 1 is 0
  const auto split = [](std::string_view text, char by) {
    const std::size_t at = text.find(by);
    return std::pair(text.substr(0, at), at == kNone ? std::string_view() : text.substr(at + 1));
  };
  const std::size_t bracket = netloc.find('[');
  if (bracket == kNone) return split(netloc, ':');
  const auto [host, behind] = split(netloc.substr(bracket + 1), ']');
  return {host, split(behind, ':').second};
}

// True if `digits` is empty or a port; `*port` stays unset for port 0.
bool read_port(std::string_view digits, std::optional<std::uint16_t>* port) {
  unsigned value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 0xFFFF) return false;
  }
  if (value != 0) *port = static_cast<std::uint16_t>(value);
  return true;
}

// The lower-case form of each byte.
constexpr auto kLower = [] {
  std::array<char, 256> table{};
  for (unsigned i = 0; i < 256; ++i) table[i] = to_lower(static_cast<char>(i));
  return table;
}();

// Appends `text` in lower case. True if it holds one of the bytes `rare`.
template <char... rare>
bool append_lower(std::string_view text, std::string* out) {
  const std::size_t begin = out->size();
  bool found = false;
  const std::size_t end = begin + text.size();
  // The size handed to the function may be larger than asked for (libstdc++ 12), so `end` counts.
  out->resize_and_overwrite(end, [&](char* buffer, std::size_t /*size*/) {
    char* to = buffer + begin;
    for (const char c : text) {
      found |= ((c == rare) || ...);
      *to++ = kLower[static_cast<unsigned char>(c)];
    }
    return end;
  });
  return found;
}

// True for the host of a parsed http URL that SURT only reverses, apart from its "www.": no
// address, and no empty label. Such a host is in lower case, printable, and without escapes.
bool is_plain_host(std::string_view host) {
  if (host.empty() || host.front() == '[' || host.front() == '.') return false;
  return !is_digit(host.back()) && host.back() != '.' && !host.contains("..");
}

void append_path(std::string_view path, std::string* out) {
  const std::size_t begin = out->size();
  if (append_lower<'%', '('>(path, out) || path.contains("//")) {
    std::string kept = escape_once(normalize_path(unescape_repeatedly(path)));
    out->resize(begin);
    append_lower<>(strip_path_session_id(std::move(kept)), out);
  }
  if (out->size() > begin + 1 && out->ends_with('/')) out->pop_back();
}

// True if `query`, in lower case, may hold a session id: every pattern has "sid", "nid" or "fid"
// right before a '=', or "nid" before eight letters and a '='.
bool may_have_session_id(std::string_view query) {
  const auto is_id = [query](std::size_t end) {
    if (end < 3 || query[end - 1] != 'd' || query[end - 2] != 'i') return false;
    return query[end - 3] == 's' || query[end - 3] == 'n' || query[end - 3] == 'f';
  };
  for (std::size_t at = 3; at < query.size(); ++at) {
    if (query[at] == '=' && (is_id(at) || (at >= 8 && is_id(at - 8)))) return true;
  }
  return false;
}

bool is_in_order(std::string_view query) {
  const auto key = [](std::string_view argument) {
    const std::size_t equals = std::min(argument.find('='), argument.size());
    return std::pair(argument.substr(0, equals), argument.substr(equals));
  };
  std::size_t amp = query.find('&');
  if (amp == kNone) return true;
  auto before = key(query.substr(0, amp));
  while (amp != kNone) {
    const std::size_t begin = amp + 1;
    amp = query.find('&', begin);
    const auto next = key(query.substr(begin, amp == kNone ? kNone : amp - begin));
    if (next < before) return false;
    before = next;
  }
  return true;
}

void append_query(std::string_view query, std::string* out) {
  if (query.empty()) return;
  *out += '?';
  const std::size_t begin = out->size();
  if (append_lower<'%'>(query, out)) {
    out->resize(begin);
    append_lower<>(escape_once(unescape_repeatedly(query)), out);
  }
  if (may_have_session_id(std::string_view(*out).substr(begin))) {
    out->replace(begin, kNone, strip_query_session_id(out->substr(begin)));
    if (out->size() == begin) return out->pop_back();
  }
  const std::string_view lowered = std::string_view(*out).substr(begin);
  if (is_in_order(lowered)) return;
  const std::string sorted = alpha_reorder_query(lowered);
  out->replace(begin, kNone, sorted);
}

}  // namespace

std::optional<SurtUrl> SurtUrl::parse(std::string_view url) {
  std::string cleaned(trimmed(url));
  std::erase_if(cleaned, [](char c) { return c == '\n' || c == '\r' || c == '\t'; });
  if (cleaned.empty()) return std::nullopt;
  if (scheme_length(cleaned) == 0) cleaned.insert(0, "http://");
  std::string_view rest = without_repeated_schemes(cleaned);
  SurtUrl out;
  const bool ends_in_mark = rest.ends_with('?');
  const std::size_t length = scheme_length(rest);
  out.scheme = rest.substr(0, length);
  rest.remove_prefix(length + 1);
  if (const std::size_t hash = rest.find('#'); hash != kNone) {
    out.fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
  }
  if (const std::size_t mark = rest.find('?'); mark != kNone) {
    out.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  out.ends_in_question_mark = ends_in_mark && out.query.empty();
  if (rest.starts_with("//")) {
    std::string_view netloc = rest.substr(2, std::min(rest.find('/', 2), rest.size()) - 2);
    rest.remove_prefix(2 + netloc.size());
    netloc = netloc.substr(0, netloc.find_last_not_of(':') + 1);
    const auto [host, port] = host_and_port(netloc);
    if (!read_port(port, &out.port)) return std::nullopt;
    out.host = host;
  }
  if (out.scheme.starts_with("http") && out.host.empty() && !rest.empty()) {
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    out.host = rest.substr(0, slash);
    out.path = "/";
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  out.path += rest;
  return out;
}

std::string surt_key(std::string_view url) {
  if (url.empty()) return "-";
  if (url.starts_with("filedesc")) return std::string(url);
  auto parts = SurtUrl::parse(url);
  if (!parts || !parts->canonicalize_google()) return std::string(url);
  parts->canonicalize_ia();
  return parts->to_key();
}

std::string surt_key(const Url& url) {
  const bool plain = url.is_http() && is_plain_host(url.host()) && url.port() != 0;
  if (!plain) return surt_key(url.href());
  std::string out;
  out.reserve(url.href().size());
  append_reversed_host(massage_host(url.host()), &out);
  if (const auto port = url.port()) out.append(":").append(std::to_string(*port));
  out += ')';
  append_path(url.path(), &out);
  append_query(url.query(), &out);
  return out;
}

}  // namespace meguri::web
