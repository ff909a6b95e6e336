#include "web/link.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "web/ascii.h"

namespace meguri::web {
namespace {

constexpr auto kRels = std::to_array<std::pair<std::string_view, LinkRel>>({
    {"nofollow", kRelNofollow},
    {"ugc", kRelUgc},
    {"sponsored", kRelSponsored},
    {"alternate", kRelAlternate},
    {"canonical", kRelCanonical},
    {"next", kRelNext},
    {"prev", kRelPrev},
    {"previous", kRelPrev},
    {"stylesheet", kRelStylesheet},
    {"icon", kRelIcon},
    {"apple-touch-icon", kRelIcon},
    {"apple-touch-icon-precomposed", kRelIcon},
    {"apple-touch-startup-image", kRelIcon},
    {"mask-icon", kRelIcon},
    {"preload", kRelPreload},
    {"modulepreload", kRelPreload},
    {"prefetch", kRelPreload},
    {"prerender", kRelPreload},
    {"manifest", kRelManifest},
    {"dns-prefetch", kRelConnection},
    {"preconnect", kRelConnection},
    {"feed", kRelFeed},
});

}  // namespace

std::string_view name_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNavigation: return "navigation";
    case LinkKind::kEmbed: return "embed";
    case LinkKind::kHint: return "hint";
  }
  return "?";
}

std::string_view name_of(LinkSource source) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"a",          "area",   "form",       "meta-refresh", "frame",   "iframe",
       "image",      "srcset", "script",     "stylesheet",   "link",    "media",
       "plugin",     "input",  "background", "svg",          "css",     "manifest",
       "open-graph", "cite",   "lazy",       "header",       "sitemap", "feed"});
  const auto index = static_cast<std::size_t>(source);
  return index < kNames.size() ? kNames[index] : "?";
}

std::uint16_t parse_rel(std::string_view rel) {
  unsigned bits = 0;
  while (!rel.empty()) {
    std::size_t size = 0;
    while (size < rel.size() && !is_space(rel[size])) ++size;
    const std::string_view word = rel.substr(0, size);
    for (const auto& [name, bit] : kRels) {
      if (equals_ignoring_case(word, name)) bits |= bit;
    }
    rel.remove_prefix(size == rel.size() ? size : size + 1);
  }
  return static_cast<std::uint16_t>(bits);
}

bool is_feed_type(std::string_view type) {
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"application/rss+xml", "application/atom+xml", "application/rdf+xml"});
  type = trim(type.substr(0, type.find(';')));
  return std::ranges::any_of(
      kTypes, [type](std::string_view feed) { return equals_ignoring_case(type, feed); });
}

}  // namespace meguri::web
