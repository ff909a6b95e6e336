#include "crawl/link_offers.h"

#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

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
  offers.reserve(page.links.size());  // the views below stay where they are
  std::unordered_map<std::string_view, Candidate*> seen;
  seen.reserve(page.links.size());
  for (const web::PageLink& link : page.links) {
    const auto offer = offer_of(link, page.directives.nofollow);
    if (!offer) continue;
    std::string url = web::canonical(link.url).href();
    if (url == from.url) continue;
    const auto depth = *offer == Offer::kEmbed ? from.depth : depth_below(from.depth);
    if (const auto found = seen.find(url); found != seen.end()) {
      Candidate& earlier = *found->second;
      if (strength_of(*offer) <= strength_of(earlier.offer)) continue;
      earlier.offer = *offer;
      earlier.depth = depth;
      continue;
    }
    offers.push_back(
        {.url = std::move(url), .via = from.url, .depth = depth, .hops = 0, .offer = *offer});
    seen.emplace(offers.back().url, &offers.back());
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
