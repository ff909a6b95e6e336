#include "web/http_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "web/ascii.h"
#include "web/http_text.h"

namespace meguri::web {

namespace {

constexpr std::string_view kHttpPrefix = "HTTP/";
constexpr std::string_view kIcyPrefix = "ICY ";
constexpr int kVersionDigitsMax = 2;

bool is_all_cr(std::string_view text) { return text.find_first_not_of('\r') == text.npos; }

// Takes a start line apart from the front.
class LineReader {
 public:
  LineReader(std::string_view text, HeadQuirks* quirks) : rest_(text), quirks_(quirks) {}

  std::string_view rest() const { return rest_; }

  // One to `digits_max` digits.
  std::optional<int> take_number(int digits_max) {
    int value = 0;
    int digits = 0;
    while (digits < digits_max && !rest_.empty() && is_digit(rest_.front())) {
      value = value * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
      ++digits;
    }
    if (digits == 0 || (!rest_.empty() && is_digit(rest_.front()))) return std::nullopt;
    return value;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Any number of blanks, of which exactly one space is right.
  void take_blanks() {
    const std::size_t end = std::min(rest_.find_first_not_of(" \t"), rest_.size());
    if (rest_.substr(0, end) != " ") quirks_->add(HeadQuirk::kOddSpacing);
    rest_.remove_prefix(end);
  }

  // "HTTP/1.1", "http/2", or "ICY" as HTTP/1.0.
  std::optional<HttpVersion> take_version() {
    if (starts_with_ignoring_case(rest_, kIcyPrefix)) {
      quirks_->add(HeadQuirk::kIcy);
      rest_.remove_prefix(kIcyPrefix.size() - 1);
      return HttpVersion{1, 0};
    }
    if (!starts_with_ignoring_case(rest_, kHttpPrefix)) return std::nullopt;
    if (!rest_.starts_with(kHttpPrefix)) quirks_->add(HeadQuirk::kLowerCaseName);
    rest_.remove_prefix(kHttpPrefix.size());
    const auto major = take_number(kVersionDigitsMax);
    if (!major) return std::nullopt;
    HttpVersion version{*major, 0};
    const bool has_minor = take('.');
    if (has_minor) {
      const auto minor = take_number(kVersionDigitsMax);
      if (!minor) return std::nullopt;
      version.minor = *minor;
    }
    const bool is_known = version.major == 1 ? has_minor && version.minor <= 1
                                             : !has_minor && (*major == 2 || *major == 3);
    if (!is_known) quirks_->add(HeadQuirk::kOddVersion);
    return version;
  }

 private:
  std::string_view rest_;
  HeadQuirks* quirks_;
};

bool parse_status_line(std::string_view line, HttpHead* head) {
  LineReader reader(line, &head->quirks);
  const auto version = reader.take_version();
  if (!version) return false;
  reader.take_blanks();
  const auto status = reader.take_number(3);
  if (!status || *status < 100) return false;
  head->version = *version;
  head->status = *status;
  if (reader.rest().empty()) {
    if (version->major < 2) head->quirks.add(HeadQuirk::kNoReason);
    return true;
  }
  reader.take_blanks();
  head->reason = trimmed(reader.rest());
  return true;
}

// Method, target and version; blanks in the target are tolerated.
bool parse_request_line(std::string_view line, HttpHead* head) {
  const std::size_t first_blank = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view method = line.substr(0, first_blank);
  if (!is_token(method)) return false;
  std::string_view target = trimmed(line.substr(first_blank));
  const std::size_t last_blank = target.find_last_of(" \t");
  std::optional<HttpVersion> version;
  if (last_blank != std::string_view::npos) {
    const std::string_view version_text = target.substr(last_blank + 1);
    HeadQuirks quirks;
    LineReader reader(version_text, &quirks);
    version = reader.take_version();
    if (!reader.rest().empty()) version.reset();
    if (version) {
      head->quirks.add(quirks);
      target = trimmed(target.substr(0, last_blank));
      if (line != fmt::format("{} {} {}", method, target, version_text)) {
        head->quirks.add(HeadQuirk::kOddSpacing);
      }
    }
  }
  if (target.empty()) return false;
  if (!version) head->quirks.add(HeadQuirk::kNoVersion);
  if (target.find_first_of(" \t") != target.npos) head->quirks.add(HeadQuirk::kSpaceInTarget);
  head->version = version.value_or(HttpVersion{});
  head->method = method;
  head->target = target;
  return true;
}

bool parse_start_line(std::string_view line, HttpHead* head) {
  line.remove_suffix(1);
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  } else {
    head->quirks.add(HeadQuirk::kBareLf);
  }
  const std::string text = cleaned_field_text(line, &head->quirks);
  return head->kind == HeadKind::kResponse ? parse_status_line(text, head)
                                           : parse_request_line(text, head);
}

}  // namespace

std::string_view name_of(HeadState state) {
  constexpr std::array<std::string_view, 7> kNames = {
      "more", "complete", "truncated", "not_http", "bad_start_line", "too_long", "too_many_lines"};
  return kNames.at(static_cast<std::size_t>(state));
}

HttpHead HttpHead::make_response(int status, std::string_view reason) {
  CHECK(status >= 100 && status <= 999, "no status {}", status);
  HttpHead head;
  head.version = {1, 1};
  head.status = status;
  head.reason = cleaned_field_text(reason, &head.quirks);
  std::ranges::replace(head.reason, '\n', ' ');
  head.start_raw = fmt::format("HTTP/1.1 {} {}\r\n", status, head.reason);
  head.end_raw = "\r\n";
  return head;
}

HttpHead HttpHead::make_request(std::string_view method, std::string_view target) {
  CHECK(is_token(method), "no method");
  CHECK(!target.empty() && std::ranges::none_of(target, [](char c) {
    return is_http_control(c) || is_http_blank(c);
  }));
  HttpHead head;
  head.kind = HeadKind::kRequest;
  head.version = {1, 1};
  head.method = method;
  head.target = target;
  head.start_raw = fmt::format("{} {} HTTP/1.1\r\n", method, target);
  head.end_raw = "\r\n";
  return head;
}

std::string HttpHead::to_bytes() const {
  std::string bytes = start_raw;
  fields.append_to(&bytes);
  bytes += end_raw;
  return bytes;
}

HeadParser::HeadParser(HeadKind kind) : is_sniffing_(kind == HeadKind::kResponse) {
  head_.kind = kind;
}

std::size_t HeadParser::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (state_ == HeadState::kMore && used < bytes.size()) {
    if (is_sniffing_) {
      if (take_first_byte(bytes[used])) ++used;
      continue;
    }
    const std::string_view rest = bytes.substr(used);
    const std::size_t line_end = rest.find('\n');
    const bool has_end = line_end != std::string_view::npos;
    const std::size_t wanted = has_end ? line_end + 1 : rest.size();
    const std::size_t size = std::min(wanted, kHeadBytesMax - taken_);
    line_.append(rest.substr(0, size));
    used += size;
    taken_ += size;
    if (size < wanted) {
      stop(HeadState::kTooLong);
    } else if (has_end) {
      take_line();
    }
  }
  return used;
}

