// Leads: where an answer of the virtual web leads a crawler, and what can be reached so.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sim/access_log.h"
#include "sim/world.h"

namespace meguri::sim {

// Why a crawler may go somewhere.
enum class LeadKind : std::uint8_t {
  kLink,      // a link to a page
  kEmbed,     // an image, style or script
  kFrame,     // a page that is shown within the page
  kRedirect,  // where an answer sends its reader
  kHint,      // an entry of a sitemap or a feed, or these files themselves
};

struct Lead {
  LeadKind kind = LeadKind::kLink;
  std::string host;
  std::string target;  // path and query

  friend bool operator==(const Lead&, const Lead&) = default;
};

// Where the answer to `target` of the host called `host` at `now` leads; nowhere if it is an error.
// A page that says nofollow leads to its embeds and frames alone. Adverts lead to images by chance:
// all that they may show are given, unless the world stands still, where it is known which they
// show.
std::vector<Lead> leads_of(const World& world, std::string_view host, std::string_view target,
                           base::Instant now);

// Whether its answer leads anywhere. Where there is no robots.txt, a sitemap is looked for all the
// same.
bool has_leads(const Access& access);

struct ReachOptions {
  std::vector<std::string> seeds;  // URLs
  base::Instant at;                // the web as it stands at this moment
  std::string agent = "meguri";    // whose robots rules are obeyed; empty: none are
  bool embeds = true;              // frames among them
  bool hints = false;              // feeds are read, and sitemaps that are linked to
  // With hints: the sitemaps of robots.txt too, at the first visit of a host, or /sitemap.xml.
  bool sitemaps = false;
  // Which hosts belong to the scope; null: all. Frames of pages in the scope may be elsewhere;
  // embeds are on the host of their page.
  std::function<bool(std::string_view host)> in_scope = nullptr;
  // Which answers are lost on their way: what is asked for there is reached, and leads nowhere.
  std::function<bool(std::string_view host, std::string_view target)> is_lost = nullptr;
};

// One address that a crawler gets to, and what it is told there.
struct Reached {
  std::string host;
  std::string target;
  Place::Kind kind = Place::Kind::kNothing;
  int status = 200;
};

// All that a crawler reaches, in the order in which it would come to it, breadth first. What robots
// rules forbid is not reached. Memory grows with what is found.
std::vector<Reached> reachable(const World& world, const ReachOptions& options);

// Where the answers of a log lead to that nobody went, each once, in order of discovery: what a
// crawl of everything has left out. Seeds are leads; the rules are those of `options`, whose time
// is not used: each answer leads where it did when it was given.
std::vector<Lead> left_out(const World& world, std::span<const Access> log,
                           const ReachOptions& options);

}  // namespace meguri::sim
