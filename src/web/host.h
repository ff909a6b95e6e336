// Hosts of the URL Standard: domains, IPv4 and IPv6 addresses, and opaque hosts. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace meguri::web {

// Parses the host `text` (UTF-8, without port) and appends its serialised form. False if it is
// invalid; `out` may then hold a part. `special` is true for http, https, ws, wss, ftp and file:
// their hosts are domains or addresses, those of other schemes opaque.
bool append_host(std::string_view text, bool special, std::string* out);

// True for a serialised host that is an IPv4 address, or an IPv6 address in brackets.
bool is_ip_address(std::string_view host);

}  // namespace meguri::web