// Takes the bytes of a response until its first line is known to begin like a status line. False:
// the byte was not taken, for it is not HTTP.
bool HeadParser::take_first_byte(char c) {
  if (taken_ == kHeadBytesMax) {
    stop(HeadState::kTooLong);
    return false;
  }
  // A line that begins with CR holds nothing else, or it would not have been taken.
  const bool may_be_blank = line_.empty() || line_.front() == '\r';
  line_ += c;
  const bool may_be_http = starts_with_ignoring_case(kHttpPrefix, line_);
  const bool may_be_icy = starts_with_ignoring_case(kIcyPrefix, line_);
  if (!may_be_http && !may_be_icy && !(may_be_blank && (c == '\r' || c == '\n'))) {
    line_.pop_back();
    stop(HeadState::kNotHttp);
    return false;
  }
  ++taken_;
  if (c == '\n') take_leading_blank_line();
  is_sniffing_ = !(may_be_http && line_.size() == kHttpPrefix.size()) &&
                 !(may_be_icy && line_.size() == kIcyPrefix.size());
  return true;
}

void HeadParser::take_leading_blank_line() {
  head_.quirks.add(HeadQuirk::kLeadingBlankLine);
  head_.start_raw += std::exchange(line_, {});
  if (++lines_ > kHeadLinesMax) stop(HeadState::kTooManyLines);
}

void HeadParser::take_line() {
  const bool is_blank = is_all_cr(std::string_view(line_).substr(0, line_.size() - 1));
  if (is_blank && !has_start_) {
    take_leading_blank_line();
    return;
  }
  if (is_blank) {
    if (line_.size() == 1) head_.quirks.add(HeadQuirk::kBareLf);
    if (line_.size() > 2) head_.quirks.add(HeadQuirk::kBareCr);
    head_.end_raw = std::exchange(line_, {});
    state_ = HeadState::kComplete;
    return;
  }
  if (++lines_ > kHeadLinesMax) {
    stop(HeadState::kTooManyLines);
    return;
  }
  if (has_start_) {
    head_.quirks.add(head_.fields.add_line(line_));
    line_.clear();
    return;
  }
  if (!parse_start_line(line_, &head_)) {
    stop(HeadState::kBadStartLine);
    return;
  }
  head_.start_raw += std::exchange(line_, {});
  has_start_ = true;
}

void HeadParser::finish() {
  if (state_ == HeadState::kMore) stop(HeadState::kTruncated);
}

// Ends before the empty line, and keeps the bytes of the line that was not used.
void HeadParser::stop(HeadState state) {
  state_ = state;
  if (has_start_) {
    head_.fields.add_raw(line_);
  } else {
    head_.start_raw += line_;
  }
  line_.clear();
}

ParsedHead parse_head(HeadKind kind, std::string_view bytes) {
  HeadParser parser(kind);
  ParsedHead parsed;
  parsed.size = parser.feed(bytes);
  parser.finish();
  parsed.state = parser.state();
  parsed.head = std::move(parser.head());
  return parsed;
}

}  // namespace meguri::web
