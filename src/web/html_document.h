// What a crawler wants to know of an HTML page: its links, its title, and what it says to robots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "web/link.h"

namespace meguri::web {

// A piece of HtmlDocument::arena.
struct Slice {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;

  bool empty() const { return size == 0; }
};

struct HtmlLink {
  Slice url;  // decoded and trimmed, not resolved
  Slice rel;  // as written
  Slice hreflang;
  Slice text;                  // of an anchor, when asked for: white space joined
  std::uint16_t rel_bits = 0;  // LinkRel
  LinkKind kind = LinkKind::kNavigation;
  LinkSource source = LinkSource::kA;
};

struct HtmlMeta {
  Slice name;
  Slice content;
};

// Movable; slices stay right wherever it moves.
struct HtmlDocument {
  std::string arena;  // all text of the slices
  std::vector<HtmlLink> links;
  std::vector<HtmlMeta> metas;  // name (or property) and content, the first kMetasMax
  Slice base;                   // href of the first base that has one
  Slice title;                  // white space joined
  Slice language;               // lang of html
  Slice canonical;              // href of the first link rel=canonical
  bool links_cut = false;       // there were more than asked for

  std::string_view view(Slice slice) const {
    return std::string_view(arena).substr(slice.offset, slice.size);
  }
};

struct HtmlOptions {
  bool anchor_text = false;
  std::size_t links_max = 10'000;
};

inline constexpr std::size_t kMetasMax = 64;
inline constexpr std::size_t kMetaNameBytesMax = 128;  // longer ones are left out
inline constexpr std::size_t kMetaContentBytesMax = 4096;
inline constexpr std::size_t kTitleBytesMax = 1024;
inline constexpr std::size_t kAnchorTextBytesMax = 256;
inline constexpr std::size_t kLinkBytesMax = 64U << 10U;  // longer ones are left out

// Reads a document that is UTF-8 already (see web/charset.h). Linear; the result is smaller than
// about three times the input.
HtmlDocument read_html(std::string_view utf8, const HtmlOptions& options = {});

}  // namespace meguri::web
