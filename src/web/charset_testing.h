// Whole texts in a charset, for tests and fuzzers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "web/charset.h"

namespace meguri::web {

// Valid UTF-8 written in `charset`; nullopt if it cannot write all of it.
inline std::optional<std::string> encode_text(std::string_view utf8, Charset charset) {
  std::string bytes;
  Encoder encoder(charset);
  while (!utf8.empty()) {
    const base::CodePoint next = base::first_code_point(utf8);
    if (!next.valid || encoder.append(next.value, &bytes)) return std::nullopt;
    utf8.remove_prefix(next.length);
  }
  encoder.finish(&bytes);
  return bytes;
}

inline std::string decode_text(std::string_view bytes, Charset charset) {
  std::string utf8;
  decode(bytes, charset, &utf8);
  return utf8;
}

}  // namespace meguri::web
