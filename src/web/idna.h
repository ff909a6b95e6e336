// Domain names to ASCII: UTS #46 as the URL Standard asks for it, and Punycode for the older rules
// of SURT keys. Pure functions, safe from any thread; ICU's tables are opened at the first call.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meguri::web {

// Names with characters outside ASCII are refused beyond this many bytes: Punycode takes time by
// the square of a label, and no name longer than 253 bytes can be resolved.
inline constexpr std::size_t kIdnaBytesMax = 2048;

// Appends `domain` (UTF-8) in ASCII: not transitional, with CheckBidi and CheckJoiners, without
// STD3 rules, hyphen checks and length checks. A name all of ASCII is only put in lower case, its
// "xn--" labels unchecked, as the standard says. False if the name is invalid or becomes empty;
// then `out` is as before.
bool append_domain_ascii(std::string_view domain, std::string* out);

// Appends the Punycode (RFC 3492) of a label, without "xn--". False if it overflows.
bool append_punycode(std::u32string_view label, std::string* out);

}  // namespace meguri::web
