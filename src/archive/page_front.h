// What a page begins with, for lists of pages: its title, and some of its source.
#pragma once

#include <cstddef>
#include <string>

#include "archive/index_entry.h"
#include "archive/warc_reader.h"
#include "base/result.h"

namespace meguri::archive {

inline constexpr std::size_t kPageFrontBytesMax = std::size_t{64} << 10U;  // decoded

// HTML that came with status 200.
bool is_page(const IndexEntry& entry);

struct PageFront {
  std::string title;  // may be empty; at most web::kTitleBytesMax
  std::string text;   // the first kPageFrontBytesMax of the body, as UTF-8
};

// Of the response that the reader stands at, of which nothing was read yet. What breaks within its
// coding is read up to there.
base::Result<PageFront> read_page_front(WarcReader& reader);

}  // namespace meguri::archive
