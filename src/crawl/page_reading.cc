#include "crawl/page_reading.h"

#include <utility>

#include "crawl/link_offers.h"
#include "crawl/plain_body.h"
#include "web/http_date.h"

namespace meguri::crawl {

base::Result<PageReading> read_page_of(const ReadAnswer& read, const web::Url& url,
                                       const CrawlOptions& options, bool wants_text) {
  ASSIGN_OR_RETURN(const PlainBody body,
                   PlainBody::read_document(read, options.fetch.html_bytes_max, options.decode));
  web::Page page =
      web::read_page(body.text(), {.url = &url,
                                   .fields = &read.head.fields,
                                   .agent = options.agent,
                                   .year_now = web::year_of(read.answer.fetched.times.started_utc),
                                   .links_max = options.links_max,
                                   .want_text = wants_text});
  return PageReading{std::move(page), body.fault()};
}

std::optional<web::TextSketch> sketch_of(const web::Page& page, base::Instant fetched) {
  if (is_list(page)) return list_sketch(page, fetched);
  return page.sketch.words > 0 ? std::optional(page.sketch) : std::nullopt;
}

}  // namespace meguri::crawl
