// The lines of the crawl log: one JSON object for each visit, and for each page that is refused for
// good. docs/formats/crawl-log.md describes them.
#pragma once

#include <string>

#include "crawl/messages.h"

namespace meguri::crawl {

// Append the line with its end. Whatever the web put into a URL or a type, it stays one line.
void append_line(const VisitNote& note, std::string* out);
void append_line(const RefusalNote& note, std::string* out);

}  // namespace meguri::crawl
