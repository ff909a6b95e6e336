#include "crawl/link_offers.h"

#include <cstdint>
#include <limits>
#include <string>

#include "base/hash.h"
#include "crawl/index_table.h"
#include "crawl/slab.h"
#include "web/canonical.h"

namespace meguri::crawl {
namespace {

// Nullopt: not for a crawler.
std::optional<Offer> offer_of(const web::PageLink& link, bool is_nofollow) {
  if (!link.url.is_http() || (link.rel_bits & web::kRelConnection) != 0) return std::nullopt;
  if (link.kind == web::LinkKind::kEmbed) return Offer::kEmbed;
  if (is_nofollow || link.source == web::LinkSource::kForm) return std::nullopt;
  const bool is_listed =
      link.source == web::LinkSource::kSitemap || link.source == web::LinkSource::kFeed;
  return link.kind == web::LinkKind::kHint || is_listed ? Offer::kHint : Offer::kLink;
}

int strength_of(Offer offer) {
  switch (offer) {
    case Offer::kEmbed: return 2;
    case Offer::kLink: return 1;
    default: return 0;
  }
}

std::uint32_t depth_below(std::uint32_t depth) {
  return depth == std::numeric_limits<std::uint32_t>::max() ? depth : depth + 1;
}

}  // namespace

std::vector<Candidate> offers_of(const web::Page& page, const Candidate& from) {
  std::vector<Candidate> offers;
  offers.reserve(page.links.size());
  std::vector<std::uint64_t> hashes;  // of their URLs
  hashes.reserve(page.links.size());
  IndexTable seen;
  for (const web::PageLink& link : page.links) {
    const auto offer = offer_of(link, page.directives.nofollow);
    if (!offer) continue;
    const web::Url url = web::canonical(link.url);
    if (url.href() == from.url) continue;
    const auto depth = *offer == Offer::kEmbed ? from.depth : depth_below(from.depth);
    const std::uint64_t hash = base::hash64(url.href());
    const Index earlier = seen.find(hash, [&hashes](Index i) { return hashes[i]; });
    if (earlier != kNoIndex) {
      Candidate& known = offers[earlier];
      if (strength_of(*offer) <= strength_of(known.offer)) continue;
      known.offer = *offer;
      known.depth = depth;
      continue;
    }
    seen.insert(hash, static_cast<Index>(offers.size()));
    hashes.push_back(hash);
    offers.push_back(
        {.url = url.href(), .via = from.url, .depth = depth, .hops = 0, .offer = *offer});
  }
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
                   .offer = Offer::kRedirect};
}

}  // namespace meguri::crawl
