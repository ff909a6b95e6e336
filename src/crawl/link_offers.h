// What a page offers to visit: its links as candidates.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "crawl/messages.h"
#include "crawl/offer_memory.h"
#include "crawl/options.h"
#include "web/page.h"
#include "web/similarity.h"
#include "web/url.h"

namespace meguri::crawl {

// What becomes of the links of a page in a foreign language, and how many that were.
struct ForeignPage {
  ForeignLinks links = ForeignLinks::kNone;
  std::uint32_t count = 0;
};

// The links of `page` that a crawler may follow: canonical, http or https, each once, the page
// itself not among them, in the order of the document. Links lead one deeper; what the page embeds
// is as deep as the page. A URL named in several ways is an embed before a link, and a link before
// a hint, since scopes ask less of embeds. Where the page says nofollow and that is obeyed, only
// embeds are offered. The targets of forms are not: they are asked for with values, if at all.
// What an index of sitemaps names are sitemaps, if the index was visited as one.
// Entries of sitemaps and feeds have the date that these tell, if it can be one and may be news.
// Without those that `memory` says were offered just now, where another date is another offer;
// null: all. `foreign` is null for a page whose language is no reason against it; embeds are
// offered in any case.
struct OfferRules {
  bool obeys_nofollow = true;
  bool follows_feeds = true;  // that are named as such
  // When the page was fetched, and when its last version was, if there is one; see news_since().
  base::Instant fetched = {};
  std::optional<base::Instant> fetched_before = {};
};
std::vector<Candidate> offers_of(web::Page&& page, const Candidate& from,
                                 const OfferRules& rules = {}, OfferMemory* memory = nullptr,
                                 base::Ticks now = {}, ForeignPage* foreign = nullptr);

// Earlier dates of a sitemap or feed were told by its last version. That is not sure, since it may
// be made long after what it tells of; but hardly later than it was from one version to the next.
base::Instant news_since(base::Instant fetched, std::optional<base::Instant> fetched_before);

// The sitemaps that a robots.txt names, canonical, each once; where it names none and that is
// asked for, /sitemap.xml. They are as deep as `from`, the visit to robots.txt, so that what they
// list is one below.
std::vector<Candidate> sitemap_offers(std::string_view robots_text, const web::Url& robots_url,
                                      const Candidate& from, bool well_known = false);

// Whether it is there to name other pages: a sitemap or a feed.
bool is_list(const web::Page& page);
// What tells two versions of such a list apart that say the same of the same pages. Dates of about
// the time of fetching are taken for no more than that: many lists are made anew for each request.
web::TextSketch list_sketch(const web::Page& page, base::Instant fetched);

// Where `page_url` redirects to by `location`, absolute and canonical. Nullopt: to nothing that
// can be fetched.
std::optional<web::Url> redirect_of(const web::Url& page_url, std::string_view location);

// The candidate of a redirect. Nullopt: it leads to the page itself.
std::optional<Candidate> redirect_offer(const web::Url& target, const Candidate& from);

}  // namespace meguri::crawl
