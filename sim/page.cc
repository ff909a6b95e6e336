#include "sim/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "sim/dice.h"
#include "sim/prose.h"

namespace meguri::sim {
namespace {

enum Purpose : std::uint64_t {
  kLinks = 500,
  kSize,
  kOld,
  kTouch,
  kRobots,
  kVolatile,
  kMoment,
  kFrames,
  kLine,
};

// Documents come out smaller than planned, with a mean of 21.8 KB.
constexpr double kBytesMean = 25'500;
constexpr double kBytesSigma = 0.9;
constexpr std::size_t kBytesMin = 1'000;
constexpr std::size_t kBytesMax = 400'000;
constexpr std::size_t kParagraphBytes = 600;
constexpr std::size_t kParagraphBytesMin = 480;  // the last sentences go beyond
constexpr std::size_t kFrameBytes = 1'600;       // head, menu and footer, about
constexpr std::size_t kLinkBytes = 70;

constexpr std::uint64_t kChildren = 6;      // of a page in the tree of its site
constexpr std::uint64_t kHostChildren = 8;  // of a host in the tree of all
constexpr std::uint64_t kMenuLinks = 5;
constexpr std::uint64_t kAdvertImages = 16;

constexpr double kVolatileChance = 0.2;
constexpr double kFramesetChance = 0.005;
constexpr double kAbsoluteChance = 0.2;
constexpr double kRedirectChance = 0.02;

std::uint64_t key_of(const Census& census, const Site& site, PageNumber number) {
  return Dice{census.seed(), site.host(), number}.bits();
}

// Small numbers are popular: the in-degree falls by a power of the number.
std::uint64_t popular(std::uint64_t n, Dice& dice) {
  const double u = dice.uniform();
  return static_cast<std::uint64_t>(u * u * u * static_cast<double>(n)) % n;
}

// The page lives through a line of the trace, chosen by chance, or invents its changes.
History history_of(const Census& census, const Site& site, PageNumber number, std::uint64_t key,
                   base::Instant world_start, const PageSources& sources) {
  if (sources.trace == nullptr) {
    HistoryTraits traits = draw_traits(census.seed(), site.host(), number, world_start);
    if (sources.is_sound) traits.birth = traits.death = std::nullopt;
    return {key, traits};
  }
  const std::size_t line = Dice{kLine, key}.below(sources.trace->pages());
  const bool is_always_there = number == 0 || sources.is_sound;
  return {key, RecordedChanges{sources.trace->events_of(line), world_start, is_always_there}};
}

}  // namespace

std::string OutLink::target_on(const Site& there) const {
  return redirects ? fmt::format("/go/{}", page) : there.address_of(page);
}

std::string Origin::text() const { return fmt::format("{}://{}{}", scheme, host, port); }

Page::Page(const Census& census, const Site& site, PageNumber number, base::Instant world_start,
           const PageSources& sources)
    : census_(census),
      site_(site),
      number_(number),
      sources_(sources),
      key_(key_of(census, site, number)),
      history_(history_of(census, site, number, key_, world_start, sources)) {
  if (sources.still_at) history_.stand_still(*sources.still_at);
}

PageRobots Page::robots() const {
  Dice dice{kRobots, key_};
  PageRobots robots;
  if (number_ == 0) return robots;
  robots.noindex = dice.chance(0.03);
  robots.nofollow = dice.chance(0.03);
  robots.in_header = dice.chance(0.3);
  // The header has room for one word.
  if (robots.in_header && robots.noindex) robots.nofollow = false;
  return robots;
}

bool Page::is_volatile() const { return Dice{kVolatile, key_}.chance(kVolatileChance); }

std::uint64_t Page::advert_image(base::Instant now) const {
  return Dice{kMoment, key_, static_cast<std::uint64_t>(now.ms())}.below(kAdvertImages);
}

bool Page::is_frameset() const {
  return number_ != 0 && Dice{kFrames, key_}.chance(kFramesetChance);
}

std::vector<OutLink> Page::graph_links() const {
  Dice dice{kLinks, key_};
  const NodeNumber node = sources_.nodes->node_of(census_, site_.host(), number_);
  const bool frames = is_frameset();
  std::vector<OutLink> links;
  for (const NodeNumber next : sources_.graph->successors(node)) {
    const auto [host, page] = sources_.nodes->page_of(census_, next);
    OutLink link{host, page};
    const double form = dice.uniform();
    link.is_absolute = dice.chance(kAbsoluteChance);
    link.redirects = dice.chance(kRedirectChance) && !sources_.is_sound;
    if (form < 0.03) link.form = LinkForm::kArea;
    if (form >= 0.03 && form < 0.06) link.form = LinkForm::kIframe;
    if (frames) link.form = LinkForm::kFrame;
    if (next == node + 1 && host == site_.host()) link.form = LinkForm::kNext;
    if (next != node) links.push_back(link);
  }
  return links;
}

std::vector<OutLink> Page::links(const Version& version) const {
  if (sources_.graph != nullptr) return graph_links();
  Dice dice{kLinks, key_};
  const std::uint64_t pages = site_.pages();
  std::vector<OutLink> links;
  const bool frames = is_frameset();
  const auto add = [&](HostNumber host, PageNumber page, LinkForm form = LinkForm::kAnchor) {
    if (frames && form != LinkForm::kNext && form != LinkForm::kRefresh) form = LinkForm::kFrame;
    OutLink link{host, page, form};
    link.is_absolute = dice.chance(kAbsoluteChance);
    link.redirects = dice.chance(kRedirectChance) && !sources_.is_sound;
    if (host == site_.host() && page == number_) return;
    links.push_back(link);
  };
  for (PageNumber page = 0; page <= kMenuLinks && page < pages; ++page) add(site_.host(), page);
  for (std::uint64_t i = 1; i <= kChildren; ++i) {
    const PageNumber child = number_ * kChildren + i;
    if (child >= pages) break;
    const double form = dice.uniform();
    add(site_.host(), child,
        form < 0.03 ? LinkForm::kArea : (form < 0.06 ? LinkForm::kIframe : LinkForm::kAnchor));
  }
  if (number_ > 0) add(site_.host(), (number_ - 1) / kChildren);
  if (number_ + 1 < pages) add(site_.host(), number_ + 1, LinkForm::kNext);
  static const Poisson more_links(8);
  static const Poisson abroad_links(3);
  const std::uint64_t more = dice.poisson(more_links);
  for (std::uint64_t i = 0; i < more; ++i) add(site_.host(), popular(pages, dice));
  if (dice.chance(0.01)) add(site_.host(), popular(pages, dice), LinkForm::kRefresh);

  const std::uint64_t abroad = dice.poisson(abroad_links);
  for (std::uint64_t i = 0; i < abroad; ++i) {
    const HostNumber host = census_.host_of_rank(popular(census_.hosts(), dice));
    const std::uint64_t there = census_.pages_of(census_.content_of(host));
    add(host, dice.chance(0.6) ? 0 : popular(there, dice));
  }
  if (number_ == 0) {
    const std::uint64_t rank = census_.rank_of(site_.host());
    for (std::uint64_t i = 1; i <= kHostChildren; ++i) {
      if (rank * kHostChildren + i >= census_.hosts()) break;
      add(census_.host_of_rank(rank * kHostChildren + i), 0);
    }
  }
  Dice news{kLinks, version.id};
  add(site_.host(), popular(pages, news));
  return links;
}

std::string Page::href_of(const OutLink& link, const Origin& origin) const {
  if (link.host == site_.host()) {
    const std::string target = link.target_on(site_);
    return link.is_absolute ? origin.text() + target : target;
  }
  const std::string target = link.target_on(Site(census_, link.host));
  return Origin{origin.scheme, census_.name_of(link.host), origin.port}.text() + target;
}

std::size_t Page::text_bytes() const {
  Dice size{kSize, key_};
  const auto bytes = static_cast<std::size_t>(
      std::clamp<double>(size.log_normal(kBytesMean, kBytesSigma), kBytesMin, kBytesMax));
  return bytes > 2 * kFrameBytes ? bytes - kFrameBytes : bytes / 2;
}

// Every change rewrites one to three paragraphs, or, once in ten times, all. A paragraph that none
// of the versions remembered has touched is as it was at first.
std::vector<std::uint64_t> Page::paragraph_keys(std::span<const Version> recent) const {
  const std::size_t count = std::max<std::size_t>(1, text_bytes() / (kParagraphBytes + kLinkBytes));
  std::vector<std::uint64_t> keys(count, 0);
  for (const Version& version : recent) {
    Dice dice{kTouch, version.id};
    const bool all = dice.chance(0.1);
    const std::uint64_t touched = all ? count : 1 + dice.below(3);
    for (std::uint64_t i = 0; i < touched; ++i) {
      const std::size_t place = all ? i : dice.below(count);
      if (keys[place] == 0) keys[place] = base::mix64(version.id + place) | 1U;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i] == 0) keys[i] = Dice{kOld, key_, i}.bits();
  }
  return keys;
}

