// Host keys: host names from the right, so that the hosts of a domain are neighbours in any order
// by bytes.
#pragma once

#include <string>
#include <string_view>

namespace meguri::crawl {

// "www.u-tokyo.ac.jp" becomes "jp,ac,u-tokyo,www". Addresses ("192.0.2.1", "[2001:db8::1]") and the
// rare name with a comma in it stay as they are, behind a dot. Different hosts have different keys.
std::string host_key(std::string_view host);
// The same into a string that is used again.
void host_key(std::string_view host, std::string* key);

// The inverse.
std::string host_of_key(std::string_view key);

}  // namespace meguri::crawl
