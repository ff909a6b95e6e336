// A CrawlReport as a page for people.
#pragma once

#include <string>

#include "app/crawl_report.h"

namespace meguri::app {

// One HTML document that needs nothing else: no script, no font, no image from elsewhere. Whatever
// strangers called their hosts stays text.
std::string report_page(const CrawlReport& report);

}  // namespace meguri::app
