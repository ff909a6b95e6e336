// Finds addresses in any bytes, as a style sheet and as a srcset.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "web/css_links.h"
#include "web/srcset.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t bytes = 0;
  find_css_links(text, [&](std::string_view url, bool) {
    CHECK(!url.empty());
    bytes += url.size();
  });
  CHECK(bytes <= 3 * size, "escapes are longer than what they stand for");
  bytes = 0;
  find_srcset_urls(text, [&](std::string_view url) {
    CHECK(!url.empty() && url.front() != ',' && url.back() != ',');
    bytes += url.size();
  });
  CHECK(bytes <= size);
  return 0;
}
