// What a page offers to visit: its links as candidates.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "crawl/messages.h"
#include "crawl/offer_memory.h"
#include "web/page.h"
#include "web/url.h"

namespace meguri::crawl {

// The links of `page` that a crawler may follow: canonical, http or https, each once, the page
// itself not among them, in the order of the document. Links lead one deeper; what the page embeds
// is as deep as the page. A URL named in several ways is an embed before a link, and a link before
// a hint, since scopes ask less of embeds. Where the page says nofollow and that is obeyed, only
// embeds are offered. The targets of forms are not: they are asked for with values, if at all.
// What an index of sitemaps names are sitemaps, if the index was visited as one.
// Without those that `memory` says were offered just now; null: all.
std::vector<Candidate> offers_of(web::Page&& page, const Candidate& from,
                                 bool obeys_nofollow = true, OfferMemory* memory = nullptr,
                                 base::Ticks now = {});

// The sitemaps that a robots.txt names, canonical, each once. They are as deep as `from`, the visit
// to robots.txt, so that what they list is one below.
std::vector<Candidate> sitemap_offers(std::string_view robots_text, const web::Url& robots_url,
                                      const Candidate& from);

// Where `page_url` redirects to by `location`, absolute and canonical. Nullopt: to nothing that
// can be fetched.
std::optional<web::Url> redirect_of(const web::Url& page_url, std::string_view location);

// The candidate of a redirect. Nullopt: it leads to the page itself.
std::optional<Candidate> redirect_offer(const web::Url& target, const Candidate& from);

}  // namespace meguri::crawl
