// The single steps of a SURT key, by the names of the package. For surt.cc and for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::web {

// A URL taken apart the way SURT does it, which is not the URL Standard's. Absent and empty parts
// differ where the key differs.
struct SurtUrl {
  std::string scheme;
  std::string host;  // empty: none
  std::optional<std::uint16_t> port;
  std::string path;   // empty: none
  std::string query;  // empty: none
  std::string fragment;
  bool ends_in_question_mark = false;  // and has no query

  // nullopt for what the package cannot parse.
  static std::optional<SurtUrl> parse(std::string_view url);

  // The package's "google" canonicaliser: fragment dropped; escapes undone until none is left and
  // made again for what needs them; host names to ASCII, addresses to four numbers; empty, "." and
  // ".." segments removed. False for what the package refuses.
  bool canonicalize_google();

  // The package's "IA" canonicaliser: lower case, "www." dropped, default ports dropped, session
  // ids dropped, query sorted, slash at the end dropped.
  void canonicalize_ia();

  // As a URL.
  std::string to_url() const;
  // As a key: host reversed, no scheme.
  std::string to_key() const;

 private:
  void append_rest(std::string* out) const;
};

// Undoes escapes until none is left. The order of undoing does not matter, so one pass with the
// output as a stack does it in linear time.
std::string unescape_repeatedly(std::string_view text);

// Escapes all but printable ASCII, '#' and '%'.
std::string escape_once(std::string_view bytes);

std::string normalize_path(std::string_view path);

// Sorts "name=value" parts by name, then value; a name without '=' before the same with one.
std::string alpha_reorder_query(std::string_view query);

// Without a leading "www." or "www" and digits and a dot.
std::string_view massage_host(std::string_view host);

// Without the session ids of ASP.NET in a path, and those of Java, PHP, ASP and ColdFusion.
std::string strip_path_session_id(std::string path);
std::string strip_query_session_id(std::string query);

// Appends the labels of `host` in reverse, with commas.
void append_reversed_host(std::string_view host, std::string* out);

// The host in ASCII by IDNA of 2003; nullopt where that fails. Not UTF-8: nullopt too.
std::optional<std::string> host_to_ascii_2003(std::string_view host);

// How SURT reads numeric hosts: nullopt if `host` is none.
std::optional<std::string> surt_ip_address(std::string_view host);

// int() of Python refuses more digits.
inline constexpr std::size_t kSurtHostDigitsMax = 4300;

}  // namespace meguri::web
