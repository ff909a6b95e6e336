#include "crawl/crawl_log_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "web/url.h"

namespace meguri::crawl {

namespace {

// Names are ours and need no escapes.
void add_name(std::string_view name, std::string* out) {
  out->append(",\"").append(name).append("\":");
}

void add_text(std::string_view name, std::string_view value, std::string* out) {
  if (value.empty()) return;
  add_name(name, out);
  base::append_json_string(value, out);
}

void add_number(std::string_view name, std::uint64_t value, std::string* out) {
  add_name(name, out);
  const fmt::format_int digits(value);
  out->append(digits.data(), digits.size());
}

void begin(base::Instant date, std::string_view type, std::string_view url, std::string* out) {
  out->append("{\"time\":\"").append(date.to_rfc3339_ms()).append("\"");
  add_text("type", type, out);
  add_text("url", url, out);
}

// How the crawl came to a page.
void add_way(Offer offer, std::uint32_t depth, std::string_view via, std::string* out) {
  add_text("offer", name_of(offer), out);
  add_number("depth", depth, out);
  add_text("via", via, out);
}

}  // namespace

void append_line(const VisitNote& note, std::string* out) {
  const bool is_page = note.purpose == Purpose::kPage;
  begin(note.date, is_page ? "page" : "robots", note.url, out);
  if (note.fetch == fetch::FetchOutcome::kAnswered) {
    add_number("status", static_cast<std::uint64_t>(note.status), out);
  } else {
    add_text("failure", fetch::name_of(note.fetch), out);
  }
  if (note.outcome) add_text("outcome", name_of(*note.outcome), out);
  add_text("error", note.error, out);
  add_text("mime", note.mime, out);
  add_number("bytes", note.bytes, out);
  add_number("ms", static_cast<std::uint64_t>(std::max<std::int64_t>(note.duration.ms(), 0)), out);
  if (is_page) add_number("links", note.links, out);
  if (note.foreign_links > 0) add_number("foreign_links", note.foreign_links, out);
  add_text("host", note.host, out);
  if (note.address) add_text("address", note.address->to_string(), out);
  if (is_page) add_way(note.offer, note.depth, note.via, out);
  if (note.digest) add_text("digest", note.digest->to_string(), out);
  add_text("truncated", fetch::name_of(note.truncation), out);
  if (!note.is_stored) {
    add_name("stored", out);
    out->append("false");
  }
  add_text("warc", note.warc_file, out);
  add_number("offset", note.warc_offset, out);
  out->append("}\n");
}

void append_line(const RefusalNote& note, std::string* out) {
  begin(note.date, "refusal", note.candidate.url, out);
  add_text("reason", name_of(note.reason), out);
  if (const auto url = web::Url::parse(note.candidate.url)) add_text("host", url->host(), out);
  add_way(note.candidate.offer, note.candidate.depth, note.candidate.via, out);
  out->append("}\n");
}

}  // namespace meguri::crawl
