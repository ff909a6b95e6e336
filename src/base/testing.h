// What tests of bytes share.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace meguri::base {

// "0aff" of two bytes, as documents of formats have them.
inline std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

}  // namespace meguri::base
