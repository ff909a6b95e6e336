// Reads any bytes as directives; merging must be idempotent, and never lose a restriction.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "web/robots_directives.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::string_view second = text.substr(first.size());
  const RobotsDirectives a = parse_meta_robots(first);
  const RobotsDirectives b = parse_x_robots_tag(second, "meguri");
  CHECK(a.unavailable_after.size() <= kUnavailableAfterBytesMax);
  CHECK(b.unavailable_after.size() <= kUnavailableAfterBytesMax);
  CHECK(merge(a, a) == a && merge(b, b) == b);
  const RobotsDirectives both = merge(a, b);
  CHECK(merge(both, b) == both);
  CHECK(both.noindex == (a.noindex || b.noindex));
  CHECK(both.nofollow == (a.nofollow || b.nofollow));
  // What no agent is named in speaks to everyone.
  if (!second.contains(':')) CHECK(b == parse_meta_robots(second));
  return 0;
}
