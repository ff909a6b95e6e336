// What a document is by its first bytes, whatever its headers say. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace meguri::web {

enum class DocumentKind : std::uint8_t {
  kSitemap,       // <urlset>
  kSitemapIndex,  // <sitemapindex>
  kTextSitemap,   // lines, the first of which is an http(s) URL
  kRss,           // RSS of any version, RDF included
  kAtom,
  kHtml,
  kOther,
};

std::string_view name_of(DocumentKind kind);

// How far the first tag or line is looked for.
inline constexpr std::size_t kDocumentKindBytesMax = 64U << 10U;

// For bytes in UTF-8, or in UTF-16 with a byte order mark.
DocumentKind document_kind(std::string_view bytes);

// The kind of an XML document by its first element: the name without prefix, in any case.
// `declarations` is the text of that tag, in which RDF must name RSS to be RSS.
DocumentKind kind_of_root(std::string_view local_name, std::string_view declarations);

// Whether `bytes` begin as gzip does; they must be decoded before anything here reads them.
bool is_gzip(std::string_view bytes);

}  // namespace meguri::web
