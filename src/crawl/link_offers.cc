#include "crawl/link_offers.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/hash.h"
#include "crawl/index_table.h"
#include "crawl/slab.h"
#include "web/canonical.h"
#include "web/robots.h"

namespace meguri::crawl {
namespace {

// How far ahead of us the clock of a site may be. It names the day alone, or forgets its zone.
constexpr base::Duration kAhead = base::Duration::days(1);
// Nothing on the web is older.
constexpr base::Instant kOldest = base::Instant::from_ms(631'152'000'000);  // 1990
// How long a list may take to be made for a request.
constexpr base::Duration kMaking = base::Duration::minutes(1);

// Nullopt: none that can be right, or that was not told before.
std::optional<base::Instant> modified_of(const web::PageLink& link, const OfferRules& rules) {
  if (!link.date || *link.date < kOldest || *link.date > rules.fetched + kAhead) {
    return std::nullopt;
  }
  const base::Instant modified = std::min(*link.date, rules.fetched);
  return modified < news_since(rules.fetched, rules.fetched_before) ? std::nullopt
                                                                    : std::optional(modified);
}

// Nullopt: not for a crawler.
std::optional<Offer> offer_of(const web::PageLink& link, bool is_nofollow, bool is_index,
                              bool follows_feeds) {
  if (!follows_feeds && (link.rel_bits & web::kRelFeed) != 0) return std::nullopt;
  if (!link.url.is_http() || (link.rel_bits & web::kRelConnection) != 0) return std::nullopt;
  if (link.kind == web::LinkKind::kEmbed) return Offer::kEmbed;
  if (is_nofollow || link.source == web::LinkSource::kForm) return std::nullopt;
  if (is_index && link.source == web::LinkSource::kSitemap) return Offer::kSitemap;
  const bool is_listed =
      link.source == web::LinkSource::kSitemap || link.source == web::LinkSource::kFeed;
  return link.kind == web::LinkKind::kHint || is_listed ? Offer::kHint : Offer::kLink;
}

int strength_of(Offer offer) {
  switch (offer) {
    case Offer::kEmbed: return 2;
    case Offer::kLink:
    case Offer::kSitemap: return 1;
    default: return 0;
  }
}

bool is_sitemap(const Candidate& page) {
  return page.offer == Offer::kSitemap ||
         (page.offer == Offer::kRedirect && page.chain == Offer::kSitemap);
}

std::uint32_t depth_below(std::uint32_t depth) {
  return depth == std::numeric_limits<std::uint32_t>::max() ? depth : depth + 1;
}

// What else than its URL decides whether an offer is taken. An embed may be so because of the page
// that has it: scopes look at that page's host, or at its URL up to the last slash of the path.
std::uint64_t circumstances_of(const Candidate& offer, std::uint64_t folder) {
  const auto modified = offer.modified ? static_cast<std::uint64_t>(offer.modified->ms()) : 0;
  const std::uint64_t kind = static_cast<std::uint64_t>(offer.offer) + (offer.is_last ? 16 : 0);
  return kind + (offer.offer == Offer::kEmbed ? folder : 0) + base::mix64(modified);
}

bool is_link(Offer offer) { return offer == Offer::kLink || offer == Offer::kHint; }

void set_aside(ForeignPage& foreign, std::vector<base::Id>& ids, std::vector<Candidate>& offers) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (is_link(offers[i].offer)) {
      ++foreign.count;
      if (foreign.links == ForeignLinks::kNone) continue;
      offers[i].is_last = true;
    }
    if (kept != i) offers[kept] = std::move(offers[i]);
    ids[kept++] = ids[i];
  }
  offers.resize(kept);
  ids.resize(kept);
}

void forget_repeated(const Candidate& from, OfferMemory& memory, base::Ticks now,
                     const std::vector<base::Id>& ids, std::vector<Candidate>& offers) {
  const std::string_view path = std::string_view(from.url).substr(0, from.url.find('?'));
  const std::uint64_t folder = base::hash64(path.substr(0, path.rfind('/') + 1));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    base::Id what = ids[i];
    what.high ^= base::mix64(circumstances_of(offers[i], folder));
    if (memory.was_offered(what, offers[i].depth, now)) continue;
    if (kept != i) offers[kept] = std::move(offers[i]);
    ++kept;
  }
  offers.resize(kept);
}

}  // namespace

base::Instant news_since(base::Instant fetched, std::optional<base::Instant> fetched_before) {
  if (!fetched_before || *fetched_before > fetched) return kOldest;
  return *fetched_before - (fetched - *fetched_before) - base::Duration::days(1);
}

