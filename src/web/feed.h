// Feeds: RSS 0.9 to 2.0, RSS 1.0 (RDF), Atom 0.3 and 1.0. Dates, URLs and titles are text as it was
// written, trimmed; callers resolve and convert them. Titles keep the HTML that is in them.
// Pure; any thread; linear time.
//
// Tolerated: elements of one format in another, wrong or no namespaces, a document that breaks off
// (entries before that are given, and the broken one if it has a link). See xml_reader.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/document_kind.h"
#include "web/xml_reader.h"

namespace meguri::web {

inline constexpr std::size_t kFeedEntriesMax = 10'000;   // reading ends there
inline constexpr std::size_t kFeedLinksMax = 50;         // of one entry, or of the feed
inline constexpr std::size_t kFeedUrlBytesMax = 4096;    // longer links and ids are dropped
inline constexpr std::size_t kFeedTitleBytesMax = 4096;  // longer titles are dropped
inline constexpr std::size_t kFeedBasesMax = 20'000;     // further xml:base are ignored
inline constexpr std::size_t kFeedFieldBytesMax = 100;   // dates and such; longer ones are dropped

struct FeedLink {
  std::string href;
  // As Atom has it: "alternate" (the page; also where nothing is said), "self", "hub", "next",
  // "enclosure" (RSS enclosures and media:content too), ... in lower case.
  std::string rel;
  std::string type;      // media type; empty: not said
  std::size_t base = 0;  // for Feed::bases_of()

  friend bool operator==(const FeedLink&, const FeedLink&) = default;
};

struct FeedEntry {
  std::vector<FeedLink> links;   // in their order; the page itself is page()
  std::string id;                // guid, atom:id or rdf:about; empty: none
  bool id_is_permalink = false;  // a guid that says or implies that it is the page's URL
  std::string title;
  std::string published;  // empty: none
  std::string updated;

  // The first link to the page; null if there is none. An id that is an http(s) URL is put among
  // the links when there is no other.
  const FeedLink* page() const;
};

// An xml:base and the one it stands in.
struct FeedBase {
  std::string url;
  std::size_t parent = 0;  // as FeedLink::base
};

struct Feed {
  DocumentKind kind = DocumentKind::kOther;  // kRss or kAtom; else nothing was read
  XmlEnd end = XmlEnd::kComplete;
  bool entries_cut = false;  // there are more than kFeedEntriesMax

  std::string title;
  std::vector<FeedLink> links;  // the site ("alternate"), "self", "hub", "next", ...
  std::string published;
  std::string updated;  // lastBuildDate too

  // How often to come back, as the feed says.
  std::optional<std::uint32_t> ttl_minutes;
  std::string update_period;  // sy: "hourly", "daily", ... in lower case; empty: none
  std::optional<std::uint32_t> update_frequency;
  std::uint32_t skip_hours = 0;  // bit h: not in hour h, UTC
  std::uint32_t skip_days = 0;   // bit d: not on day d, 0 being Sunday

  std::vector<FeedEntry> entries;

  std::vector<FeedBase> bases;

  // The first link of this kind; null if there is none.
  const FeedLink* link(std::string_view rel) const;

  // What a link of this feed or of its entries is relative to: the xml:base values in scope,
  // outermost first, those before an absolute one left out. The first is relative to the feed's own
  // URL, each other to the one before, and the link to the last.
  std::vector<std::string_view> bases_of(const FeedLink& link) const;
};

Feed parse_feed(std::string_view bytes);

}  // namespace meguri::web
