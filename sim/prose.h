// Prose: sentences in six languages, made of common words, so that they compress, and look to a
// detector of languages, like text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/site.h"

namespace meguri::sim {

// Appends sentences which in UTF-8 have at least `bytes_min` bytes in all; a function of `key`.
void append_prose(const Script& script, std::uint64_t key, std::size_t bytes_min, std::string* out);

// A title of a few words.
void append_title(const Script& script, std::uint64_t key, std::string* out);
std::string title_of(Language language, std::uint64_t key);  // in UTF-8

}  // namespace meguri::sim
