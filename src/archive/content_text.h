// The text of what a record holds, as `meguri inspect` shows it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "archive/warc_reader.h"
#include "base/result.h"

namespace meguri::archive {

inline constexpr std::size_t kContentTextBytesMax = 10'000'000;  // of a body, decoded

// The main text in UTF-8, of the record that the reader stands at, of which nothing was read yet.
// Of a body above kContentTextBytesMax, or whose coding is broken, what comes before. Nullopt: it
// is no text. kCorrupt: the record is damaged.
base::Result<std::optional<std::string>> read_content_text(WarcReader& reader);

}  // namespace meguri::archive
