// Texts that name their encoding by a byte order mark, brought to UTF-8. Pure functions; any
// thread.
#pragma once

#include <string>
#include <string_view>

namespace meguri::web {

// `bytes` without a UTF-8 mark; or, behind a UTF-16 mark of either order, converted into `*storage`
// and without the mark. Lone surrogates and a last odd byte become U+FFFD. Bytes without a mark are
// returned as they are. The view lives as long as `bytes` and `*storage`. At most 1.5 times the
// length of `bytes` is written.
std::string_view without_byte_order_mark(std::string_view bytes, std::string* storage);

// UTF-16 without a mark, converted in the same way.
std::string utf8_of_utf16(std::string_view bytes, bool big_endian);

// ISO-8859-1, where every byte is the code point of its value. At most doubles the length.
std::string utf8_of_latin1(std::string_view bytes);

}  // namespace meguri::web
