// What `bench crawl` is measured against: other crawlers on the same pages, and what no crawler can
// do without.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/crawl_work.h"

namespace meguri::bench {

struct PeerCost {
  double pages = 0;
  double cpu_seconds = 0;  // without those of a start that fetches nothing

  double ms_per_page() const { return pages == 0 ? 0 : cpu_seconds * 1000 / pages; }
};

// Fetches the pages by a list, with the virtual web as its proxy, and writes a WARC file with
// digests. It reads no links.
base::Result<PeerCost> measure_wget(const WebProcess& web, const std::vector<SamplePage>& pages,
                                    const std::string& dir);

// Fetches the same list, 64 at a time, takes the links out of each page and appends bodies to one
// file. It compresses and digests nothing, keeps no state and asks for no robots.txt. Nullopt: it
// is not there and cannot be installed.
base::Result<std::optional<PeerCost>> measure_scrapy(const WebProcess& web,
                                                     const std::vector<SamplePage>& pages,
                                                     const std::string& dir);

// Floors, in seconds of CPU for each page of the sample.
struct Floors {
  double handshake = 0;   // of TLS, the client's side, nothing kept between two
  double curl_http = 0;   // a bare libcurl, one page after another, a connection each
  double curl_https = 0;  // the same with TLS
  double gzip = 0;        // of the bodies, as the WARC files have it
  double sha1 = 0;        // of the bodies, once
  double tokens = 0;      // reading links
  double kilobytes = 0;   // of a body
};
base::Result<Floors> measure_floors(const CrawlLoad& load, const WebProcess& web,
                                    const std::vector<SamplePage>& pages,
                                    const std::string& ca_file);

}  // namespace meguri::bench
