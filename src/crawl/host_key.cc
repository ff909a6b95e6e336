#include "crawl/host_key.h"

#include <algorithm>
#include <cstddef>

namespace meguri::crawl {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The pieces between `from` in the opposite order, with `to` between them. False: `to` is in it.
bool reverse(std::string_view text, char from, char to, std::string* out) {
  std::size_t end = text.size();
  char* at = out->data();
  for (std::size_t i = text.size(); i > 0; --i) {
    const char c = text[i - 1];
    if (c == to) return false;
    if (c != from) continue;
    at = std::copy(text.begin() + static_cast<std::ptrdiff_t>(i),
                   text.begin() + static_cast<std::ptrdiff_t>(end), at);
    *at++ = to;
    end = i - 1;
  }
  std::copy(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), at);
  return true;
}

// The URL Standard takes a host for an IPv4 address by its last label, and no top-level domain
// begins with a digit. `key` is the host turned round.
bool is_address(std::string_view host, std::string_view key) {
  return !host.empty() && (host.front() == '[' || is_digit(key.front()));
}

}  // namespace

void host_key(std::string_view host, std::string* key) {
  key->resize(host.size());
  if (reverse(host, '.', ',', key) && !is_address(host, *key)) return;
  key->assign(1, '.');
  key->append(host);
}

std::string host_key(std::string_view host) {
  std::string key;
  host_key(host, &key);
  return key;
}

std::string host_of_key(std::string_view key) {
  if (key.starts_with('.')) return std::string(key.substr(1));
  std::string host(key.size(), '\0');
  reverse(key, ',', '.', &host);
  return host;
}

}  // namespace meguri::crawl
