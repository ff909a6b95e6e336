#include "web/domain.h"

#include <libpsl.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"
#include "web/host.h"

namespace meguri::web {

namespace {

constexpr std::size_t kNameMax = 253;

// Without the "*" that the list applies to names it does not know.
constexpr int kNamedRules = PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE;

const psl_ctx_t* suffixes() {
  static const psl_ctx_t* const builtin = [] {
    const psl_ctx_t* list = psl_builtin();
    CHECK(list != nullptr, "libpsl was built without a list");
    return list;
  }();
  return builtin;
}

// A copy of a name that ends in a zero byte, as libpsl needs it; empty if there can be no rule.
class Name {
 public:
  explicit Name(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    if (host.empty() || host.size() > kNameMax || is_ip_address(host)) return;
    size_ = host.size();
    std::ranges::copy(host, bytes_.begin());
  }

  bool empty() const { return size_ == 0; }
  const char* c_str() const { return bytes_.data(); }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, kNameMax + 1> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace

std::string_view registrable_domain(std::string_view host) {
  const Name name(host);
  if (name.empty()) return {};
  const char* domain = psl_registrable_domain(suffixes(), name.c_str());
  if (domain == nullptr) return {};
  const auto begin = static_cast<std::size_t>(domain - name.c_str());
  return host.substr(begin, name.size() - begin);
}

bool has_known_suffix(std::string_view host) {
  const Name name(host);
  if (name.empty()) return false;
  // From the shortest: nearly always the first is known.
  for (std::size_t dot = name.view().rfind('.');; dot = name.view().rfind('.', dot - 1)) {
    const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    if (psl_is_public_suffix2(suffixes(), name.c_str() + begin, kNamedRules) != 0) return true;
    if (dot == std::string_view::npos || dot == 0) return false;
  }
}

bool is_public_suffix(std::string_view host) {
  const Name name(host);
  return !name.empty() && psl_is_public_suffix2(suffixes(), name.c_str(), kNamedRules) != 0;
}

}  // namespace meguri::web
