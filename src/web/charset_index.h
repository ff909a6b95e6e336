// The tables behind the charsets ("indexes" in the Encoding Standard), for the decoders and
// encoders only. ICU's converters supply them, and charset_index.cc corrects what ICU has
// otherwise than the standard; charset_index_test.cc holds every table to the standard's by hash.
// A table is built when it is first asked for and lives as long as the process. All functions may
// be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "web/charset.h"

namespace meguri::web {

// The code points of the bytes 0x80 to 0xFF; 0 where the charset has none.
using SingleByteIndex = std::array<char16_t, 128>;

// Whether each byte of `charset` is a character: it has a SingleByteIndex.
bool is_single_byte(Charset charset);

// Requires is_single_byte(charset).
const SingleByteIndex& single_byte_index(Charset charset);

// The byte that stands for `code_point`; nullopt for none.
std::optional<std::uint8_t> single_byte_of(Charset charset, char32_t code_point);

// The tables of the charsets with two bytes for a character.
enum class IndexName : std::uint8_t { kBig5, kEucKr, kGb18030, kJis0208, kJis0212 };

// The code points by their "pointer" (the place in the table); 0 where there is none. At the four
// pointers of Big5 that mean two code points stands 0 too.
using Index = std::vector<char32_t>;
const Index& index_of(IndexName name);

// Which table to look a code point up in for writing, and with which of several pointers.
enum class PointerUse : std::uint8_t { kBig5, kEucKr, kGb18030, kJis0208, kShiftJis };
std::optional<std::uint32_t> pointer_of(PointerUse use, char32_t code_point);

// GB 18030's four-byte characters, numbered in their order.
std::optional<char32_t> gb18030_range_code_point(std::uint32_t pointer);
// Requires a scalar value that has no pointer in the index kGb18030.
std::uint32_t gb18030_range_pointer(char32_t code_point);

}  // namespace meguri::web