void Page::append_head(const Version& version, const std::vector<OutLink>& links,
                       const Origin& origin, std::string* out) const {
  fmt::format_to(std::back_inserter(*out), "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n",
                 code_of(site_.language()));
  if (site_.charset_hint() == CharsetHint::kMeta) {
    fmt::format_to(std::back_inserter(*out), "<meta charset=\"{}\">\n",
                   web::name_of(site_.charset()));
  } else if (site_.charset_hint() == CharsetHint::kWrong) {
    out->append("<meta charset=\"iso-8859-1\">\n");
  }
  out->append("<title>");
  append_title(site_.script(), key_ ^ (version.id & 3U), out);
  out->append("</title>\n");
  const PageRobots said = robots();
  if (said.says_anything() && !said.in_header) {
    fmt::format_to(std::back_inserter(*out), "<meta name=\"robots\" content=\"{}{}{}\">\n",
                   said.noindex ? "noindex" : "", said.noindex && said.nofollow ? ", " : "",
                   said.nofollow ? "nofollow" : "");
  }
  out->append("<link rel=\"stylesheet\" href=\"/static/style-1.css\">\n");
  out->append("<script src=\"/static/app-1.js\"></script>\n");
  for (const OutLink& link : links) {
    if (link.form == LinkForm::kNext) {
      fmt::format_to(std::back_inserter(*out), "<link rel=\"next\" href=\"{}\">\n",
                     href_of(link, origin));
    } else if (link.form == LinkForm::kRefresh) {
      fmt::format_to(std::back_inserter(*out),
                     "<meta http-equiv=\"refresh\" content=\"300; url={}\">\n",
                     href_of(link, origin));
    }
  }
  if (site_.feed() != FeedHabit::kNone) {
    fmt::format_to(std::back_inserter(*out),
                   "<link rel=\"alternate\" type=\"application/{}+xml\" href=\"/feed.xml\">\n",
                   site_.feed() == FeedHabit::kRss ? "rss" : "atom");
  }
  out->append("</head>\n");
}

