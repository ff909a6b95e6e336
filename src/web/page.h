// Page: all that a crawler learns from one document, whatever its format: charset, links made
// absolute, title, text, and what it says to robots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "web/charset_detect.h"
#include "web/field_list.h"
#include "web/link.h"
#include "web/robots_directives.h"
#include "web/similarity.h"
#include "web/url.h"

namespace meguri::web {

enum class PageFormat : std::uint8_t {
  kHtml,
  kCss,
  kSitemap,
  kSitemapIndex,
  kTextSitemap,
  kRss,
  kAtom,
  kText,    // anything else that is text
  kBinary,  // not text
};

std::string_view name_of(PageFormat format);

struct PageLink {
  Url url;
  LinkKind kind = LinkKind::kNavigation;
  LinkSource source = LinkSource::kA;
  std::uint16_t rel_bits = 0;  // LinkRel
  std::string rel = {};
  std::string hreflang = {};
  std::string text = {};                             // of an anchor, when asked for; a feed's title
  std::optional<base::Instant> date = std::nullopt;  // of a sitemap's or feed's entry
};

// What came with the document.
struct PageContext {
  const Url* url = nullptr;           // null: nothing relative can be resolved
  const FieldList* fields = nullptr;  // of the response
  std::string_view agent = "meguri";  // whom directives may name
  int year_now = 2000;                // for dates with two digits of the year
  bool anchor_text = false;
  std::size_t links_max = 10'000;  // of HTML; sitemaps and feeds have limits of their own
  bool want_text = false;          // main_text, sketch and languages
};

struct Page {
  PageFormat format = PageFormat::kBinary;
  CharsetFinding charset;
  std::optional<Url> base;            // what links are relative to
  std::optional<Url> canonical_link;  // what the page says it is called
  std::string title;
  std::string declared_language;     // lang of html, else Content-Language
  RobotsDirectives directives;       // of meta elements and X-Robots-Tag together
  std::vector<PageLink> links;       // in the order of the document
  std::size_t links_unresolved = 0;  // relative without base, or no URL at all
  bool cut = false;                  // a limit left some of the document out
  bool unpacked = false;             // it was in a gzip file

  std::string main_text;  // when asked for
  TextSketch sketch;
};

// The format of a document by its first kDocumentKindBytesMax bytes (web/document_kind.h), or fewer
// where it has no more, and by the fields that came with it.
PageFormat format_of_front(std::string_view front, const FieldList& fields);

// Whether a file of gzip that begins so holds a document of a format that read_page() unpacks.
bool is_packed_document(std::string_view front);

// `body` is without transfer and content coding. What is gzip still is a file that was sent as it
// lies on the disk, as sitemaps are (".xml.gz"): it is unpacked, up to kXmlBytesMax, if its front
// is a document of a format above. Linear.
Page read_page(std::string_view body, const PageContext& context);

}  // namespace meguri::web
