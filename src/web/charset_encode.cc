// Encoder: code points as bytes of any charset.
#include <array>
#include <cstdint>

#include "web/charset.h"
#include "web/charset_corrections.h"
#include "web/charset_index.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

// Half-width katakana have no place in ISO-2022-JP: they are written full width, from U+FF61 on.
constexpr std::array<char16_t, 63> kFullWidth = {
    0x3002, 0x300C, 0x300D, 0x3001, 0x30FB, 0x30F2, 0x30A1, 0x30A3, 0x30A5, 0x30A7, 0x30A9,
    0x30E3, 0x30E5, 0x30E7, 0x30C3, 0x30FC, 0x30A2, 0x30A4, 0x30A6, 0x30A8, 0x30AA, 0x30AB,
    0x30AD, 0x30AF, 0x30B1, 0x30B3, 0x30B5, 0x30B7, 0x30B9, 0x30BB, 0x30BD, 0x30BF, 0x30C1,
    0x30C4, 0x30C6, 0x30C8, 0x30CA, 0x30CB, 0x30CC, 0x30CD, 0x30CE, 0x30CF, 0x30D2, 0x30D5,
    0x30D8, 0x30DB, 0x30DE, 0x30DF, 0x30E0, 0x30E1, 0x30E2, 0x30E4, 0x30E6, 0x30E8, 0x30E9,
    0x30EA, 0x30EB, 0x30EC, 0x30ED, 0x30EF, 0x30F3, 0x309B, 0x309C};

void append_bytes(std::uint32_t lead, std::uint32_t trail, std::string* out) {
  out->push_back(static_cast<char>(lead));
  out->push_back(static_cast<char>(trail));
}

bool is_halfwidth_katakana(char32_t code_point) {
  return code_point >= 0xFF61 && code_point <= 0xFF9F;
}

// JIS X 0208's minus has the code point of the full-width one in the index.
char32_t unify_minus(char32_t code_point) { return code_point == 0x2212 ? 0xFF0D : code_point; }

bool append_single_byte(Charset charset, char32_t code_point, std::string* out) {
  const auto byte = single_byte_of(charset, code_point);
  if (byte) out->push_back(static_cast<char>(*byte));
  return byte.has_value();
}

bool append_x_user_defined(char32_t code_point, std::string* out) {
  if (code_point < 0xF780 || code_point > 0xF7FF) return false;
  out->push_back(static_cast<char>(code_point - 0xF780 + 0x80));
  return true;
}

bool append_big5(char32_t code_point, std::string* out) {
  const auto pointer = pointer_of(PointerUse::kBig5, code_point);
  if (!pointer) return false;
  const std::uint32_t trail = *pointer % 157;
  append_bytes(*pointer / 157 + 0x81, trail + (trail < 0x3F ? 0x40 : 0x62), out);
  return true;
}

bool append_euc_kr(char32_t code_point, std::string* out) {
  const auto pointer = pointer_of(PointerUse::kEucKr, code_point);
  if (pointer) append_bytes(*pointer / 190 + 0x81, *pointer % 190 + 0x41, out);
  return pointer.has_value();
}

bool append_gb18030(Charset charset, char32_t code_point, std::string* out) {
  if (code_point == kGb18030Unwritable) return false;
  if (charset == Charset::kGbk && code_point == 0x20AC) {
    out->push_back('\x80');
    return true;
  }
  if (const auto pointer = pointer_of(PointerUse::kGb18030, code_point)) {
    const std::uint32_t trail = *pointer % 190;
    append_bytes(*pointer / 190 + 0x81, trail + (trail < 0x3F ? 0x40 : 0x41), out);
    return true;
  }
  if (charset == Charset::kGbk) return false;
  const std::uint32_t pointer = gb18030_range_pointer(code_point);
  append_bytes(pointer / 12600 + 0x81, pointer % 12600 / 1260 + 0x30, out);
  append_bytes(pointer % 1260 / 10 + 0x81, pointer % 10 + 0x30, out);
  return true;
}

// Both charsets show the yen sign and the overline where ASCII has backslash and tilde.
bool append_jis_roman(char32_t code_point, std::string* out) {
  if (code_point != 0xA5 && code_point != 0x203E) return false;
  out->push_back(code_point == 0xA5 ? '\x5C' : '\x7E');
  return true;
}

