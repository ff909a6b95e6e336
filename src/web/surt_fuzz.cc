// Makes SURT keys of any bytes: bounded, and equal for a parsed URL and its text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/surt.h"
#include "web/surt_steps.h"
#include "web/url.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Every byte is escaped at most once; nameprep may make 18 letters of one character.
  CHECK(surt_key(text).size() <= 18 * text.size() + 32);

  const std::string plain = unescape_repeatedly(text);
  CHECK(unescape_repeatedly(plain) == plain);
  CHECK(unescape_repeatedly(escape_once(plain)) == plain);
  const std::string sorted = alpha_reorder_query(text);
  CHECK(alpha_reorder_query(sorted) == sorted && sorted.size() == text.size());
  CHECK(strip_path_session_id(std::string(text)).size() <= text.size());

  if (const auto url = Url::parse(text)) {
    const std::string key = surt_key(*url);
    CHECK(key == surt_key(std::string_view(url->href())), "{} has the key {}", url->href(), key);
  }
  return 0;
}
