#include "crawl/host_key.h"

#include <algorithm>
#include <cstddef>

namespace meguri::crawl {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The URL Standard takes a host for an IPv4 address by its last label, and no top-level domain
// begins with a digit.
bool stays(std::string_view host) {
  if (host.empty()) return false;
  if (host.front() == '[' || host.find(',') != std::string_view::npos) return true;
  const std::size_t dot = host.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? host : host.substr(dot + 1);
  return !last.empty() && is_digit(last.front());
}

// The pieces between `from` in the opposite order, with `to` between them.
void reverse(std::string_view text, char from, char to, std::string* out) {
  std::size_t end = text.size();
  char* at = out->data();
  for (std::size_t i = text.size(); i > 0; --i) {
    if (text[i - 1] != from) continue;
    at = std::copy(text.begin() + static_cast<std::ptrdiff_t>(i),
                   text.begin() + static_cast<std::ptrdiff_t>(end), at);
    *at++ = to;
    end = i - 1;
  }
  std::copy(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), at);
}

}  // namespace

void host_key(std::string_view host, std::string* key) {
  if (stays(host)) {
    key->assign(1, '.');
    key->append(host);
    return;
  }
  key->resize(host.size());
  reverse(host, '.', ',', key);
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
