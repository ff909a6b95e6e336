// Paths and queries of the URL parser.
#include <algorithm>
#include <string>

#include "base/text.h"
#include "web/ascii.h"
#include "web/percent.h"
#include "web/url_parser.h"
#include "web/url_plain.h"

namespace meguri::web {

namespace {

// How many dots a path segment stands for, escaped ones included: 1, 2, or 0 for any other segment.
int dots_of(std::string_view segment) {
  if (segment.empty() || segment.size() > 6) return 0;
  int dots = 0;
  for (std::size_t i = 0; i < segment.size(); ++dots) {
    if (segment[i] == '.') {
      ++i;
    } else if (escape_at(segment, i) == '.') {
      i += 3;
    } else {
      return 0;
    }
  }
  return dots <= 2 ? dots : 0;
}

}  // namespace

bool is_drive_letter(std::string_view text) {
  return text.size() == 2 && is_alpha(text[0]) && (text[1] == ':' || text[1] == '|');
}

bool starts_with_drive_letter(std::string_view text) {
  return is_drive_letter(text.substr(0, 2)) &&
         (text.size() == 2 || text[2] == '/' || text[2] == '\\');
}

bool begins_with_drive(std::string_view path) {
  return path.size() >= 3 && is_alpha(path[1]) && path[2] == ':' &&
         (path.size() == 3 || path[3] == '/');
}

void UrlParser::begin_path() { url_.path_begin_ = static_cast<std::uint32_t>(out_.size()); }

// Only the last space before a query or a fragment is encoded, so that removing those later would
// not leave a space at the end.
void UrlParser::append_opaque_path() {
  url_.opaque_path_ = true;
  const bool ends_in_space = input_.ends_with(' ') && (has_query_ || has_fragment_);
  if (ends_in_space) input_.remove_suffix(1);
  append_encoded(input_, EncodeSet::kC0Control, &out_);
  if (ends_in_space) out_ += "%20";
}

// Appends the segments that follow a slash to the path in the buffer.
void UrlParser::append_path(std::string_view segments) {
  if (!file_ && is_plain_path(segments)) {
    out_.append("/").append(segments);
    return;
  }
  for (;;) {
    const std::size_t end =
        std::min(segments.find_first_of(url_.special_ ? "/\\" : "/"), segments.size());
    const bool last = end == segments.size();
    append_segment(segments.substr(0, end), last);
    if (last) return;
    segments.remove_prefix(end + 1);
  }
}

void UrlParser::append_segment(std::string_view segment, bool last) {
  if (const int dots = dots_of(segment); dots > 0) {
    if (dots == 2) shorten_path();
    if (last) out_ += '/';
    return;
  }
  const bool first = out_.size() == url_.path_begin_;
  out_ += '/';
  if (file_ && first && is_drive_letter(segment)) {
    out_ += segment[0];
    out_ += ':';
  } else {
    append_encoded(segment, EncodeSet::kPath, &out_);
  }
}

void UrlParser::shorten_path() {
  const std::string_view path = std::string_view(out_).substr(url_.path_begin_);
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return;
  if (file_ && slash == 0 && path.size() == 3 && begins_with_drive(path)) return;
  out_.resize(url_.path_begin_ + slash);
}

// A path that begins with two slashes would read as a host if there is none.
void UrlParser::end_path() {
  if (url_.has_host_ || url_.opaque_path_) return;
  if (!std::string_view(out_).substr(url_.path_begin_).starts_with("//")) return;
  out_.insert(url_.path_begin_, "/.");
  url_.path_begin_ += 2;
}

void UrlParser::append_query(std::string_view query) {
  url_.query_begin_ = static_cast<std::uint32_t>(out_.size());
  out_ += '?';
  const bool is_utf8 = query_charset_ == Charset::kUtf8 ||
                       query_charset_ == Charset::kReplacement ||
                       query_charset_ == Charset::kUtf16Be || query_charset_ == Charset::kUtf16Le;
  const bool is_socket = url_.scheme() == "ws" || url_.scheme() == "wss";
  if (is_utf8 || is_socket || !url_.special_) {
    append_encoded(query, url_.special_ ? EncodeSet::kSpecialQuery : EncodeSet::kQuery, &out_);
  } else {
    append_encoded_query(query);
  }
}

// The query in a charset other than UTF-8. What the charset cannot write becomes the escaped form
// of a numeric character reference.
void UrlParser::append_encoded_query(std::string_view query) {
  Encoder encoder(query_charset_);
  std::string bytes;
  while (!query.empty()) {
    const base::CodePoint point = base::first_code_point(query);
    query.remove_prefix(point.length);
    bytes.clear();
    const auto unwritable = encoder.append(static_cast<char32_t>(point.value), &bytes);
    append_encoded(bytes, EncodeSet::kSpecialQuery, &out_);
    if (unwritable) {
      out_ += "%26%23";
      out_ += std::to_string(static_cast<std::uint32_t>(*unwritable));
      out_ += "%3B";
    }
  }
  bytes.clear();
  encoder.finish(&bytes);
  append_encoded(bytes, EncodeSet::kSpecialQuery, &out_);
}

}  // namespace meguri::web
