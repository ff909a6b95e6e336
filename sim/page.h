// A page of the virtual web at a moment: where it links to, and its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/graph.h"
#include "sim/history.h"
#include "sim/site.h"
#include "sim/trace.h"

namespace meguri::sim {

// How a link to a page is written.
enum class LinkForm : std::uint8_t { kAnchor, kArea, kFrame, kIframe, kNext, kRefresh };

struct OutLink {
  HostNumber host = 0;
  PageNumber page = 0;
  LinkForm form = LinkForm::kAnchor;
  bool is_absolute = false;  // written with scheme and host though it need not be
  bool redirects = false;    // by way of an address that redirects to the page

  // Path and query of where it points on `there`, the site of its host.
  std::string target_on(const Site& there) const;

  friend bool operator==(const OutLink&, const OutLink&) = default;
};

// How a client addresses a host; links are written in the same way.
struct Origin {
  std::string_view scheme = "http";  // or "https"
  std::string_view host = {};
  std::string_view port = {};  // with its colon, as ":8080"; empty: the scheme's own

  std::string text() const;  // "http://www.kotamira.test:8080"
};

// What a page says to robots, by its number.
struct PageRobots {
  bool noindex = false;
  bool nofollow = false;
  bool in_header = false;  // by X-Robots-Tag, not by meta

  bool says_anything() const { return noindex || nofollow; }
};

// What a world has from files instead of inventing it; null: nothing. Borrowed. And the moment at
// which its pages stand still, if they do; `is_sound`: as WorldOptions has it.
struct PageSources {
  const Trace* trace = nullptr;
  const Graph* graph = nullptr;
  const NodeMap* nodes = nullptr;  // of the graph
  std::optional<base::Instant> still_at = std::nullopt;
  bool is_sound = false;
};

// A view of one page of one site; cheap to make. Borrows its census, its site and the sources.
class Page {
 public:
  Page(const Census& census, const Site& site, PageNumber number, base::Instant world_start,
       const PageSources& sources = {});

  PageNumber number() const { return number_; }
  const History& history() const { return history_; }
  PageRobots robots() const;
  bool is_frameset() const;  // its links are frames
  bool is_volatile() const;  // it has a counter and adverts that change at every access
  // Which image the advert shows to an access at `now`. Requires is_volatile() and no frames.
  std::uint64_t advert_image(base::Instant now) const;

  // Those of its structure, which reach every page of the site from the home page, every host from
  // the largest one, and popular pages more often; and one that changes with the version. If there
  // is a graph, its own and no others, in its order, but for a page's links to itself.
  std::vector<OutLink> links(const Version& version) const;

  // Versions that a document depends on: what they wrote may still stand.
  static constexpr std::size_t kVersionsSeen = 24;

  // The document in the charset of its site. `recent` is history().recent(now, kVersionsSeen),
  // `origin` that of the request.
  std::string html(std::span<const Version> recent, base::Instant now, const Origin& origin) const;

 private:
  std::vector<OutLink> graph_links() const;
  std::size_t text_bytes() const;
  std::vector<std::uint64_t> paragraph_keys(std::span<const Version> recent) const;
  void append_head(const Version& version, const std::vector<OutLink>& links, const Origin& origin,
                   std::string* out) const;
  void append_frames(std::span<const std::uint64_t> paragraphs, const std::vector<OutLink>& links,
                     const Origin& origin, std::string* out) const;
  void append_paragraphs(std::span<const std::uint64_t> keys, const std::vector<OutLink>& links,
                         const Origin& origin, std::string* out) const;
  void append_footer(base::Instant now, std::string* out) const;
  std::string href_of(const OutLink& link, const Origin& origin) const;

  const Census& census_;
  const Site& site_;
  PageNumber number_;
  PageSources sources_;
  std::uint64_t key_;
  History history_;
};

}  // namespace meguri::sim
