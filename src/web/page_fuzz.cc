// Reads any bytes as a document of any format: links are whole URLs, and text is UTF-8.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "web/page.h"
#include "web/utf8.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  if (size == 0) return 0;
  static constexpr std::string_view kTypes[] = {
      "", "text/html", "text/css", "text/html; charset=shift_jis", "application/xml", "text/plain"};
  FieldList fields;
  const std::string_view type = kTypes[data[0] % std::size(kTypes)];
  if (!type.empty()) fields.add("Content-Type", type);
  const auto url = Url::parse("http://example.com/a/b?c#d");
  PageContext context;
  context.url = &*url;
  context.fields = &fields;
  context.year_now = 2026;
  context.anchor_text = true;
  context.want_text = true;
  const Page page =
      read_page(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1), context);
  for (const PageLink& link : page.links) {
    const auto again = Url::parse(link.url.href());
    CHECK(again && again->href() == link.url.href());
  }
  CHECK(is_valid_utf8(page.main_text));
  CHECK(is_valid_utf8(page.title));
  return 0;
}
