#include "base/base64.h"

#include <cstddef>
#include <cstdint>

namespace meguri::base {

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view three = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (k < three.size() ? static_cast<unsigned char>(three[k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= three.size() ? kDigits[bits >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace meguri::base
