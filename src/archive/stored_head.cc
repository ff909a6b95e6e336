#include "archive/stored_head.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>

#include "base/check.h"
#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kContentLength = "Content-Length";
constexpr std::string_view kTransferEncoding = "Transfer-Encoding";
constexpr std::string_view kOriginal = "X-Archive-Orig-";

// "HTTP/1.1 200" and then the end or a space: what every reader of archives understands.
bool is_plain_start(std::string_view line) {
  if (!line.starts_with("HTTP/1.0 ") && !line.starts_with("HTTP/1.1 ")) return false;
  const std::string_view rest = line.substr(9);
  if (rest.size() < 4 || !rest.ends_with('\n')) return false;
  for (const char c : rest.substr(0, 3)) {
    if (!web::is_digit(c)) return false;
  }
  return rest[3] == ' ' || rest[3] == '\r' || rest[3] == '\n';
}

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

void append_field(std::string_view prefix, std::string_view name, std::string_view value,
                  std::string* out) {
  out->append(prefix).append(name).append(": ").append(value).append("\r\n");
}

// Says what could not stay in the start line as a field behind it.
void append_start(const web::HttpHead& head, std::string* out) {
  if (is_plain_start(head.start_raw)) {
    *out += head.start_raw;
    return;
  }
  const bool is_old = head.version <= web::HttpVersion{1, 0};
  fmt::format_to(std::back_inserter(*out), "HTTP/1.{} {} {}\r\n", is_old ? 0 : 1, head.status,
                 head.reason);
  web::HeadQuirks quirks;
  const std::string line = web::cleaned_field_text(web::trim(head.start_raw), &quirks);
  const bool is_plain_newer = head.version.major >= 2 && line.starts_with("HTTP/");
  if (!is_plain_newer && line.find('\n') == std::string::npos) {
    append_field(kOriginal, "Status-Line", line, out);
  }
}

// The one Content-Length says what we store, as a plain number.
bool length_agrees(const web::FieldList& fields, std::uint64_t body_bytes) {
  std::size_t count = 0;
  for (const web::HttpField& field : fields.fields()) {
    if (!web::equals_ignoring_case(field.name, kContentLength)) continue;
    ++count;
    if (web::parse_decimal(field.value) != body_bytes) return false;
  }
  return count == 1;
}

// A line as received. The last one of a head that broke off gets its end here; a CR alone would
// then look like the end of the head, and is dropped.
void append_raw(std::string_view raw, std::string* out) {
  if (raw.ends_with('\n')) {
    *out += raw;
    return;
  }
  while (raw.ends_with('\r')) raw.remove_suffix(1);
  if (!raw.empty()) out->append(raw).append("\r\n");
}

}  // namespace

void append_stored_head(const web::HttpHead& head, std::optional<std::uint64_t> body_bytes,
                        std::string* out) {
  CHECK(head.status >= 100, "a head without a status cannot be stored");
  append_start(head, out);
  const bool keeps_length = !body_bytes || length_agrees(head.fields, *body_bytes);
  bool has_hidden = false;  // what framed the body is hidden, so that its length must be said
  for (const web::HttpField& field : head.fields.fields()) {
    const bool is_length = web::equals_ignoring_case(field.name, kContentLength);
    if ((is_length && !keeps_length) || web::equals_ignoring_case(field.name, kTransferEncoding)) {
      append_field(kOriginal, is_length ? kContentLength : kTransferEncoding, field.value, out);
      has_hidden = true;
    } else if (!field.raw.empty()) {
      append_raw(field.raw, out);
    } else {
      append_field({}, field.name, field.value, out);
    }
  }
  const bool says_length = may_have_body(head.status) || has_hidden || body_bytes.value_or(0) > 0;
  if (!keeps_length && says_length) {
    append_field({}, kContentLength, fmt::format_int(*body_bytes).c_str(), out);
  }
  if (head.end_raw.empty()) {
    *out += "\r\n";
  } else {
    *out += head.end_raw;
  }
}

}  // namespace meguri::archive