bool append_euc_jp(char32_t code_point, std::string* out) {
  if (append_jis_roman(code_point, out)) return true;
  if (is_halfwidth_katakana(code_point)) {
    append_bytes(0x8E, code_point - 0xFF61 + 0xA1, out);
    return true;
  }
  const auto pointer = pointer_of(PointerUse::kJis0208, unify_minus(code_point));
  if (pointer) append_bytes(*pointer / 94 + 0xA1, *pointer % 94 + 0xA1, out);
  return pointer.has_value();
}

bool append_shift_jis(char32_t code_point, std::string* out) {
  if (append_jis_roman(code_point, out)) return true;
  if (code_point == 0x80 || is_halfwidth_katakana(code_point)) {
    out->push_back(static_cast<char>(code_point == 0x80 ? 0x80 : code_point - 0xFF61 + 0xA1));
    return true;
  }
  const auto pointer = pointer_of(PointerUse::kShiftJis, unify_minus(code_point));
  if (!pointer) return false;
  const std::uint32_t lead = *pointer / 188;
  const std::uint32_t trail = *pointer % 188;
  append_bytes(lead + (lead < 0x1F ? 0x81 : 0xC1), trail + (trail < 0x3F ? 0x40 : 0x41), out);
  return true;
}

// Appends what is not ASCII, in a charset without states; false if it cannot be written.
bool append_legacy(Charset charset, char32_t code_point, std::string* out) {
  switch (charset) {
    case Charset::kBig5: return append_big5(code_point, out);
    case Charset::kEucJp: return append_euc_jp(code_point, out);
    case Charset::kEucKr: return append_euc_kr(code_point, out);
    case Charset::kGbk:
    case Charset::kGb18030: return append_gb18030(charset, code_point, out);
    case Charset::kShiftJis: return append_shift_jis(code_point, out);
    case Charset::kXUserDefined: return append_x_user_defined(code_point, out);
    default: return append_single_byte(charset, code_point, out);
  }
}

bool is_written_as_utf8(Charset charset) {
  return charset == Charset::kUtf8 || charset == Charset::kUtf16Be ||
         charset == Charset::kUtf16Le || charset == Charset::kReplacement;
}

}  // namespace

Encoder::Encoder(Charset charset) : charset_(charset) {}

std::optional<char32_t> Encoder::append(char32_t code_point, std::string* out) {
  if (!is_scalar_value(code_point)) code_point = kReplacementCharacter;
  if (charset_ == Charset::kIso2022Jp) return append_iso_2022_jp(code_point, out);
  if (code_point < 0x80 || is_written_as_utf8(charset_)) {
    append_utf8(code_point, out);
    return std::nullopt;
  }
  if (append_legacy(charset_, code_point, out)) return std::nullopt;
  return code_point;
}

void Encoder::finish(std::string* out) { shift_to(Shift::kAscii, out); }

std::optional<char32_t> Encoder::append_iso_2022_jp(char32_t code_point, std::string* out) {
  if (code_point < 0x80) {
    const bool roman_differs = code_point == 0x5C || code_point == 0x7E;
    if (shift_ != Shift::kRoman || roman_differs) shift_to(Shift::kAscii, out);
    // A text must not bring its own shifts.
    if (code_point == 0x0E || code_point == 0x0F || code_point == 0x1B)
      return kReplacementCharacter;
    out->push_back(static_cast<char>(code_point));
    return std::nullopt;
  }
  if (code_point == 0xA5 || code_point == 0x203E) {
    shift_to(Shift::kRoman, out);
    append_jis_roman(code_point, out);
    return std::nullopt;
  }
  return append_jis_0208(code_point, out);
}

std::optional<char32_t> Encoder::append_jis_0208(char32_t code_point, std::string* out) {
  const char32_t unified = is_halfwidth_katakana(code_point)
                               ? char32_t{kFullWidth.at(code_point - 0xFF61)}
                               : unify_minus(code_point);
  const auto pointer = pointer_of(PointerUse::kJis0208, unified);
  if (!pointer) {
    if (shift_ == Shift::kJis0208) shift_to(Shift::kAscii, out);
    return code_point;
  }
  shift_to(Shift::kJis0208, out);
  append_bytes(*pointer / 94 + 0x21, *pointer % 94 + 0x21, out);
  return std::nullopt;
}

void Encoder::shift_to(Shift shift, std::string* out) {
  if (shift_ == shift) return;
  shift_ = shift;
  out->append(shift == Shift::kAscii ? "\x1B(B" : shift == Shift::kRoman ? "\x1B(J" : "\x1B$B");
}

}  // namespace meguri::web
