// What is read of the body of an answer: the page in it, and what tells its versions apart.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "crawl/options.h"
#include "crawl/visit_records.h"
#include "web/page.h"
#include "web/similarity.h"
#include "web/url.h"

namespace meguri::crawl {

struct PageReading {
  web::Page page;
  std::string fault;  // what of the body could not be read; empty: nothing
};

// `wants_text`: with its main text. An error is our disk's.
base::Result<PageReading> read_page_of(const ReadAnswer& read, const web::Url& url,
                                       const CrawlOptions& options, bool wants_text);

// Of a page that was read with its text; of a sitemap or feed, of what it says. Nullopt: there is
// nothing to compare.
std::optional<web::TextSketch> sketch_of(const web::Page& page, base::Instant fetched);

}  // namespace meguri::crawl
