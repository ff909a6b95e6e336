// The form in which paths of URLs and patterns of robots.txt are compared (RFC 9309, 2.2.2).
// Pure functions; any thread; linear time.
//
// Escaped octets that need no escape (letters, digits, "-._~") are decoded, all other escapes get
// capital digits, and whatever may not stand in a URI is escaped. "%2F" and "/" stay different, as
// do all reserved characters and their escapes. Two characters have a meaning in patterns, so in
// this form they are themselves only there: a path's "*" is "%2A" and a "$" that ends no pattern
// is "%24". A "%" without two digits behind it stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace meguri::web {

// `path` (with its query) in that form: a view of `path` itself where nothing had to change, else
// of
// `*storage`. A fragment is dropped; a missing "/" at the front is put there. At most triples the
// length, and one.
std::string_view comparable_path(std::string_view path, std::string* storage);

// A pattern in that form, its wildcards and its closing "$" kept.
std::string comparable_pattern(std::string_view pattern);

}  // namespace meguri::web
