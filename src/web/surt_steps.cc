#include "web/surt_steps.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "web/ascii.h"
#include "web/percent.h"

namespace meguri::web {

namespace {

constexpr std::size_t kNone = std::string_view::npos;
// True if `text` has `count` bytes of kind `is` at `at`.
bool has_run(std::string_view text, std::size_t at, std::size_t count, bool (*is)(char)) {
  return at <= text.size() && text.size() - at >= count &&
         std::ranges::all_of(text.substr(at, count), is);
}

bool has_word(std::string_view text, std::size_t at, std::string_view lower_word) {
  if (at > text.size() || text.size() - at < lower_word.size()) return false;
  return std::ranges::equal(text.substr(at, lower_word.size()), lower_word, {}, to_lower);
}

// The end of "(x(24)y(24)...)/" at `at`, for any letters x and y; kNone if it is not there.
std::size_t end_of_lettered_id(std::string_view path, std::size_t at) {
  if (at >= path.size() || path[at] != '(') return kNone;
  std::size_t i = at + 1;
  std::size_t groups = 0;
  while (has_run(path, i, 1, is_alpha) && has_word(path, i + 1, "(") &&
         has_run(path, i + 2, 24, is_alnum) && has_word(path, i + 26, ")")) {
    i += 27;
    ++groups;
  }
  return groups > 0 && has_word(path, i, ")/") ? i + 2 : kNone;
}

// The end of "(24)/" at `at`.
std::size_t end_of_plain_id(std::string_view path, std::size_t at) {
  const bool found = has_word(path, at, "(") && has_run(path, at + 1, 24, is_alnum) &&
                     has_word(path, at + 25, ")/");
  return found ? at + 27 : kNone;
}

// Removes the last session id that follows a slash and is followed by a name with ".aspx" in it,
// before any '?'. One pass from the end: `aspx` is the last ".aspx" before the next '?'.
void strip_last_path_id(std::string* path,
                        std::size_t (*end_of_id)(std::string_view, std::size_t)) {
  std::size_t aspx = kNone;
  for (std::size_t i = path->size(); i-- > 0;) {
    const char c = (*path)[i];
    if (c == '?') aspx = kNone;
    if (c == '.' && aspx == kNone && has_word(*path, i, ".aspx")) aspx = i;
    if (c != '/' || aspx == kNone) continue;
    const std::size_t end = end_of_id(*path, i + 1);
    if (end == kNone || aspx <= end) continue;
    path->erase(i + 1, end - i - 1);
    return;
  }
}

// Removes what lies from `begin` to `end`, and the '&' behind it.
void strip_argument(std::string* query, std::size_t begin, std::size_t end) {
  query->erase(begin, std::min(end + 1, query->size()) - begin);
}

bool ends_argument(std::string_view query, std::size_t at) {
  return at == query.size() || (at < query.size() && query[at] == '&');
}

// The begin of the last `word`, which ends in '=', before `*equals`; kNone if there is none. Moves
// `*equals` to the '=' looked at.
std::size_t last_word(std::string_view query, std::string_view word, std::size_t* equals) {
  while (*equals != kNone && *equals > 0) {
    *equals = query.rfind('=', *equals - 1);
    if (*equals == kNone || *equals + 1 < word.size()) return kNone;
    const std::size_t begin = *equals + 1 - word.size();
    if (has_word(query, begin, word)) return begin;
  }
  return kNone;
}

// Removes the last `word` with 32 letters or digits that ends its argument. It may begin anywhere
// in the argument, as in the package.
void strip_last_id(std::string* query, std::string_view word) {
  std::size_t equals = query->size();
  for (;;) {
    const std::size_t begin = last_word(*query, word, &equals);
    if (begin == kNone) return;
    const std::size_t end = equals + 33;
    if (has_run(*query, equals + 1, 32, is_alnum) && ends_argument(*query, end)) {
      return strip_argument(query, begin, end);
    }
  }
}

void strip_last_asp_id(std::string* query) {
  constexpr std::string_view kWord = "aspsessionid";
  constexpr std::size_t kNameLength = kWord.size() + 8;
  for (std::size_t equals = query->rfind('='); equals != kNone && equals >= kNameLength;
       equals = query->rfind('=', equals - 1)) {
    const std::size_t begin = equals - kNameLength;
    const std::size_t end = equals + 25;
    if (has_word(*query, begin, kWord) && has_run(*query, equals - 8, 8, is_alpha) &&
        has_run(*query, equals + 1, 24, is_alpha) && ends_argument(*query, end)) {
      return strip_argument(query, begin, end);
    }
  }
}

// Removes the last "cfid=x&cftoken=y".
void strip_last_coldfusion_id(std::string* query) {
  constexpr std::string_view kWord = "cfid=";
  constexpr std::string_view kToken = "&cftoken=";
  std::size_t next = kNone;  // the '&' behind the byte looked at
  for (std::size_t i = query->size(); i-- > 0;) {
    if ((*query)[i] == '&') next = i;
    if ((*query)[i] != '=' || next == kNone || next <= i + 1 || i + 1 < kWord.size()) continue;
    const std::size_t begin = i + 1 - kWord.size();
    const std::size_t value = next + kToken.size();
    if (!has_word(*query, begin, kWord) || !has_word(*query, next, kToken)) continue;
    if (ends_argument(*query, value)) continue;
    return strip_argument(query, begin, std::min(query->find('&', value), query->size()));
  }
}

}  // namespace

std::string unescape_repeatedly(std::string_view text) {
  if (!text.contains('%')) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    for (;;) {
      const std::size_t size = out.size();
      const int low = hex_value(c);
      if (low < 0 || size < 2 || out[size - 2] != '%') break;
      const int high = hex_value(out[size - 1]);
      if (high < 0) break;
      out.resize(size - 2);
      c = static_cast<char>(high * 16 + low);
    }
    out += c;
  }
  return out;
}

