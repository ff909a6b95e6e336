// PageFetch: one page of the real web for somebody who asks for it, fetched as a crawl fetches
// pages: robots.txt first, redirects hop by hop.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "crawl/options.h"
#include "env/clock.h"
#include "fetch/address_policy.h"
#include "fetch/dns.h"
#include "fetch/http_client.h"
#include "web/robots.h"
#include "web/url.h"

namespace meguri::app {

// One request of the chain, and what came of it.
struct FetchedHop {
  std::string url;
  std::string robots;  // what robots.txt says of it, in a few words
  fetch::Fetched answer;
};

// Between two requests to one host it waits a second, or as long as robots.txt asks for, up to
// half a minute. Waits for the network in its calls; Ctrl-C ends the program. Borrows its seams.
// Thread-compatible.
class PageFetch {
 public:
  struct Seams {
    const env::Clock& clock;
    fetch::HttpClient& http;
    fetch::Dns& names;
    fetch::AddressPolicy addresses;
  };

  // Of the options it takes what is sent and whether robots.txt is obeyed.
  PageFetch(const Seams& seams, const crawl::CrawlOptions& options)
      : seams_(seams), options_(options) {}

  // The hops in order; the last one is the page, unless the chain is longer than ten redirects.
  // An error is one sentence: kDenied where robots.txt forbids it.
  base::Result<std::vector<FetchedHop>> get(const web::Url& url);

 private:
  struct Site {
    web::Robots robots;
    std::string standing;  // of its robots.txt: "has none"
  };
  // Of one host.
  struct Access {
    base::Ticks ended;     // of the last one
    base::Duration delay;  // before the next one
  };

  base::Result<std::vector<fetch::IpAddress>> addresses_of(const std::string& host);
  base::Result<fetch::Fetched> fetch(const web::Url& url, bool is_robots);
  fetch::Fetched fetch_from(const fetch::FetchRequest& request);
  base::Result<const Site*> site_of(const web::Url& url);
  base::Result<std::string> verdict_of(const web::Url& url);  // an error: it is forbidden
  void wait_for(const std::string& host);

  const Seams seams_;
  const crawl::CrawlOptions options_;
  std::map<std::string, Site> sites_;       // by origin
  std::map<std::string, Access> accesses_;  // by host
};

}  // namespace meguri::app
