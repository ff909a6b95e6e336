#include "web/utf8.h"
namespace meguri::web {
void append_utf8(char32_t c, std::string* out) {
  const auto put = [out](char32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6U)); put(0x80 | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12U)); put(0x80 | ((c >> 6U) & 0x3FU)); put(0x80 | (c & 0x3FU));
  } else {
    put(0xF0 | (c >> 18U)); put(0x80 | ((c >> 12U) & 0x3FU)); put(0x80 | ((c >> 6U) & 0x3FU)); put(0x80 | (c & 0x3FU));
  }
}
}
