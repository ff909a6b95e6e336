// The canonical form of any URL must be its own, parse to itself, and keep host, port and path
// apart from escapes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/canonical.h"
#include "web/percent.h"
#include "web/surt.h"
#include "web/url_filter.h"

namespace {

std::string decoded(std::string_view text) {
  std::string out;
  meguri::web::append_decoded(text, &out);
  return out;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  const auto url = Url::parse({reinterpret_cast<const char*>(data), size});
  if (!url) return 0;
  const Url form = canonical(*url);
  CHECK(canonical(form).href() == form.href(), "{} is not its own form", form.href());
  const auto again = Url::parse(form.href());
  CHECK(again && again->href() == form.href(), "{} does not parse to itself", form.href());
  CHECK(again->host() == form.host() && again->port() == form.port());
  CHECK(again->path() == form.path() && again->query() == form.query());
  CHECK(again->has_query() == form.has_query() && !form.has_fragment());
  // Nothing joined two pages: what a server decodes is the same before and after.
  CHECK(decoded(form.path()) == decoded(url->path()));
  CHECK(decoded(form.query()) == decoded(url->query()));
  CHECK(form.port() == url->port() && form.scheme() == url->scheme());
  check(form, {.year_now = 2026});
  return 0;
}