bool is_list(const web::Page& page) {
  switch (page.format) {
    case web::PageFormat::kSitemap:
    case web::PageFormat::kSitemapIndex:
    case web::PageFormat::kTextSitemap:
    case web::PageFormat::kRss:
    case web::PageFormat::kAtom: return true;
    default: return false;
  }
}

// Of one word, so that any difference counts.
web::TextSketch list_sketch(const web::Page& page, base::Instant fetched) {
  web::TextSketch sketch;
  sketch.words = 1;
  for (const web::PageLink& link : page.links) {
    const bool is_of_now = link.date && *link.date > fetched - kMaking;
    const std::int64_t date = !link.date ? 0 : is_of_now ? 1 : link.date->ms();
    sketch.hash = base::mix64(sketch.hash ^ base::hash64(link.url.href()));
    sketch.hash = base::mix64(sketch.hash ^ static_cast<std::uint64_t>(date));
  }
  return sketch;
}

std::vector<Candidate> offers_of(web::Page&& page, const Candidate& from, const OfferRules& rules,
                                 OfferMemory* memory, base::Ticks now, ForeignPage* foreign) {
  const bool is_nofollow = rules.obeys_nofollow && page.directives.nofollow;
  const bool is_index = page.format == web::PageFormat::kSitemapIndex && is_sitemap(from);
  std::vector<Candidate> offers;
  offers.reserve(page.links.size());
  std::vector<base::Id> ids;  // of their URLs
  ids.reserve(page.links.size());
  IndexTable seen;
  for (web::PageLink& link : page.links) {
    const auto offer = offer_of(link, is_nofollow, is_index, rules.follows_feeds);
    if (!offer) continue;
    const auto modified = modified_of(link, rules);
    const web::Url url = web::canonical(std::move(link.url));
    if (url.href() == from.url) continue;
    const bool is_level = *offer == Offer::kEmbed || *offer == Offer::kSitemap;
    const auto depth = is_level ? from.depth : depth_below(from.depth);
    const base::Id id = page_id_of(url.href());
    const Index earlier = seen.find(id.low, [&ids](Index i) { return ids[i].low; });
    if (earlier != kNoIndex) {
      Candidate& known = offers[earlier];
      known.modified = std::max(known.modified, modified);
      if (strength_of(*offer) <= strength_of(known.offer)) continue;
      known.offer = *offer;
      known.depth = depth;
      continue;
    }
    seen.insert(id.low, static_cast<Index>(offers.size()));
    ids.push_back(id);
    offers.push_back({.url = url.href(),
                      .via = {},
                      .depth = depth,
                      .hops = 0,
                      .offer = *offer,
                      .modified = modified});
  }
  if (foreign != nullptr) set_aside(*foreign, ids, offers);
  if (memory != nullptr) forget_repeated(from, *memory, now, ids, offers);
  for (Candidate& offer : offers) offer.via = from.url;
  return offers;
}

std::optional<web::Url> redirect_of(const web::Url& page_url, std::string_view location) {
  const auto target = web::Url::parse(location, &page_url);
  if (!target || !target->is_http()) return std::nullopt;
  return web::canonical(*target);
}

std::optional<Candidate> redirect_offer(const web::Url& target, const Candidate& from) {
  if (target.href() == from.url) return std::nullopt;
  constexpr std::uint8_t kHopsMax = std::numeric_limits<std::uint8_t>::max();
  const auto hops = static_cast<std::uint8_t>(from.hops == kHopsMax ? kHopsMax : from.hops + 1);
  return Candidate{.url = target.href(),
                   .via = from.url,
                   .depth = from.depth,
                   .hops = hops,
                   .offer = Offer::kRedirect,
                   .chain = from.offer == Offer::kRedirect ? from.chain : from.offer};
}

std::vector<Candidate> sitemap_offers(std::string_view robots_text, const web::Url& robots_url,
                                      const Candidate& from, bool well_known) {
  std::vector<Candidate> offers;
  std::unordered_set<std::string> seen;
  // Sitemap lines belong to no group, so any agent's reading has them.
  const web::Robots robots = web::Robots::parse(robots_text, "*");
  std::vector<std::string> named = robots.sitemaps();
  if (named.empty() && well_known) named.emplace_back("/sitemap.xml");
  for (const std::string& line : named) {
    const auto url = web::Url::parse(line, &robots_url);
    if (!url || !url->is_http()) continue;
    std::string text = web::canonical(*url).href();
    if (!seen.insert(text).second) continue;
    offers.push_back({.url = std::move(text),
                      .via = robots_url.href(),
                      .depth = from.depth,
                      .hops = 0,
                      .offer = Offer::kSitemap});
  }
  return offers;
}

}  // namespace meguri::crawl
