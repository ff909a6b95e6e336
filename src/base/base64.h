// Base64 (RFC 4648): any bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace meguri::base {

std::string base64_of(std::string_view bytes);  // with its padding

}  // namespace meguri::base
