// Prose: sentences in six languages, made of common words, so that they compress, and look to a
// detector of languages, like text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/site.h"

namespace meguri::sim {

// Appends sentences of at least `bytes_min` bytes of UTF-8 in all; a function of `key`.
void append_prose(Language language, std::uint64_t key, std::size_t bytes_min, std::string* out);

// A title of a few words.
std::string title_of(Language language, std::uint64_t key);

}  // namespace meguri::sim
