// Charsets of the WHATWG Encoding Standard: labels, and text to and from UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::web {

// The encodings of the standard, in its order.
// NOLINTBEGIN(readability-identifier-naming): parts of ISO 8859 are told apart by their number.
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
// NOLINTEND(readability-identifier-naming)
constexpr std::size_t kCharsetCount = static_cast<std::size_t>(Charset::kXUserDefined) + 1;

std::string_view name_of(Charset charset);

// The charset a label means, in any case and with spaces around it; nullopt if no such label.
std::optional<Charset> charset_of_label(std::string_view label);

// What becomes of a byte order mark of the text's own charset (UTF-8 or UTF-16) at its start.
enum class Bom : std::uint8_t { kDrop, kKeep };

// No charset makes more bytes of UTF-8 out of one byte.
constexpr std::size_t kUtf8PerByteMax = 3;

// Reads a text piece by piece; a piece may end anywhere, within a character too. Bytes that mean
// nothing become U+FFFD as in the standard, and never swallow an ASCII byte behind them. Holds at
// most three bytes back. What it writes is valid UTF-8, at most kUtf8PerByteMax bytes for each byte
// read. The first Decoder of a charset in the process builds its table, in a few milliseconds.
// Different objects may be used from different threads at once.
class Decoder {
 public:
  explicit Decoder(Charset charset, Bom bom = Bom::kDrop);
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  // Appends what the bytes read so far surely mean to `utf8`.
  void append(std::string_view bytes, std::string* utf8);

  // Ends the text: a character still cut becomes U+FFFD. The object is then as newly made.
  void finish(std::string* utf8);

  class Machine;

 private:
  void drop_bom(std::size_t start, std::string* utf8);

  std::unique_ptr<Machine> machine_;
  Bom bom_;
  bool at_start_ = true;
};

// Appends the whole text `bytes`, read as `charset`, to `utf8`.
void decode(std::string_view bytes, Charset charset, std::string* utf8, Bom bom = Bom::kDrop);

// Writes code points in a charset, one after the other, for URL queries and forms. UTF-16 and
// "replacement" are never written: they become UTF-8, as in the standard.
// Different objects may be used from different threads at once.
class Encoder {
 public:
  explicit Encoder(Charset charset);

  // Appends the bytes of `code_point`. If this charset cannot write it, appends at most a shift
  // back to ASCII and returns the code point to report instead (U+FFFD for some, else itself).
  std::optional<char32_t> append(char32_t code_point, std::string* out);

  // Appends what leaves the writing in its first state.
  void finish(std::string* out);

 private:
  // The character set that ISO-2022-JP bytes are in.
  enum class Shift : std::uint8_t { kAscii, kRoman, kJis0208 };

  std::optional<char32_t> append_iso_2022_jp(char32_t code_point, std::string* out);
  std::optional<char32_t> append_jis_0208(char32_t code_point, std::string* out);
  void shift_to(Shift shift, std::string* out);

  Charset charset_;
  Shift shift_ = Shift::kAscii;
};

}  // namespace meguri::web
