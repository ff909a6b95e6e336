#include "scan/document_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "web/ascii.h"
#include "web/charset.h"

namespace meguri::scan {

namespace {

using base::Instant;

// Members of one object, written one after the other.
class ObjectLine {
 public:
  void text(std::string_view name, std::string_view value) {
    begin(name);
    base::append_json_string(value, &line_);
  }
  void number(std::string_view name, std::uint64_t value) {
    begin(name);
    line_ += fmt::format_int(value).c_str();
  }
  void time(std::string_view name, Instant value) {
    begin(name);
    line_.append("\"").append(value.to_rfc3339_ms()).append("\"");
  }
  // An end that has not come is null.
  void end_time(std::string_view name, Instant value) {
    if (value != Instant::max()) return time(name, value);
    begin(name);
    line_ += "null";
  }
  void links(std::string_view name, const std::vector<web::PageLink>& links) {
    begin(name);
    line_ += '[';
    for (const web::PageLink& link : links) {
      if (&link != &links.front()) line_ += ',';
      base::append_json_string(link.url.href(), &line_);
    }
    line_ += ']';
  }
  std::string finish() {
    line_ += "}\n";
    return std::move(line_);
  }

 private:
  void begin(std::string_view name) {
    line_.append(line_.empty() ? "{\"" : ",\"").append(name).append("\":");
  }

  std::string line_;
};

// The charset that the content was read in; what the server said where that is not known.
std::string charset_of(const Document& document, DocumentPage& page) {
  if (!page.is_text()) return document.charset;
  return web::lower_copy(web::name_of(page.page().charset.charset));
}

enum class Field : std::uint8_t {
  kUrl,
  kTime,
  kValidFrom,
  kValidTo,
  kMime,
  kStatus,
  kCharset,
  kLanguage,
  kTitle,
  kText,
  kLinks,
  kDigest,
  kLength,
  kMonth,
  kHost,
};

// By their numbers.
constexpr auto kNames = std::to_array<std::string_view>(
    {"url", "time", "valid_from", "valid_to", "mime", "status", "charset", "language", "title",
     "text", "links", "digest", "length", "month", "host"});
constexpr std::size_t kDefaultFields = 11;  // the first ones
constexpr std::size_t kMonthBytes = 7;      // "2026-11"

std::optional<Field> field_of(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Field>(found - kNames.begin());
}

void append(Field field, const Document& document, DocumentPage& page, ObjectLine& line) {
  const std::string_view name = kNames.at(static_cast<std::size_t>(field));
  const DocumentFacts& facts = document.facts;
  switch (field) {
    case Field::kUrl: return line.text(name, facts.url);
    case Field::kTime: return line.time(name, facts.time);
    case Field::kValidFrom: return line.time(name, facts.valid.begin);
    case Field::kValidTo: return line.end_time(name, facts.valid.end);
    case Field::kMime: return line.text(name, document.mime);
    case Field::kStatus: return line.number(name, document.status);
    case Field::kCharset: return line.text(name, charset_of(document, page));
    case Field::kLanguage: return line.text(name, page.language());
    case Field::kTitle: return line.text(name, page.page().title);
    case Field::kText: return line.text(name, page.page().main_text);
    case Field::kLinks: return line.links(name, page.page().links);
    case Field::kDigest: return line.text(name, document.digest);
    case Field::kLength: return line.number(name, document.content.size());
    case Field::kMonth: return line.text(name, facts.time.to_rfc3339().substr(0, kMonthBytes));
    case Field::kHost: return line.text(name, page.host());
  }
}

}  // namespace

std::vector<std::string> default_fields() {
  return {kNames.begin(), kNames.begin() + kDefaultFields};
}

base::Status check_fields(std::span<const std::string> fields) {
  const auto bad = std::ranges::find_if_not(
      fields, [](const std::string& name) { return field_of(name).has_value(); });
  if (bad == fields.end() && !fields.empty()) return {};
  const std::string what =
      fields.empty() ? "no field was chosen" : base::quoted(*bad) + " is no field of a document";
  return base::fail(base::ErrorCode::kInvalid, "{}; there are {}", what, fmt::join(kNames, ", "));
}

std::string header_line(const Document& document) {
  const DocumentFacts& facts = document.facts;
  ObjectLine line;
  line.number("number", facts.number);
  line.text("url", facts.url);
  line.time("time", facts.time);
  line.time("valid_from", facts.valid.begin);
  line.end_time("valid_to", facts.valid.end);
  line.number("status", document.status);
  line.text("mime", document.mime);
  line.text("charset", document.charset);
  line.text("language", facts.language);
  line.text("digest", document.digest);
  if (!document.cut.empty()) line.text("cut", document.cut);
  line.number("length", document.content.size());
  return line.finish();
}

bool needs_text(const Document& document, std::span<const std::string> fields) {
  return std::ranges::any_of(fields, [&](const std::string& name) {
    return name == "text" || (name == "language" && document.facts.language.empty());
  });
}

std::string fields_line(const Document& document, DocumentPage& page,
                        std::span<const std::string> fields) {
  ObjectLine line;
  for (const std::string& name : fields) {
    const auto field = field_of(name);
    CHECK(field, "\"{}\" is no field", name);
    append(*field, document, page, line);
  }
  return line.finish();
}

}  // namespace meguri::scan
