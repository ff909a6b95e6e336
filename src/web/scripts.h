// Which scripts write without spaces between words.
#pragma once

#include <cstdint>

namespace meguri::web {

// CJK, kana, Thai, Lao, Burmese and Khmer, nearly: in these a character stands for about half a
// word.
constexpr bool is_unspaced(std::uint32_t code_point) {
  const auto in = [code_point](std::uint32_t begin, std::uint32_t end) {
    return code_point >= begin && code_point < end;
  };
  return in(0x0E00, 0x0F00) || in(0x1000, 0x10A0) || in(0x1780, 0x1800) || in(0x3040, 0x3100) ||
         in(0x3400, 0xA000) || in(0xF900, 0xFB00) || in(0xFF66, 0xFFA0) || in(0x20000, 0x32000);
}

}  // namespace meguri::web
