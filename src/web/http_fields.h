// The fields of a response that a crawler acts on, as structs: caching, Retry-After, Link, ETag and
// others (RFC 9110, 9111, 8288). Content-Type is in content_type.h.
//
// Pure functions, linear in their input. Text in the results is as sent, not UTF-8 for sure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "web/field_list.h"

namespace meguri::web {

// RFC 9111, 1.2.2: larger numbers of seconds mean this one.
inline constexpr std::int64_t kDeltaSecondsMax = 0x80000000;

// Durations with a value we cannot read are zero: what has bad caching information is stale. The
// first of several equal directives counts.
struct CacheControl {
  std::optional<base::Duration> max_age;
  std::optional<base::Duration> s_maxage;
  std::optional<base::Duration> stale_while_revalidate;
  std::optional<base::Duration> stale_if_error;
  bool no_store = false;
  bool no_cache = false;  // with or without field names
  bool must_revalidate = false;
  bool immutable = false;
  bool is_public = false;
  bool is_private = false;
};
CacheControl parse_cache_control(std::string_view text);

// How long a response says it stays as it is.
struct Freshness {
  enum class Source : std::uint8_t { kNone, kMaxAge, kExpires };
  Source source = Source::kNone;
  base::Duration lifetime;  // not negative; zero: stale at once
};
// max-age, else Expires minus Date, or minus `received` where there is no Date. An Expires that is
// no date has passed already. s-maxage does not count: we are no shared cache.
Freshness freshness_of(const FieldList& fields, base::Instant received);

// Retry-After, seconds or a date, seen from `now`; between zero and kRetryAfterMax.
inline constexpr base::Duration kRetryAfterMax = base::Duration::days(30);
std::optional<base::Duration> parse_retry_after(std::string_view text, base::Instant now);

// Nullopt where the field is missing or no date.
std::optional<base::Instant> last_modified_of(const FieldList& fields, int year_now);
std::optional<base::Instant> date_of(const FieldList& fields, int year_now);
std::optional<base::Duration> age_of(const FieldList& fields);

struct HeaderLink {
  std::string target;             // a URL reference as sent; may be empty
  std::vector<std::string> rels;  // lower-cased
  std::vector<std::string> hreflangs;
  std::string type;
  std::string media;
  std::string title;                  // from title* where that can be read
  std::optional<std::string> anchor;  // the context, where it is not the page itself

  bool has_rel(std::string_view lower_case_rel) const;

  friend bool operator==(const HeaderLink&, const HeaderLink&) = default;
};
inline constexpr std::size_t kHeaderLinksMax = 1000;  // further ones are dropped
inline constexpr std::size_t kLinkRelsMax = 32;
std::vector<HeaderLink> parse_links(std::string_view text);
std::vector<HeaderLink> links_of(const FieldList& fields);  // of all Link fields

struct EntityTag {
  std::string text;  // as sent, to be sent back: "\"abc\"", "W/\"abc\""
  bool is_weak = false;
  bool is_well_formed = false;  // has its quotes and no characters that do not belong

  // RFC 9110, 8.8.3.2.
  bool strong_equals(const EntityTag& other) const;
  bool weak_equals(const EntityTag& other) const;

 private:
  std::string_view opaque() const;
};
std::optional<EntityTag> parse_etag(std::string_view text);  // nullopt: empty

struct ContentRange {
  std::optional<std::uint64_t> first;  // both or neither: "bytes */1234"
  std::optional<std::uint64_t> last;   // not below first
  std::optional<std::uint64_t> size;   // of the whole; above last

  friend bool operator==(const ContentRange&, const ContentRange&) = default;
};
std::optional<ContentRange> parse_content_range(std::string_view text);  // only of bytes

struct ContentDisposition {
  bool is_attachment = false;  // anything but "inline"
  // As sent, from filename* where that can be read. Never a path on our disk.
  std::optional<std::string> filename;
};
std::optional<ContentDisposition> parse_content_disposition(std::string_view text);

}  // namespace meguri::web
