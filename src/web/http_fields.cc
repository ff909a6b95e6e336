#include "web/http_fields.h"

#include <algorithm>
#include <utility>

#include "web/ascii.h"
#include "web/http_date.h"
#include "web/http_text.h"

namespace meguri::web {

namespace {

// delta-seconds: digits; what is too large is the maximum.
std::optional<base::Duration> parse_delta(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  const auto limit = static_cast<std::uint64_t>(kDeltaSecondsMax);
  const std::uint64_t seconds = std::min(parse_decimal(text).value_or(limit), limit);
  return base::Duration::seconds(static_cast<std::int64_t>(seconds));
}

base::Duration difference(base::Instant later, base::Instant earlier) {
  return later <= earlier ? base::Duration() : later - earlier;
}

void set_first(std::optional<base::Duration>* target, std::string_view value) {
  if (!*target) *target = parse_delta(value).value_or(base::Duration());
}

void take_directive(std::string_view name, std::string_view value, CacheControl* control) {
  const auto is = [&](std::string_view known) { return equals_ignoring_case(name, known); };
  if (is("max-age")) set_first(&control->max_age, value);
  if (is("s-maxage")) set_first(&control->s_maxage, value);
  if (is("stale-while-revalidate")) set_first(&control->stale_while_revalidate, value);
  if (is("stale-if-error")) set_first(&control->stale_if_error, value);
  if (is("no-store")) control->no_store = true;
  if (is("no-cache")) control->no_cache = true;
  if (is("must-revalidate")) control->must_revalidate = true;
  if (is("immutable")) control->immutable = true;
  if (is("public")) control->is_public = true;
  if (is("private")) control->is_private = true;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (words.size() < kLinkRelsMax) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.empty()) break;
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(lower_copy(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return words;
}

HeaderLink link_of(std::string_view target, const std::vector<FieldParameter>& parameters) {
  HeaderLink link;
  link.target = target;
  const auto set = [](std::string* member, const std::string& value) {
    if (member->empty()) *member = value;  // the first of several counts
  };
  std::optional<std::string> extended_title;
  bool has_rel = false;
  for (const auto& [name, value] : parameters) {
    if (name == "rel" && !std::exchange(has_rel, true)) link.rels = words_of(value);
    if (name == "hreflang") link.hreflangs.push_back(value);
    if (name == "type") set(&link.type, value);
    if (name == "media") set(&link.media, value);
    if (name == "title") set(&link.title, value);
    if (name == "title*" && !extended_title) extended_title = decode_extended_value(value);
    if (name == "anchor" && !link.anchor) link.anchor = value;
  }
  if (extended_title) link.title = *std::move(extended_title);
  return link;
}

// Behind the comma that ends this element, or the end.
std::size_t next_element(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != ',') {
    at = text[at] == '"' ? read_quoted(text, at, nullptr) : at + 1;
  }
  return at + 1;
}

void append_links(std::string_view text, std::vector<HeaderLink>* links) {
  std::size_t at = 0;
  while (at < text.size() && links->size() < kHeaderLinksMax) {
    at = std::min(text.find_first_not_of(", \t", at), text.size());
    if (at == text.size()) return;
    const std::size_t end = text[at] == '<' ? text.find('>', at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      // No later '>' either, so this element and those behind it are read only once more.
      if (text[at] == '<') return;
      at = next_element(text, at);
      continue;
    }
    const std::string_view target = trimmed(text.substr(at + 1, end - at - 1));
    at = end + 1;
    links->push_back(link_of(target, read_parameters(text, &at)));
  }
}

// Opaque tags hold any visible character but quotes.
bool is_etag_char(char c) { return !is_http_control(c) && !is_http_blank(c) && c != '"'; }

}  // namespace

CacheControl parse_cache_control(std::string_view text) {
  CacheControl control;
  for (const std::string_view element : split_list(text)) {
    const std::size_t equals = std::min(element.find('='), element.size());
    const std::string_view name = trimmed(element.substr(0, equals));
    std::string_view value = trimmed(element.substr(std::min(equals + 1, element.size())));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    take_directive(name, value, &control);
  }
  return control;
}

Freshness freshness_of(const FieldList& fields, base::Instant received) {
  using Source = Freshness::Source;
  const CacheControl control = parse_cache_control(fields.combined("Cache-Control"));
  if (control.max_age) return {Source::kMaxAge, *control.max_age};
  const auto text = fields.get("Expires");
  if (!text) return {};
  const int year_now = year_of(received);
  const auto expires = parse_http_date(*text, year_now);
  if (!expires) return {Source::kExpires, {}};
  const base::Duration lifetime =
      difference(*expires, date_of(fields, year_now).value_or(received));
  return {Source::kExpires, std::min(lifetime, base::Duration::seconds(kDeltaSecondsMax))};
}

std::optional<base::Duration> parse_retry_after(std::string_view text, base::Instant now) {
  text = trimmed(text);
  if (const auto seconds = parse_delta(text)) return std::min(*seconds, kRetryAfterMax);
  const auto date = parse_http_date(text, year_of(now));
  if (!date) return std::nullopt;
  return std::min(difference(*date, now), kRetryAfterMax);
}

std::optional<base::Instant> last_modified_of(const FieldList& fields, int year_now) {
  const auto text = fields.get("Last-Modified");
  return text ? parse_http_date(*text, year_now) : std::nullopt;
}

std::optional<base::Instant> date_of(const FieldList& fields, int year_now) {
  const auto text = fields.get("Date");
  return text ? parse_http_date(*text, year_now) : std::nullopt;
}

std::optional<base::Duration> age_of(const FieldList& fields) {
  const auto values = fields.elements("Age");
  return values.empty() ? std::nullopt : parse_delta(values.front());
}

bool HeaderLink::has_rel(std::string_view lower_case_rel) const {
  return std::ranges::find(rels, lower_case_rel) != rels.end();
}

std::vector<HeaderLink> parse_links(std::string_view text) {
  std::vector<HeaderLink> links;
  append_links(text, &links);
  return links;
}

std::vector<HeaderLink> links_of(const FieldList& fields) {
  std::vector<HeaderLink> links;
  for (const std::string_view value : fields.all("Link")) append_links(value, &links);
  return links;
}

std::string_view EntityTag::opaque() const {
  const std::string_view tag = text;
  return is_weak ? tag.substr(2) : tag;
}

bool EntityTag::strong_equals(const EntityTag& other) const {
  return !is_weak && !other.is_weak && text == other.text;
}

bool EntityTag::weak_equals(const EntityTag& other) const { return opaque() == other.opaque(); }

std::optional<EntityTag> parse_etag(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  EntityTag tag;
  tag.text = text;
  tag.is_weak = starts_with_ignoring_case(text, "W/\"");
  std::string_view opaque = text;
  if (tag.is_weak) opaque.remove_prefix(2);
  tag.is_well_formed = !text.starts_with('w') && opaque.size() >= 2 && opaque.front() == '"' &&
                       opaque.back() == '"' &&
                       std::ranges::all_of(opaque.substr(1, opaque.size() - 2), is_etag_char);
  return tag;
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  text = trimmed(text);
  if (!starts_with_ignoring_case(text, "bytes") || text.size() < 6) return std::nullopt;
  if (!is_http_blank(text[5])) return std::nullopt;
  text = trimmed(text.substr(5));
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view range = trimmed(text.substr(0, slash));
  const std::string_view size = trimmed(text.substr(slash + 1));
  ContentRange result;
  if (size != "*") {
    result.size = parse_decimal(size);
    if (!result.size) return std::nullopt;
  }
  if (range == "*") return result.size ? std::optional(result) : std::nullopt;
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  result.first = parse_decimal(range.substr(0, dash));
  result.last = parse_decimal(range.substr(dash + 1));
  if (!result.first || !result.last || *result.last < *result.first) return std::nullopt;
  if (result.size && *result.size <= *result.last) return std::nullopt;
  return result;
}

std::optional<ContentDisposition> parse_content_disposition(std::string_view text) {
  text = trimmed(text);
  const std::size_t type_end = std::min(text.find(';'), text.size());
  const std::string_view type = trimmed(text.substr(0, type_end));
  ContentDisposition result;
  std::size_t at = type_end;
  if (type.contains('=')) {
    at = 0;  // parameters without a type, which browsers take as an attachment's
  } else if (!is_token(type)) {
    return std::nullopt;
  }
  result.is_attachment = !equals_ignoring_case(type, "inline");
  std::optional<std::string> extended;
  for (const auto& [name, value] : read_parameters(text, &at)) {
    if (name == "filename" && !result.filename) result.filename = value;
    if (name == "filename*" && !extended) extended = decode_extended_value(value);
  }
  if (extended) result.filename = std::move(extended);
  return result;
}

}  // namespace meguri::web
