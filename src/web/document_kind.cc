#include "web/document_kind.h"

#include <algorithm>
#include <array>
#include <string>

#include "web/ascii.h"
#include "web/charset_detect.h"
#include "web/xml_repair.h"

namespace meguri::web {
namespace {

struct RootName {
  std::string_view name;
  DocumentKind kind;
};

constexpr auto kRootNames = std::to_array<RootName>({
    {"urlset", DocumentKind::kSitemap}, {"sitemapindex", DocumentKind::kSitemapIndex},
    {"rss", DocumentKind::kRss},        {"feed", DocumentKind::kAtom},
    {"html", DocumentKind::kHtml},      {"head", DocumentKind::kHtml},
    {"body", DocumentKind::kHtml},      {"title", DocumentKind::kHtml},
    {"meta", DocumentKind::kHtml},      {"script", DocumentKind::kHtml},
    {"style", DocumentKind::kHtml},     {"link", DocumentKind::kHtml},
    {"div", DocumentKind::kHtml},       {"table", DocumentKind::kHtml},
    {"a", DocumentKind::kHtml},         {"p", DocumentKind::kHtml},
    {"br", DocumentKind::kHtml},        {"b", DocumentKind::kHtml},
    {"h1", DocumentKind::kHtml},        {"iframe", DocumentKind::kHtml},
    {"font", DocumentKind::kHtml},      {"center", DocumentKind::kHtml},
});

bool is_web_url(std::string_view line) {
  return starts_with_ignoring_case(line, "http://") || starts_with_ignoring_case(line, "https://");
}

// The kind of what begins with the tag at the front of `text`.
DocumentKind kind_of_tag(std::string_view text) {
  std::string_view tag = text.substr(1, text.find('>') - 1);
  const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n\f/"));
  const std::size_t colon = name.rfind(':');
  return kind_of_root(colon == std::string_view::npos ? name : name.substr(colon + 1), tag);
}

}  // namespace

std::string_view name_of(DocumentKind kind) {
  switch (kind) {
    case DocumentKind::kSitemap: return "sitemap";
    case DocumentKind::kSitemapIndex: return "sitemap index";
    case DocumentKind::kTextSitemap: return "text sitemap";
    case DocumentKind::kRss: return "rss";
    case DocumentKind::kAtom: return "atom";
    case DocumentKind::kHtml: return "html";
    case DocumentKind::kOther: return "other";
  }
  return "other";
}

DocumentKind kind_of_root(std::string_view local_name, std::string_view declarations) {
  if (equals_ignoring_case(local_name, "rdf")) {
    const bool rss =
        declarations.contains("purl.org/rss/") || declarations.contains("netscape.com/rdf/simple");
    return rss ? DocumentKind::kRss : DocumentKind::kOther;
  }
  const auto* found = std::ranges::find_if(kRootNames, [local_name](const RootName& root) {
    return equals_ignoring_case(root.name, local_name);
  });
  return found == kRootNames.end() ? DocumentKind::kOther : found->kind;
}

DocumentKind document_kind(std::string_view bytes) {
  std::string storage;
  const std::string_view text =
      without_byte_order_mark(bytes.substr(0, kDocumentKindBytesMax), &storage);
  std::size_t at = 0;
  while (true) {
    at = std::min(text.find_first_not_of(" \t\r\n\f", at), text.size());
    const std::string_view rest = text.substr(at);
    if (starts_with_ignoring_case(rest, "<!doctype")) {
      const std::string_view name = trim(rest.substr(9, rest.find_first_of(">[") - 9));
      if (starts_with_ignoring_case(name, "html")) return DocumentKind::kHtml;
    }
    if (rest.starts_with("<!") || rest.starts_with("<?")) {
      at = end_of_xml_declaration(text, at);
      continue;
    }
    if (rest.starts_with('<')) return kind_of_tag(rest);
    const std::string_view line = trim(rest.substr(0, rest.find_first_of("\r\n")));
    const bool url = is_web_url(line) && line.find_first_of(" \t<") == std::string_view::npos;
    return url ? DocumentKind::kTextSitemap : DocumentKind::kOther;
  }
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1F\x8B\x08"); }

}  // namespace meguri::web
