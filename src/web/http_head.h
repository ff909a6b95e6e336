// HttpHead and HeadParser: the head of a response or request, from the first byte to the empty
// line (RFC 9112), read leniently and kept byte for byte, since archives store what was sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "web/field_list.h"

namespace meguri::web {

inline constexpr std::size_t kHeadBytesMax = std::size_t{256} * 1024;
inline constexpr std::size_t kHeadLinesMax = 200;  // the start line included

struct HttpVersion {
  int major = 0;
  int minor = 9;  // HTTP/0.9: no head at all

  friend constexpr auto operator<=>(HttpVersion, HttpVersion) = default;
};

enum class HeadKind : std::uint8_t { kResponse, kRequest };

// Invariant: as parsed, to_bytes() are exactly the bytes that were taken, whatever they were.
struct HttpHead {
  HeadKind kind = HeadKind::kResponse;
  HttpVersion version;
  int status = 0;      // of a response: 100..999; 0: none was read
  std::string reason;  // of a response; may be empty
  std::string method;  // of a request, as sent
  std::string target;  // of a request, as sent
  FieldList fields;
  HeadQuirks quirks;
  std::string start_raw;  // the start line as received, with empty lines before it and its end
  std::string end_raw;    // the empty line

  // Ours, or changed by us. Requires a status of 100..999.
  static HttpHead make_response(int status, std::string_view reason);
  // Requires a token as method and a target without white space and controls.
  static HttpHead make_request(std::string_view method, std::string_view target);

  std::string to_bytes() const;

  friend bool operator==(const HttpHead&, const HttpHead&) = default;
};

enum class HeadState : std::uint8_t {
  kMore,          // the empty line has not come yet
  kComplete,      // it has
  kTruncated,     // the stream ended before; the fields of whole lines were read
  kNotHttp,       // no status line: an HTTP/0.9 body, to which the bytes taken belong too
  kBadStartLine,  // "HTTP/" without a status behind it, or no request line
  kTooLong,       // more than kHeadBytesMax
  kTooManyLines,  // more than kHeadLinesMax
};

std::string_view name_of(HeadState state);  // "too_long"

// Reads one head from a stream cut anywhere; the cuts make no difference.
// Thread-compatible. Holds at most kHeadBytesMax bytes, about twice.
class HeadParser {
 public:
  explicit HeadParser(HeadKind kind);

  // Takes bytes until the head ends, and says how many it took. The rest belongs to the body.
  // Takes nothing when the state is not kMore.
  std::size_t feed(std::string_view bytes);

  // The stream has ended.
  void finish();

  HeadState state() const { return state_; }

  // What was read. Whole when the state is not kMore; an incomplete last line is then among the
  // fields without a name.
  const HttpHead& head() const { return head_; }
  HttpHead& head() { return head_; }

 private:
  bool take_first_byte(char c);
  void take_line();
  void take_leading_blank_line();
  void stop(HeadState state);

  HttpHead head_;
  std::string line_;       // the bytes of a line whose end has not come
  std::size_t taken_ = 0;  // bytes
  std::size_t lines_ = 0;
  bool has_start_ = false;  // the start line was read
  bool is_sniffing_;        // whether it is HTTP at all is not known yet
  HeadState state_ = HeadState::kMore;
};

// A head at the front of `bytes`, which are all there is.
struct ParsedHead {
  HeadState state = HeadState::kTruncated;  // never kMore
  std::size_t size = 0;                     // of the head, in bytes
  HttpHead head;
};
ParsedHead parse_head(HeadKind kind, std::string_view bytes);

}  // namespace meguri::web