std::string escape_once(std::string_view bytes) {
  const auto stays = [](char c) { return c > 0x20 && c < 0x7F && c != '#' && c != '%'; };
  if (std::ranges::all_of(bytes, stays)) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size());
  for (const char c : bytes) {
    if (stays(c)) {
      out += c;
    } else {
      append_escape(c, &out);
    }
  }
  return out;
}

// What stands before the first slash is dropped, ".." at the top stays, and empty segments count
// for ".." before they are dropped: all as in the package.
std::string normalize_path(std::string_view path) {
  std::vector<std::string_view> kept;
  std::size_t slash = path.find('/');
  while (slash != kNone) {
    const std::size_t begin = slash + 1;
    slash = path.find('/', begin);
    const std::string_view segment = path.substr(begin, std::min(slash, path.size()) - begin);
    if (segment == ".") continue;
    if (segment == ".." && !kept.empty()) {
      kept.pop_back();
    } else {
      kept.push_back(segment);
    }
  }
  std::string out = "/";
  out.reserve(path.size() + 1);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    out += kept[i];
    if (i + 1 < kept.size() && !kept[i].empty()) out += '/';
  }
  return out;
}

std::string alpha_reorder_query(std::string_view query) {
  if (!query.contains('&')) return std::string(query);
  std::vector<std::string_view> arguments;
  for (std::size_t begin = 0; begin <= query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    arguments.push_back(query.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto key = [](std::string_view argument) {
    const std::size_t equals = std::min(argument.find('='), argument.size());
    // The value with its '=', so that none sorts before an empty one.
    return std::pair(argument.substr(0, equals), argument.substr(equals));
  };
  std::ranges::sort(arguments, {}, key);
  std::string out;
  out.reserve(query.size());
  for (const std::string_view argument : arguments) {
    out += argument;
    out += '&';
  }
  out.pop_back();
  return out;
}

std::string_view massage_host(std::string_view host) {
  if (!host.starts_with("www")) return host;
  std::size_t i = 3;
  while (i < host.size() && is_digit(host[i])) ++i;
  return i < host.size() && host[i] == '.' ? host.substr(i + 1) : host;
}

std::string strip_path_session_id(std::string path) {
  if (!path.contains('(')) return path;
  strip_last_path_id(&path, end_of_lettered_id);
  strip_last_path_id(&path, end_of_plain_id);
  return path;
}

std::string strip_query_session_id(std::string query) {
  for (const std::string_view word : {"jsessionid=", "phpsessid=", "sid="}) {
    strip_last_id(&query, word);
  }
  strip_last_asp_id(&query);
  strip_last_coldfusion_id(&query);
  return query;
}

void append_reversed_host(std::string_view host, std::string* out) {
  for (std::size_t end = host.size();;) {
    const std::size_t dot = end == 0 ? kNone : host.rfind('.', end - 1);
    const std::size_t begin = dot == kNone ? 0 : dot + 1;
    out->append(host.substr(begin, end - begin));
    if (dot == kNone) return;
    *out += ',';
    end = dot;
  }
}

bool SurtUrl::canonicalize_google() {
  fragment.clear();
  query = escape_once(unescape_repeatedly(query));
  if (!host.empty()) {
    std::string name = unescape_repeatedly(host);
    if (!is_ascii(name)) {
      if (auto ascii = host_to_ascii_2003(name)) name = *std::move(ascii);
    }
    std::string single;  // dots: two become one, once
    for (std::size_t i = 0; i < name.size(); ++i) {
      single += name[i];
      if (name[i] == '.' && i + 1 < name.size() && name[i + 1] == '.') ++i;
    }
    single.erase(0, std::min(single.find_first_not_of('.'), single.size()));
    single.erase(single.find_last_not_of('.') + 1);
    const bool number = !single.empty() && std::ranges::all_of(single, is_digit);
    if (number && single.size() > kSurtHostDigitsMax) return false;
    auto address = surt_ip_address(single);
    host = address ? *std::move(address) : escape_once(lower_copy(std::move(single)));
  }
  std::string plain = unescape_repeatedly(path);
  if (!host.empty()) plain = normalize_path(plain);
  path = escape_once(plain);
  return true;
}

void SurtUrl::canonicalize_ia() {
  host = lower_copy(std::move(host));
  if (scheme != "dns") host = std::string(massage_host(host));
  const std::string scheme_lower = lower_copy(scheme);
  if (scheme_lower == "http" && port == 80) port.reset();
  if (scheme_lower == "https" && port == 443) port.reset();
  path = strip_path_session_id(lower_copy(std::move(path)));
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (query.empty()) ends_in_question_mark = false;
  query = alpha_reorder_query(lower_copy(strip_query_session_id(std::move(query))));
}

void SurtUrl::append_rest(std::string* out) const {
  *out += path;
  if (path.empty() && (!query.empty() || !fragment.empty())) *out += '/';
  if (!query.empty()) out->append("?").append(query);
  if (!fragment.empty()) out->append("#").append(fragment);
  if (ends_in_question_mark) *out += '?';
}

std::string SurtUrl::to_url() const {
  std::string out = scheme + ":";
  if (!host.empty()) {
    if (scheme != "dns") out += "//";
    out += host;
    if (port) out.append(":").append(std::to_string(*port));
  }
  append_rest(&out);
  return out;
}

std::string SurtUrl::to_key() const {
  std::string out;
  if (host.empty()) {
    out.append(scheme).append(":");
  } else {
    append_reversed_host(host, &out);
    if (port) out.append(":").append(std::to_string(*port));
    out += ')';
  }
  append_rest(&out);
  return out;
}

}  // namespace meguri::web
