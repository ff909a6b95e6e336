// Where a response sends its reader: Location and Refresh.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "web/http_head.h"

namespace meguri::web {

// 301, 302, 303, 307, 308.
constexpr bool is_redirect_status(int status) {
  return (status >= 301 && status <= 303) || status == 307 || status == 308;
}

// The text of Location if `head` redirects and has one that is not empty, without spaces and
// controls at its ends. Bytes are as sent, UTF-8 or not. May be relative; whether the fragment of
// the old address is kept is the caller's decision. The first of several counts.
// The view dies with the head.
std::optional<std::string_view> redirect_target(const HttpHead& head);

// RFC 9110 leaves it to the recipient; the largest value means "this or later".
inline constexpr std::uint32_t kRefreshSecondsMax = 0x7fffffff;

struct Refresh {
  std::uint32_t delay_seconds = 0;
  std::string_view url;  // a part of the text read; empty: the document itself

  friend bool operator==(const Refresh&, const Refresh&) = default;
};

// The value of a Refresh field, or the content of <meta http-equiv=refresh>: HTML's "shared
// declarative refresh steps". Nullopt: it means nothing.
std::optional<Refresh> parse_refresh(std::string_view text);

}  // namespace meguri::web
