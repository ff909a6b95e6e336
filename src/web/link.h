// Links as a document gives them, before they are resolved.
#pragma once

#include <cstdint>
#include <string_view>

namespace meguri::web {

// What a link is for.
enum class LinkKind : std::uint8_t {
  kNavigation,  // a reader goes there
  kEmbed,       // the page needs it to be shown
  kHint,        // it names a page or a file that nobody clicks on
};

// Where it stood.
enum class LinkSource : std::uint8_t {
  kA,
  kArea,
  kForm,
  kMetaRefresh,
  kFrame,
  kIframe,
  kImage,
  kSrcset,
  kScript,
  kStylesheet,
  kLink,    // other rels
  kMedia,   // video, audio, source, track
  kPlugin,  // object, embed, applet
  kInput,
  kBackground,
  kSvg,
  kCss,
  kManifest,
  kOpenGraph,
  kCite,
  kLazy,    // data-src and its like, which scripts read
  kHeader,  // the Link field of the response
  kSitemap,
  kFeed,
};

// The words of rel that decide something, as bits.
enum LinkRel : std::uint16_t {
  kRelNofollow = 1U << 0U,
  kRelUgc = 1U << 1U,
  kRelSponsored = 1U << 2U,
  kRelAlternate = 1U << 3U,
  kRelCanonical = 1U << 4U,
  kRelNext = 1U << 5U,
  kRelPrev = 1U << 6U,
  kRelStylesheet = 1U << 7U,
  kRelIcon = 1U << 8U,
  kRelPreload = 1U << 9U,  // preload, modulepreload, prefetch, prerender
  kRelManifest = 1U << 10U,
  kRelConnection = 1U << 11U,  // dns-prefetch, preconnect: names no document
  kRelFeed = 1U << 12U,        // feed, or alternate with a feed's type: see is_feed_type()
};

std::string_view name_of(LinkKind kind);
std::string_view name_of(LinkSource source);

// The bits of a rel attribute's words, in any case.
std::uint16_t parse_rel(std::string_view rel);

// Whether the media type of a link says that a feed is there: RSS, Atom or RDF, in any case, with
// or without parameters.
bool is_feed_type(std::string_view type);

}  // namespace meguri::web
