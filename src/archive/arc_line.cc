#include "archive/arc_line.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::archive {

namespace {

constexpr std::size_t kSchemeBytesMax = 32;
constexpr std::size_t kDateDigits = 14;

constexpr std::array<std::string_view, 5> kSchemes = {"filedesc://", "http://", "https://",
                                                      "dns:", "ftp://"};

bool is_scheme_char(char c) { return web::is_alnum(c) || c == '+' || c == '-' || c == '.'; }

// A scheme and its colon, or what may become that.
bool may_begin(std::string_view bytes) {
  if (!bytes.empty() && !web::is_alpha(bytes.front())) return false;
  const std::string_view front = bytes.substr(0, kSchemeBytesMax);
  const auto end = std::ranges::find_if_not(front, is_scheme_char);
  return end == front.end() ? bytes.size() < kSchemeBytesMax : *end == ':';
}

bool is_date(std::string_view word) {
  return word.size() >= 12 && word.size() <= 17 && std::ranges::all_of(word, web::is_digit);
}

bool is_address(std::string_view word) {
  const auto may_be_in = [](char c) { return web::hex_value(c) >= 0 || c == '.' || c == ':'; };
  return word == "-" || (!word.empty() && std::ranges::all_of(word, may_be_in));
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t space = line.find(' ');
    words.push_back(line.substr(0, space));
    if (space == std::string_view::npos) return words;
    line.remove_prefix(space + 1);
  }
}

// Without its line end. URLs may hold spaces, so it is the date that tells where they end.
std::optional<ArcLine> parse_line(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  const auto length = web::parse_decimal(words.back());
  if (!length) return std::nullopt;
  for (std::size_t i = 2; i + 2 < words.size(); ++i) {
    if (!is_date(words[i]) || !is_address(words[i - 1])) continue;
    std::string_view mime = words[i + 1];
    if (mime.ends_with(';')) mime.remove_suffix(1);
    const std::size_t url_size =
        static_cast<std::size_t>(words[i - 1].data() - text.data()) - 1;  // and a space
    return ArcLine{.url = text.substr(0, url_size),
                   .ip_address = words[i - 1],
                   .date = words[i],
                   .mime = mime,
                   .length = *length};
  }
  return std::nullopt;
}

}  // namespace

std::optional<base::Instant> ArcLine::instant() const {
  std::string digits(date.substr(0, kDateDigits));
  digits.resize(kDateDigits, '0');
  const auto parsed = base::Instant::parse_digits(digits);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

ArcStart arc_line_at(std::string_view bytes) {
  if (!may_begin(bytes)) return {};
  const std::string_view front = bytes.substr(0, kArcLineBytesMax);
  const std::size_t end = front.find('\n');
  if (end == std::string_view::npos) {
    const bool has_room = front.size() < kArcLineBytesMax;
    return {.state = has_room ? ArcStart::State::kMore : ArcStart::State::kNone};
  }
  std::string_view text = front.substr(0, end);
  if (text.ends_with('\r')) text.remove_suffix(1);
  auto line = parse_line(text);
  if (!line) return {};
  line->size = end + 1;
  return {.state = ArcStart::State::kWhole, .line = *line};
}

web::FieldList warc_fields_of(const ArcLine& line, const RecordId& id) {
  const bool is_http = line.url.starts_with("http://") || line.url.starts_with("https://");
  const bool is_response = is_http || line.url.starts_with("dns:");
  const bool is_info = line.is_version_block();
  web::FieldList fields;
  fields.add("WARC-Type", is_info ? "warcinfo" : is_response ? "response" : "resource");
  fields.add("WARC-Record-ID", id.to_string());
  if (const auto date = line.instant()) fields.add("WARC-Date", date->to_rfc3339());
  if (is_info) {
    fields.add("WARC-Filename", line.url.substr(line.url.find_last_of('/') + 1));
  } else {
    fields.add("WARC-Target-URI", line.url);
    if (line.ip_address != "0.0.0.0" && line.ip_address != "-") {
      fields.add("WARC-IP-Address", line.ip_address);
    }
  }
  fields.add("Content-Type", is_http ? "application/http; msgtype=response" : line.mime);
  fields.add("Content-Length", std::to_string(line.length));
  return fields;
}

bool begins_with_arc_scheme(std::string_view bytes) {
  return std::ranges::any_of(
      kSchemes, [bytes](std::string_view scheme) { return bytes.starts_with(scheme); });
}

}  // namespace meguri::archive