void Page::append_frames(std::span<const std::uint64_t> paragraphs,
                         const std::vector<OutLink>& links, const Origin& origin,
                         std::string* out) const {
  out->append("<frameset cols=\"20%,80%\">\n");
  for (const OutLink& link : links) {
    if (link.form != LinkForm::kFrame) continue;
    fmt::format_to(std::back_inserter(*out), "<frame src=\"{}\">\n", href_of(link, origin));
  }
  out->append("</frameset>\n<noframes>\n");
  for (const std::uint64_t key : paragraphs) {
    out->append("<p>");
    append_prose(site_.script(), key, kParagraphBytesMin, out);
    out->append("</p>\n");
  }
  out->append("</noframes>\n</html>\n");
}

void Page::append_paragraphs(std::span<const std::uint64_t> keys, const std::vector<OutLink>& links,
                             const Origin& origin, std::string* out) const {
  const auto inserter = [out] { return std::back_inserter(*out); };
  std::vector<const OutLink*> anchors;
  for (const OutLink& link : links) {
    if (link.form != LinkForm::kNext && link.form != LinkForm::kRefresh) anchors.push_back(&link);
  }
  std::size_t next = 0;
  const auto append_link = [&] {
    const OutLink& link = *anchors[next++];
    const std::string href = href_of(link, origin);
    const std::string_view word = Site::word(link.page + link.host);
    if (link.form == LinkForm::kIframe) {
      fmt::format_to(inserter(), "<iframe src=\"{}\"></iframe>\n", href);
    } else if (link.form == LinkForm::kArea) {
      fmt::format_to(inserter(), "<map><area href=\"{}\" alt=\"{}\"></map>\n", href, word);
    } else {
      fmt::format_to(inserter(), "<a href=\"{}\">{}</a>\n", href, word);
    }
  };
  out->append("<body>\n<nav>\n");
  while (next < anchors.size() && next < kMenuLinks) append_link();
  out->append("</nav>\n<main>\n<h1>");
  append_title(site_.script(), key_, out);
  out->append("</h1>\n");
  fmt::format_to(
      inserter(),
      "<img src=\"/img/{0}.png\" srcset=\"/img/{0}.png 1x, /img/{1}.png 2x\" alt=\"\">\n",
      number_ % 8, number_ % 8 + 8);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    out->append("<p>");
    append_prose(site_.script(), keys[i], kParagraphBytesMin, out);
    const std::size_t until = kMenuLinks + (anchors.size() * (i + 1)) / keys.size();
    while (next < anchors.size() && next < until) append_link();
    out->append("</p>\n");
  }
  while (next < anchors.size()) append_link();
  out->append("</main>\n");
}

void Page::append_footer(base::Instant now, std::string* out) const {
  if (is_volatile()) {
    Dice dice{kMoment, key_, static_cast<std::uint64_t>(now.ms())};
    const std::uint64_t image = dice.below(kAdvertImages);
    const std::uint64_t advert = dice.below(1000);
    fmt::format_to(std::back_inserter(*out),
                   "<aside><img src=\"/img/{}.png\" alt=\"\"> advert {}</aside>\n", image, advert);
    fmt::format_to(std::back_inserter(*out), "<footer>{} &#8212; visitor {}</footer>\n",
                   now.to_rfc3339(), dice.below(1'000'000));
  } else {
    out->append("<footer>contact</footer>\n");
  }
  out->append("</body>\n</html>\n");
}

std::string Page::html(std::span<const Version> recent, base::Instant now,
                       const Origin& origin) const {
  const std::vector<OutLink> all = links(recent.front());
  const std::vector<std::uint64_t> paragraphs = paragraph_keys(recent);
  std::string out;
  out.reserve(2 * kFrameBytes + paragraphs.size() * (kParagraphBytes + 100) +
              all.size() * (kLinkBytes + 50));
  append_head(recent.front(), all, origin, &out);
  if (is_frameset()) {
    append_frames(paragraphs, all, origin, &out);
  } else {
    append_paragraphs(paragraphs, all, origin, &out);
    append_footer(now, &out);
  }
  return out;
}

}  // namespace meguri::sim
