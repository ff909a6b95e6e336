// Charsets of the WHATWG Encoding Standard: labels, finding a document's charset, to and from
// UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::web {

// The encodings of the standard, without those that stand for no text ("replacement",
// "x-user-defined" included as they are).
enum class Charset : std::uint8_t {
  kUtf8,
  kIbm866,
  kIso8859_2,
  kIso8859_3,
  kIso8859_4,
  kIso8859_5,
  kIso8859_6,
  kIso8859_7,
  kIso8859_8,
  kIso8859_8I,
  kIso8859_10,
  kIso8859_13,
  kIso8859_14,
  kIso8859_15,
  kIso8859_16,
  kKoi8R,
  kKoi8U,
  kMacintosh,
  kWindows874,
  kWindows1250,
  kWindows1251,
  kWindows1252,
  kWindows1253,
  kWindows1254,
  kWindows1255,
  kWindows1256,
  kWindows1257,
  kWindows1258,
  kXMacCyrillic,
  kGbk,
  kGb18030,
  kBig5,
  kEucJp,
  kIso2022Jp,
  kShiftJis,
  kEucKr,
  kReplacement,
  kUtf16Be,
  kUtf16Le,
  kXUserDefined,
};

std::string_view name_of(Charset charset);

// The charset a label means, in any case and with spaces around it; nullopt if no such label.
std::optional<Charset> charset_of_label(std::string_view label);

// Writes code points in a charset, one after the other, for URL queries and forms.
class Encoder {
 public:
  explicit Encoder(Charset charset);

  // Appends the bytes of `code_point`. If this charset cannot write it, appends at most a shift
  // back to ASCII and returns the code point to report instead (U+FFFD for some, else itself).
  std::optional<char32_t> append(char32_t code_point, std::string* out);

  // Appends what leaves the writing in its first state.
  void finish(std::string* out);

 private:
  Charset charset_;
};

}  // namespace meguri::web
