// Finds the charset of any bytes as a document of any kind. The first byte chooses the kind.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/charset_detect.h"
#include "web/utf8.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  if (size < 1) return 0;
  const auto kind = static_cast<MarkupKind>(data[0] % 4);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);

  const CharsetFinding found = find_charset(bytes, std::nullopt, kind);
  CHECK(find_charset(bytes, std::nullopt, kind) == found, "the same bytes, the same answer");
  if (found.source == CharsetSource::kMeta) {
    CHECK(found.charset != Charset::kUtf16Be && found.charset != Charset::kUtf16Le);
  }
  if (found.source == CharsetSource::kDetected && is_valid_utf8(bytes)) {
    CHECK(found.charset == Charset::kUtf8 || found.charset == Charset::kIso2022Jp);
  }

  // What a short prescan finds in <meta>, a longer one finds too.
  const auto early = prescan_html(bytes);
  if (early && early->source == CharsetSource::kMeta) {
    CHECK(prescan_html(bytes, kMetaBytesMax) == early);
  }
  charset_of_content_type(bytes);

  const CharsetFinding labelled = find_charset(bytes, bytes.substr(0, 20), kind);
  const bool is_label = charset_of_label(bytes.substr(0, 20)).has_value();
  CHECK(is_label || labelled == found);
  return 0;
}
