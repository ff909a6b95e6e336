// links: the edges of the web's graph that a document makes.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "scan/builtin_functions.h"
#include "scan/document_page.h"
#include "web/link.h"
#include "web/page.h"
#include "web/url.h"

namespace meguri::scan {

namespace {

// FROM, TO and KIND, each once. Only what is on the web has an edge; where in a page a link goes
// makes no difference, so that one to another place of the same page has none.
std::string edges_of(const Document& document) {
  DocumentPage document_page(document, DocumentPage::Want::kLinks);
  const web::Page& page = document_page.page();
  std::string from;
  append_plain(document.facts.url, from);
  std::array<std::unordered_set<std::string_view>, 3> seen;  // by kind
  std::string lines;
  for (const web::PageLink& link : page.links) {
    if (!link.url.is_http()) continue;
    const std::string_view to = link.url.without_fragment();
    if (link.url.has_fragment() && to == document.facts.url) continue;
    if (!seen.at(static_cast<std::size_t>(link.kind)).insert(to).second) continue;
    lines.append(from).append("\t").append(to).append("\t").append(name_of(link.kind)).append("\n");
  }
  return lines;
}

}  // namespace

base::Result<Analyse> make_links(Arguments arguments) {
  RETURN_IF_ERROR(expect_no_arguments("links", arguments));
  return [](const Document& document) -> base::Result<env::SpooledBytes> {
    return env::SpooledBytes(edges_of(document));
  };
}

}  // namespace meguri::scan
