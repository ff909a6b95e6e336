// Text from outside, made safe to show: quoting, JSON strings, display columns. What these return
// holds no control character, no broken UTF-8 and nothing that turns the direction of writing, so
// no page, header or file name can forge a log line or command a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meguri::base {

// One code point taken from the front of a text.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 1;  // bytes it takes; 1 for a broken byte
  bool valid = false;      // false: `value` is the broken byte itself
};

// Strict UTF-8: overlong forms, surrogates and values above U+10FFFF are broken bytes.
// Requires a non-empty `text`.
CodePoint first_code_point(std::string_view text);

// Appends `text` with every unsafe character written as \n, \t, \r, \x1b or \u{202e}. Quotes and
// backslashes stay as they are.
void append_printable(std::string_view text, std::string* out);

// Appends "text" in double quotes; quotes and backslashes inside are escaped too.
void append_quoted(std::string_view text, std::string* out);

// For messages: quoted, and cut after `bytes_max` bytes with "..." behind it.
std::string quoted(std::string_view text, std::size_t bytes_max = 80);

// Appends `text` as a JSON string with its quotes. Broken bytes become U+FFFD.
void append_json_string(std::string_view text, std::string* out);

// How many columns a terminal gives to `text`, nearly: East Asian wide characters and emoji count
// two, combining marks none.
std::size_t display_columns(std::string_view text);

// The longest front part of `text` that fits into `columns`.
std::string_view cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace meguri::base
