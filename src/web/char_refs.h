// Character references of HTML ("&amp;", "&#x41;"), and the other changes the standard makes to
// text: line ends become LF, and NUL becomes U+FFFD where it says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meguri::web {

// Where a text stands decides what is changed in it.
enum class TextMode : std::uint8_t {
  kData,       // references decoded, NUL kept
  kRcdata,     // title and textarea: references decoded, NUL replaced
  kRaw,        // script, style, comments, plaintext: no references, NUL replaced
  kCdata,      // no references, NUL kept
  kAttribute,  // references decoded by the rules of attributes, NUL replaced
};

// Whether `raw` is its own decoded form, so that it need not be copied.
bool is_plain_text(std::string_view raw, TextMode mode);

// Appends the decoded form of `raw`. Linear; at most 3/2 as long for references, three times for
// NULs.
void append_decoded(std::string_view raw, TextMode mode, std::string* out);

// The length of a reference that may not be complete at the end of `raw`, which ends where a piece
// of the input ends; 0 if none could be.
std::size_t open_reference_length(std::string_view raw);

}  // namespace meguri::web
