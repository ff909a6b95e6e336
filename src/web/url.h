// URLs as browsers read them: parsing and resolution by the WHATWG URL Standard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "web/charset.h"

namespace meguri::web {

// Longer inputs, and inputs whose serialised form would be longer, are refused.
inline constexpr std::size_t kUrlBytesMax = std::size_t{64} * 1024;

// Why a text is no URL.
enum class UrlFailure : std::uint8_t {
  kTooLong,  // above kUrlBytesMax, as found or serialised
  kNoBase,   // relative, and there is no base it could be resolved against
  kBadHost,
  kBadPort,
};

std::string_view name_of(UrlFailure failure);

// One parsed URL: its serialised form in one buffer, and where its parts lie in it. The form is a
// fixed point: parsing href() again gives the same URL. Thread-compatible; copies are independent.
// Views live until the Url is assigned to, moved from or destroyed.
//
//   https://user:pass@example.org:8080/a/b?q=1#part
//        |      |     |          |    |   |   `- fragment_begin_
//        |      |     |          |    |   `----- query_begin_
//        |      |     |          |    `--------- path_begin_
//        |      |     |          `-------------- host_end_
//        |      |     `------------------------- host_begin_
//        |      `------------------------------- username_end_
//        `-------------------------------------- scheme_end_
class Url {
 public:
  // Parses `input` (bytes as found; broken UTF-8 is read as U+FFFD), against `base` if given.
  // `query_charset` is the document's, used for the query of http, https, ftp and file URLs: what
  // it cannot write becomes a numeric character reference. Linear in input and base. On failure
  // returns nullopt and, if `failure` is not null, says why.
  static std::optional<Url> parse(std::string_view input, const Url* base = nullptr,
                                  Charset query_charset = Charset::kUtf8,
                                  UrlFailure* failure = nullptr);

  const std::string& href() const { return href_; }
  std::string_view scheme() const { return part(0, scheme_end_); }
  std::string_view username() const {
    return has_host_ ? part(scheme_end_ + 3, username_end_) : "";
  }
  std::string_view password() const;
  std::string_view host() const { return part(host_begin_, host_end_); }  // "[...]" around IPv6
  std::optional<std::uint16_t> port() const;  // nullopt: the scheme's default
  std::string_view path() const { return part(path_begin_, path_end()); }
  std::string_view query() const;     // without '?'
  std::string_view fragment() const;  // without '#'

  bool has_host() const { return has_host_; }  // true also for an empty host, as in file:///
  bool has_credentials() const { return host_begin_ > scheme_end_ + 3 && has_host_; }
  bool has_query() const { return query_begin_ != kNone; }        // true also for an empty one
  bool has_fragment() const { return fragment_begin_ != kNone; }  // true also for an empty one
  bool has_opaque_path() const { return opaque_path_; }
  bool is_special() const { return special_; }
  bool is_http() const { return http_; }  // http or https

  // href() without '#' and what follows.
  std::string_view without_fragment() const { return part(0, query_end()); }

  // scheme://host:port for http, https, ws, wss and ftp, of what is inside for blob; else "null".
  std::string origin() const;

  friend bool operator==(const Url& a, const Url& b) { return a.href_ == b.href_; }

 private:
  friend class UrlParser;
  friend class Canonicalizer;

  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  Url() = default;

  std::string_view part(std::size_t begin, std::size_t end) const {
    return std::string_view(href_).substr(begin, end - begin);
  }
  std::size_t query_end() const { return has_fragment() ? fragment_begin_ : href_.size(); }
  std::size_t path_end() const { return has_query() ? query_begin_ : query_end(); }
  // Where scheme, credentials, host and port end; before the "/." of a path like "//a" without
  // host.
  std::size_t authority_end() const { return has_host_ ? path_begin_ : scheme_end_ + 1; }

  // Most URLs: http(s), plain host, nothing to encode or to remove. False: not of this kind.
  bool parse_plain(std::string_view input);

  std::string href_;
  std::uint32_t scheme_end_ = 0;
  std::uint32_t username_end_ = 0;
  std::uint32_t host_begin_ = 0;
  std::uint32_t host_end_ = 0;
  std::uint32_t path_begin_ = 0;
  std::uint32_t query_begin_ = kNone;
  std::uint32_t fragment_begin_ = kNone;
  std::uint16_t port_ = 0;
  bool has_port_ = false;
  bool has_host_ = false;
  bool opaque_path_ = false;
  bool special_ = false;
  bool http_ = false;
};

}  // namespace meguri::web
