// What ends the body of a message (RFC 9112, section 6.3), decided from its head alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/http_head.h"

namespace meguri::web {

struct ContentLength {
  enum class State : std::uint8_t {
    kAbsent,
    kValid,      // one value, or several equal ones
    kInvalid,    // not a plain number, or above 64 bits
    kDiffering,  // several numbers
  };
  State state = State::kAbsent;
  std::uint64_t bytes = 0;  // when valid
};
ContentLength content_length_of(const FieldList& fields);

enum class BodyEnd : std::uint8_t {
  kNone,     // there is no body
  kChunked,  // the last chunk, http_chunked.h
  kLength,   // after `length` bytes
  kClose,    // the end of the stream
};

struct BodyFraming {
  BodyEnd end = BodyEnd::kNone;
  std::uint64_t length = 0;  // for kLength
  // Transfer codings below chunked, in the order they were applied, lower-cased: "gzip".
  std::vector<std::string> codings;

  // Head and body may be used, but nothing more from this connection. A server answers a request
  // like this with 400.
  bool is_faulty = false;
  bool bad_length = false;         // Content-Length invalid or differing; it was not used
  bool length_overridden = false;  // Content-Length beside Transfer-Encoding, or without a body
  bool odd_transfer_coding =
      false;  // chunked twice or not last, or Transfer-Encoding in HTTP/1.0 or 2
};

// `request_method` in any case: "HEAD" and "CONNECT" matter.
BodyFraming response_framing(const HttpHead& head, std::string_view request_method);
BodyFraming request_framing(const HttpHead& head);

}  // namespace meguri::web
