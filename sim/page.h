// A page of the virtual web at a moment: where it links to, and its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/graph.h"
#include "sim/history.h"
#include "sim/site.h"
#include "sim/trace.h"

namespace meguri::sim {

// How a link to a page is written.
enum class LinkForm : std::uint8_t { kAnchor, kArea, kIframe, kNext, kRefresh };

struct OutLink {
  HostNumber host = 0;
  PageNumber page = 0;
  LinkForm form = LinkForm::kAnchor;
  bool is_absolute = false;  // written with scheme and host though it need not be

  friend bool operator==(const OutLink&, const OutLink&) = default;
};

// What a page says to robots, by its number.
struct PageRobots {
  bool noindex = false;
  bool nofollow = false;
  bool in_header = false;  // by X-Robots-Tag, not by meta

  bool says_anything() const { return noindex || nofollow; }
};

// What a world has from files instead of inventing it; null: nothing. Borrowed.
struct PageSources {
  const Trace* trace = nullptr;
  const Graph* graph = nullptr;
  const NodeMap* nodes = nullptr;  // of the graph
};

// A view of one page of one site; cheap to make. Borrows its census, its site and the sources.
class Page {
 public:
  Page(const Census& census, const Site& site, PageNumber number, base::Instant world_start,
       const PageSources& sources = {});

  PageNumber number() const { return number_; }
  const History& history() const { return history_; }
  PageRobots robots() const;
  bool is_volatile() const;  // it has a counter and adverts that change at every access

  // Those of its structure, which reach every page of the site from the home page, every host from
  // the largest one, and popular pages more often; and one that changes with the version. If there
  // is a graph, its own and no others, in its order, but for a page's links to itself.
  std::vector<OutLink> links(const Version& version) const;

  // The document in UTF-8. Requires history().exists(now). `name` is the host's in the request,
  // `scheme` "http" or "https".
  std::string html(base::Instant now, std::string_view scheme, std::string_view name) const;

 private:
  std::vector<OutLink> graph_links() const;
  std::vector<std::uint64_t> paragraph_keys(base::Instant now) const;
  void append_head(const Version& version, const std::vector<OutLink>& links,
                   std::string_view origin, std::string* out) const;
  void append_paragraphs(base::Instant now, const std::vector<OutLink>& links,
                         std::string_view origin, std::string* out) const;
  void append_footer(base::Instant now, std::string* out) const;
  std::string href_of(const OutLink& link, std::string_view origin) const;

  const Census& census_;
  const Site& site_;
  PageNumber number_;
  PageSources sources_;
  std::uint64_t key_;
  History history_;
};

}  // namespace meguri::sim
