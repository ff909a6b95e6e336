// Reads any bytes as each kind of field value; what is written again means the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/content_type.h"
#include "web/http_fields.h"
#include "web/redirect.h"

namespace {

using namespace meguri;
using namespace meguri::web;

void check_times(std::string_view text) {
  const base::Instant now = base::Instant::from_ms(1'794'730'150'123);
  if (const auto wait = parse_retry_after(text, now)) {
    CHECK(*wait >= base::Duration() && *wait <= kRetryAfterMax);
  }
  const CacheControl control = parse_cache_control(text);
  for (const auto& age : {control.max_age, control.s_maxage, control.stale_while_revalidate,
                          control.stale_if_error}) {
    if (age) CHECK(*age >= base::Duration() && *age <= base::Duration::seconds(kDeltaSecondsMax));
  }
  FieldList fields;
  fields.add("Expires", text);
  CHECK(freshness_of(fields, now).lifetime >= base::Duration());
}

void check_links(std::string_view text) {
  const auto links = parse_links(text);
  CHECK(links.size() <= kHeaderLinksMax);
  for (const HeaderLink& link : links) {
    CHECK(!link.target.contains('>'));
    CHECK(link.rels.size() <= kLinkRelsMax);
    for (const std::string& rel : link.rels) CHECK(!rel.empty());
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_times(text);
  check_links(text);
  if (const auto type = parse_content_type(text)) {
    CHECK(parse_content_type(type->to_string()) == type);
  }
  if (const auto tag = parse_etag(text)) {
    CHECK(tag->weak_equals(*tag) && tag->strong_equals(*tag) == !tag->is_weak);
  }
  if (const auto range = parse_content_range(text)) {
    CHECK(range->first.has_value() == range->last.has_value());
    CHECK(range->first || range->size);
  }
  parse_content_disposition(text);
  if (const auto refresh = parse_refresh(text)) {
    CHECK(refresh->delay_seconds <= kRefreshSecondsMax && refresh->url.size() <= text.size());
  }
  return 0;
}
