// Registrable domains, by the Public Suffix List that libpsl carries in itself. Safe from any
// thread; the list is opened at the first call and never changes, so nothing is read from disk.
#pragma once

#include <string_view>

namespace meguri::web {

// The part of a serialised host that somebody registered: "example.co.uk" of
// "www.example.co.uk". Empty for addresses, for public suffixes themselves, for names of one label
// and for names longer than 253 bytes. Names under unknown top-level domains count as registered
// one label below it. The view points into `host`; a dot at its end is left out.
std::string_view registrable_domain(std::string_view host);

// True if `host` ends in a suffix that the list names: false for "a.internal" and "localhost".
bool has_known_suffix(std::string_view host);

// True if `host` itself is such a suffix: "com", "co.uk", "github.io".
bool is_public_suffix(std::string_view host);

}  // namespace meguri::web
