// Parses any bytes as a URL: its form must parse to itself, with the same parts, and it must
// resolve any reference. The input up to the first zero byte is the base, what follows the
// reference.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "web/url.h"

namespace {

using meguri::web::Charset;
using meguri::web::Url;

void check_fixed_point(const Url& url) {
  CHECK(url.href().size() <= meguri::web::kUrlBytesMax);
  const auto again = Url::parse(url.href());
  CHECK(again.has_value(), "{} does not parse again", url.href());
  CHECK(again->href() == url.href(), "{} parses to {}", url.href(), again->href());
  CHECK(again->scheme() == url.scheme() && again->username() == url.username());
  CHECK(again->password() == url.password() && again->host() == url.host());
  CHECK(again->port() == url.port() && again->path() == url.path());
  CHECK(again->query() == url.query() && again->has_query() == url.has_query());
  CHECK(again->fragment() == url.fragment() && again->has_fragment() == url.has_fragment());
  CHECK(again->has_host() == url.has_host() && again->has_opaque_path() == url.has_opaque_path());
  CHECK(again->origin() == url.origin());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t zero = text.find('\0');
  const std::string_view reference = zero == std::string_view::npos ? text : text.substr(zero + 1);
  const auto base = Url::parse(text.substr(0, zero));
  if (!base) return 0;
  check_fixed_point(*base);
  if (const auto url = Url::parse(reference, &*base)) {
    check_fixed_point(*url);
    const auto same = Url::parse(url->href(), &*base);
    CHECK(same && same->href() == url->href(), "{} resolves to another URL", url->href());
  }
  if (const auto url = Url::parse(reference, &*base, Charset::kWindows1252))
    check_fixed_point(*url);
  return 0;
}
