// World: the virtual web as one pure function from a request and a time to an answer. Sockets and
// the simulated client both ask it, so what they see is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sim/census.h"
#include "sim/graph.h"
#include "sim/hostile.h"
#include "sim/page.h"
#include "sim/site.h"
#include "sim/trace.h"
#include "sim/wire_script.h"

namespace meguri::sim {

struct WorldOptions {
  CensusOptions census;
  base::Instant start;  // when the world begins; pages that are invented have a past before it
  base::Duration delay_mean = base::Duration::from_ms(850);  // of answers; 0: none wait
  bool crawl_delays = true;  // robots.txt of some hosts asks for one

  // Pages change as those of the trace did, each as one of them that is chosen by chance, instead
  // of by a process. The trace's first second is the world's start, so that a crawl sees all of its
  // changes; nothing is there before it, and after its end nothing changes any more. Shared,
  // because worlds are copied and a trace is large.
  std::shared_ptr<const Trace> trace = nullptr;

  // Pages link to each other as the nodes of the graph do, instead of as invented: there is a page
  // for each node, and NodeMap says which. Every page must then be on one host alone, so there are
  // no aliases and mirrors. Set by use_graph(), which sets what the census needs for it.
  std::shared_ptr<const Graph> graph = nullptr;
  void use_graph(std::shared_ptr<const Graph> new_graph);

  // From then on hosts that are aliases and mirrors of others have pages of their own; nullopt:
  // never. What is said of the web as a whole (leads.h, checker.h) knows nothing of it.
  std::optional<base::Instant> copies_until = std::nullopt;

  // Every page stands as it was at the start: whatever the time, an answer says what it would have
  // said then. Delays and the Date field go on with the time. So a crawl that takes a while can be
  // compared with one truth, and its pauses be judged all the same.
  bool is_still = false;

  // Every page is there for ever, every link leads straight to one, and nothing fails: what is
  // fetched is content alone, as a benchmark of the crawler wants it. Set by make_sound(), which
  // leaves out copies too.
  bool is_sound = false;
  void make_sound();

  // The habits of its hostile hosts, or "all" (hostile.h). They are no part of the census, and
  // nothing that the other hosts say or do depends on them.
  std::vector<std::string> hostile = {};

  base::Status check() const;
};

struct Request {
  std::string_view method = "GET";
  Origin origin = {};            // as in the request's Host field
  std::string_view target = {};  // path and query, as sent
  std::optional<std::string_view> if_none_match = std::nullopt;
  std::optional<std::string_view> if_modified_since = std::nullopt;
  bool accepts_gzip = false;
  bool accepts_brotli = false;
};

struct Field {
  std::string name;
  std::string value;

  friend bool operator==(const Field&, const Field&) = default;
};

struct Answer {
  int status = 200;
  std::vector<Field> fields;  // without those of framing: the server adds Content-Length or chunks
  std::string body;
  base::Duration delay;    // to wait before the first byte
  bool is_http10 = false;  // how to speak
  bool is_chunked = false;
  bool closes = false;
  // Sent instead of all this but the delay; `status` is then for the log alone. Shared, because
  // answers are copied. Null: none.
  std::shared_ptr<const WireScript> script = nullptr;

  friend bool operator==(const Answer&, const Answer&) = default;
  std::optional<std::string_view> field(std::string_view name) const;  // any case
};

// What a target means on a host.
struct Place {
  enum class Kind : std::uint8_t {
    kPage,
    kRedirect,  // to `page`
    kRobots,
    kSitemap,  // part `page`; 0 is the file itself
    kFeed,
    kStyle,
    kScript,
    kImage,
    kNothing,
  };
  Kind kind = Kind::kNothing;
  PageNumber page = 0;
};

// Const calls from any thread.
class World {
 public:
  static constexpr std::uint64_t kSitemapEntries = 5'000;  // of one file
  static constexpr std::uint64_t kImages = 16;             // of each site

  explicit World(const WorldOptions& options);  // requires options.check()

  const Census& census() const { return census_; }
  const HostileWeb& hostile() const { return hostile_; }
  const WorldOptions& options() const { return options_; }
  base::Instant start() const { return options_.start; }
  // The moment whose pages are shown at `now`.
  base::Instant moment_of(base::Instant now) const { return options_.is_still ? start() : now; }

  Answer answer(const Request& request, base::Instant now) const;

  Place place_of(const Site& site, std::string_view target) const;
  // What a visitor without validators is told: 200, 404, 410, or 500 and 503 for the hour.
  int status_of(const Site& site, PageNumber number, base::Instant now) const;
  static int status_of_redirect(PageNumber page) { return page % 2 == 0 ? 301 : 302; }
  // Those that the feed of a site shows, the last changed first.
  std::vector<PageNumber> feed_pages(const Site& site, base::Instant now) const;
  Page page(const Site& site, PageNumber number) const {
    return {census_, site, number, options_.start, sources()};
  }
  // The text of a site's robots.txt; empty: it has none.
  std::string robots_of(const Site& site, const Origin& origin) const;

 private:
  PageSources sources() const {
    PageSources sources{options_.trace.get(), options_.graph.get(), &nodes_};
    if (options_.is_still) sources.still_at = start();
    sources.is_sound = options_.is_sound;
    return sources;
  }
  const Census& census_at(base::Instant now) const {
    return apart_ && now >= *options_.copies_until ? *apart_ : census_;
  }
  void answer_page(const Request& request, const Site& site, PageNumber number, base::Instant now,
                   Answer* answer) const;
  bool is_unchanged(const Request& request, const Site& site, const Version& version,
                    const std::string& etag) const;
  void answer_sitemap(const Request& request, const Site& site, std::uint64_t part,
                      base::Instant now, Answer* answer) const;
  void answer_feed(const Request& request, const Site& site, base::Instant now,
                   Answer* answer) const;
  void validate_list(const Request& request, const Site& site, Answer* answer) const;
  void answer_file(Place place, Answer* answer) const;

  WorldOptions options_;
  Census census_;
  HostileWeb hostile_;
  std::optional<Census> apart_;  // without copies; if there will be none
  NodeMap nodes_;                // empty without a graph
};

}  // namespace meguri::sim
