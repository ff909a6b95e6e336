#include "sim/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"
#include "base/hash.h"
#include "sim/dice.h"
#include "sim/packing.h"
#include "sim/prose.h"
#include "web/ascii.h"
#include "web/charset.h"
#include "web/http_date.h"

namespace meguri::sim {
namespace {

enum Purpose : std::uint64_t { kMoment = 600, kRobotsText, kEtag, kImageBytes };

constexpr double kDelaySigma = 1.0;
constexpr double kErrorChance = 0.005;
constexpr double kBusyChance = 0.003;
constexpr std::int64_t kWeatherMs = 3'600'000;  // a page that fails does so for the hour

// A picture of one pixel; what follows its end is padding.
constexpr unsigned char kPng[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00,
    0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78,
    0x9c, 0x63, 0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01, 0x48, 0xaf, 0xa4, 0x71, 0x00,
    0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

// The number between a front and an end of `text`; nullopt if it is not so written.
std::optional<std::uint64_t> number_between(std::string_view text, std::string_view front,
                                            std::string_view end) {
  if (!text.starts_with(front) || !text.ends_with(end)) return std::nullopt;
  if (text.size() <= front.size() + end.size()) return std::nullopt;
  text = text.substr(front.size(), text.size() - front.size() - end.size());
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

void set_plain(int status, std::string_view text, Answer* answer) {
  answer->status = status;
  answer->fields.push_back({"Content-Type", "text/plain; charset=utf-8"});
  answer->body = fmt::format("{} {}\n", status, text);
}

}  // namespace

base::Status WorldOptions::check() const {
  RETURN_IF_ERROR(census.check());
  RETURN_IF_ERROR(HostileWeb::check(hostile));
  if (delay_mean < base::Duration() || delay_mean > base::Duration::minutes(10)) {
    return base::fail(base::ErrorCode::kInvalid,
                      "answers take 0 to 600 seconds on the mean, not {}", delay_mean.in_seconds());
  }
  if (graph == nullptr) return {};
  if (census.pages != graph->nodes() || !census.is_exact || census.has_copies) {
    return base::fail(base::ErrorCode::kInvalid,
                      "a web with a graph of {} nodes has exactly as many pages and no copies",
                      graph->nodes());
  }
  return {};
}

void WorldOptions::use_graph(std::shared_ptr<const Graph> new_graph) {
  graph = std::move(new_graph);
  census.pages = graph->nodes();
  census.is_exact = true;
  census.has_copies = false;
}

void WorldOptions::make_sound() {
  is_sound = true;
  census.has_copies = false;
}

std::optional<std::string_view> Answer::field(std::string_view name) const {
  for (const Field& one : fields) {
    if (web::equals_ignoring_case(one.name, name)) return one.value;
  }
  return std::nullopt;
}

World::World(const WorldOptions& options)
    : options_(options), census_(options.census), hostile_(options.hostile) {
  CHECK(options.check().has_value());
  if (options.graph != nullptr) nodes_ = NodeMap(census_);
  if (options.copies_until) {
    CensusOptions census = options.census;
    census.has_copies = false;
    apart_.emplace(census);
  }
}

Place World::place_of(const Site& site, std::string_view target) const {
  using Kind = Place::Kind;
  if (const auto page = site.page_of(target)) return {Kind::kPage, *page};
  if (target == "/robots.txt") return {Kind::kRobots, 0};
  if (target == "/feed.xml" && site.feed() != FeedHabit::kNone) return {Kind::kFeed, 0};
  const bool gzip = site.sitemap() == SitemapHabit::kGzip;
  if (site.sitemap() != SitemapHabit::kNone) {
    if (target == (gzip ? "/sitemap.xml.gz" : "/sitemap.xml")) return {Kind::kSitemap, 0};
    const auto part = number_between(target, "/sitemap-", gzip ? ".xml.gz" : ".xml");
    if (part && *part > 0 && (*part - 1) * kSitemapEntries < site.pages()) {
      return {Kind::kSitemap, *part};
    }
  }
  if (const auto page = number_between(target, "/go/", ""); page && *page < site.pages()) {
    return {Kind::kRedirect, *page};
  }
  if (const auto n = number_between(target, "/static/style-", ".css"); n && *n < 4) {
    return {Kind::kStyle, *n};
  }
  if (const auto n = number_between(target, "/static/app-", ".js"); n && *n < 4) {
    return {Kind::kScript, *n};
  }
  if (const auto n = number_between(target, "/img/", ".png"); n && *n < kImages) {
    return {Kind::kImage, *n};
  }
  return {};
}

Answer World::answer(const Request& request, base::Instant now) const {
  Answer answer;
  if (const HostileHabit* habit = hostile_.of_host(request.origin.host)) {
    HostileWeb::answer(*habit, request, now, &answer);
    if (request.method == "HEAD") answer.body.clear();
    return answer;
  }
  const auto host = census_.host_of_name(request.origin.host);
  if (!host) {
    set_plain(421, "this server has no such host", &answer);
    return answer;
  }
  const Site site(census_at(now), *host);
  answer.is_http10 = site.is_http10();
  answer.is_chunked = site.is_chunked() && !site.is_http10();
  answer.closes = site.closes() || site.is_http10();
  answer.fields.push_back({"Date", web::format_http_date(now)});
  const Place place = place_of(site, request.target);
  if (options_.delay_mean > base::Duration()) {
    Dice dice{kMoment, census_.seed(), *host, place.page, static_cast<std::uint64_t>(now.ms())};
    answer.delay = base::Duration::from_ms(static_cast<std::int64_t>(
        dice.log_normal(static_cast<double>(options_.delay_mean.ms()), kDelaySigma)));
  }
  if (request.method != "GET" && request.method != "HEAD") {
    set_plain(405, "only GET and HEAD", &answer);
    answer.fields.push_back({"Allow", "GET, HEAD"});
    return answer;
  }
  now = moment_of(now);
  switch (place.kind) {
    case Place::Kind::kPage: answer_page(request, site, place.page, now, &answer); break;
    case Place::Kind::kRedirect:
      set_plain(status_of_redirect(place.page), "elsewhere", &answer);
      answer.fields.push_back({"Location", site.address_of(place.page)});
      break;
    case Place::Kind::kRobots: {
      answer.body = robots_of(site, request.origin);
      answer.body.empty() ? set_plain(404, "not found", &answer)
                          : answer.fields.push_back({"Content-Type", "text/plain"});
      break;
    }
    case Place::Kind::kSitemap:
      answer_sitemap(request, site, place.page, now, &answer);
      validate_list(request, site, &answer);
      break;
    case Place::Kind::kFeed:
      answer_feed(request, site, now, &answer);
      validate_list(request, site, &answer);
      break;
    case Place::Kind::kNothing: set_plain(404, "not found", &answer); break;
    default: answer_file(place, &answer); break;
  }
  if (request.method == "HEAD") answer.body.clear();
  return answer;
}

int World::status_of(const Site& site, PageNumber number, base::Instant now) const {
  now = moment_of(now);
  const Page page = this->page(site, number);
  if (!page.history().exists(now)) {
    return page.history().is_gone(now) && site.says_gone() ? 410 : 404;
  }
  if (number == 0 || options_.is_sound) return 200;
  Dice weather{kMoment, census_.seed(), site.host(), number,
               static_cast<std::uint64_t>(now.ms() / kWeatherMs)};
  if (weather.chance(kErrorChance)) return 500;
  return weather.chance(kBusyChance) ? 503 : 200;
}

bool World::is_unchanged(const Request& request, const Site& site, const Version& version,
                         const std::string& etag) const {
  switch (site.validators()) {
    case Validators::kNone:
    case Validators::kFickle: return false;
    case Validators::kStale: return request.if_none_match.has_value();
    case Validators::kEtag: return request.if_none_match == etag;
    case Validators::kBoth:
      if (request.if_none_match) return request.if_none_match == etag;
      break;
    case Validators::kLastModified: break;
  }
  if (!request.if_modified_since) return false;
  const auto since = web::parse_http_date(*request.if_modified_since, 2000);
  return since && version.since.ms() / 1000 <= since->ms() / 1000;
}

void World::answer_page(const Request& request, const Site& site, PageNumber number,
                        base::Instant now, Answer* answer) const {
  if (const int status = status_of(site, number, now); status != 200) {
    set_plain(status, "no page", answer);
    if (status == 503) answer->fields.push_back({"Retry-After", "120"});
    return;
  }
  const Page page = this->page(site, number);
  const std::vector<Version> recent = page.history().recent(now, Page::kVersionsSeen);
  const Version& version = recent.front();
  const std::uint64_t salt =
      site.validators() == Validators::kFickle ? static_cast<std::uint64_t>(now.ms()) : 0;
  const std::string etag = fmt::format("{}\"{:016x}\"", page.is_volatile() ? "W/" : "",
                                       Dice({kEtag, version.id, salt}).bits());
  const Validators validators = site.validators();
  if (validators != Validators::kNone && validators != Validators::kLastModified) {
    answer->fields.push_back({"ETag", etag});
  }
  if (validators == Validators::kLastModified || validators == Validators::kBoth) {
    answer->fields.push_back({"Last-Modified", web::format_http_date(version.since)});
  }
  if (is_unchanged(request, site, version, etag)) {
    answer->status = 304;
    return;
  }
  std::string_view charset;
  if (site.charset_hint() == CharsetHint::kHeader) charset = web::name_of(site.charset());
  answer->fields.push_back({"Content-Type", charset.empty()
                                                ? "text/html"
                                                : fmt::format("text/html; charset={}", charset)});
  const PageRobots robots = page.robots();
  if (robots.says_anything() && robots.in_header) {
    answer->fields.push_back({"X-Robots-Tag", robots.noindex ? "noindex" : "nofollow"});
  }
  answer->body = page.html(recent, now, request.origin);
  if (site.can_gzip() || site.can_brotli()) answer->fields.push_back({"Vary", "Accept-Encoding"});
  if (request.accepts_brotli && site.can_brotli()) {
    answer->fields.push_back({"Content-Encoding", "br"});
    answer->body = brotli_of(answer->body);
  } else if (request.accepts_gzip && site.can_gzip()) {
    answer->fields.push_back({"Content-Encoding", "gzip"});
    answer->body = gzip_of(answer->body);
  }
}

std::string World::robots_of(const Site& site, const Origin& origin) const {
  if (!site.has_robots()) return "";
  Dice dice{kRobotsText, census_.seed(), site.host()};
  std::string text = "# robots of this site\nUser-agent: *\n";
  const std::uint64_t rules = 1 + dice.below(4);
  for (std::uint64_t i = 0; i < rules; ++i) {
    const std::string_view word = Site::word(dice.bits());
    switch (site.style()) {
      case AddressStyle::kFolders: text += fmt::format("Disallow: /{}/\n", word); break;
      case AddressStyle::kQuery:
        text += fmt::format("Disallow: /*&cat={}$\n", dice.below(9));
        break;
      case AddressStyle::kDated:
        text += fmt::format("Disallow: /{}/\n", 2010 + dice.below(16));
        break;
      case AddressStyle::kFlat: text += fmt::format("Disallow: /{}-*.html$\n", word); break;
    }
  }
  text += fmt::format("Allow: {}\n", site.address_of(1 % std::max<std::uint64_t>(site.pages(), 1)));
  const bool asks_delay = dice.chance(0.2) && options_.crawl_delays;
  if (asks_delay) text += fmt::format("Crawl-delay: {}\n", 1 + dice.below(20));
  text += "\nUser-agent: badbot\nUser-agent: worsebot\nDisallow: /\n";
  if (site.sitemap() != SitemapHabit::kNone) {
    text += fmt::format("\nSitemap: {}/sitemap.xml{}\n", origin.text(),
                        site.sitemap() == SitemapHabit::kGzip ? ".gz" : "");
  }
  return text;
}

void World::answer_sitemap(const Request& request, const Site& site, std::uint64_t part,
                           base::Instant now, Answer* answer) const {
  const bool gzip = site.sitemap() == SitemapHabit::kGzip;
  const std::string origin = request.origin.text();
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  constexpr std::string_view kSpace = "http://www.sitemaps.org/schemas/sitemap/0.9";
  if (part == 0 && site.pages() > kSitemapEntries) {
    xml += fmt::format("<sitemapindex xmlns=\"{}\">\n", kSpace);
    for (std::uint64_t i = 1; (i - 1) * kSitemapEntries < site.pages(); ++i) {
      xml += fmt::format("<sitemap><loc>{}/sitemap-{}.xml{}</loc></sitemap>\n", origin, i,
                         gzip ? ".gz" : "");
    }
    xml += "</sitemapindex>\n";
  } else {
    const std::uint64_t first = part == 0 ? 0 : (part - 1) * kSitemapEntries;
    const std::uint64_t end = std::min(first + kSitemapEntries, site.pages());
    xml += fmt::format("<urlset xmlns=\"{}\">\n", kSpace);
    for (PageNumber number = first; number < end; ++number) {
      const Page page = this->page(site, number);
      if (!page.history().exists(now)) continue;
      std::string address = site.address_of(number);
      if (const std::size_t at = address.find('&'); at != std::string::npos) {
        address.replace(at, 1, "&amp;");
      }
      xml += fmt::format("<url><loc>{}{}</loc>", origin, address);
      if (site.sitemap_has_dates()) {
        const base::Instant date =
            site.sitemap_dates_are_right() ? page.history().at(now).since : now;
        xml += fmt::format("<lastmod>{}</lastmod>", date.to_rfc3339());
      }
      xml += "</url>\n";
    }
    xml += "</urlset>\n";
  }
  answer->fields.push_back({"Content-Type", gzip ? "application/gzip" : "application/xml"});
  answer->body = gzip ? gzip_of(xml) : std::move(xml);
}

std::vector<PageNumber> World::feed_pages(const Site& site, base::Instant now) const {
  constexpr std::uint64_t kLooked = 64;
  constexpr std::size_t kShown = 15;
  std::vector<std::pair<base::Instant, PageNumber>> pages;
  for (PageNumber number = 0; number < std::min(kLooked, site.pages()); ++number) {
    const Page page = this->page(site, number);
    if (page.history().exists(now)) pages.emplace_back(page.history().at(now).since, number);
  }
  std::ranges::sort(pages, std::ranges::greater());
  std::vector<PageNumber> shown;
  for (std::size_t i = 0; i < std::min(pages.size(), kShown); ++i) shown.push_back(pages[i].second);
  return shown;
}

void World::answer_feed(const Request& request, const Site& site, base::Instant now,
                        Answer* answer) const {
  const bool rss = site.feed() == FeedHabit::kRss;
  const std::string origin = request.origin.text();
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += rss ? fmt::format("<rss version=\"2.0\"><channel><title>{0}</title><link>{1}/</link>\n",
                           request.origin.host, origin)
             : fmt::format(
                   "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>{0}</title>"
                   "<link href=\"{1}/\"/>\n",
                   request.origin.host, origin);
  for (const PageNumber number : feed_pages(site, now)) {
    const Version version = page(site, number).history().at(now);
    std::string address = site.address_of(number);
    if (const std::size_t at = address.find('&'); at != std::string::npos) {
      address.replace(at, 1, "&amp;");
    }
    const std::string title = title_of(site.language(), version.id);
    if (rss) {
      xml += fmt::format("<item><title>{}</title><link>{}{}</link><pubDate>{}</pubDate></item>\n",
                         title, origin, address, web::format_http_date(version.since));
    } else {
      xml += fmt::format(
          "<entry><title>{}</title><link href=\"{}{}\"/><id>{:016x}</id>"
          "<updated>{}</updated></entry>\n",
          title, origin, address, version.id, version.since.to_rfc3339());
    }
  }
  xml += rss ? "</channel></rss>\n" : "</feed>\n";
  answer->fields.push_back({"Content-Type", rss ? "application/rss+xml" : "application/atom+xml"});
  answer->body = std::move(xml);
}

void World::validate_list(const Request& request, const Site& site, Answer* answer) const {
  if (!site.validates_lists()) return;
  const std::string etag = fmt::format("\"{:016x}\"", base::hash64(answer->body));
  answer->fields.push_back({"ETag", etag});
  if (request.if_none_match != etag) return;
  answer->status = 304;
  answer->body.clear();
}

void World::answer_file(Place place, Answer* answer) const {
  switch (place.kind) {
    case Place::Kind::kStyle:
      answer->fields.push_back({"Content-Type", "text/css"});
      if (place.page == 1) answer->body = "@import url(\"style-2.css\");\n";
      answer->body += fmt::format("body {{ background: url(/img/{}.png); margin: {}px; }}\n",
                                  place.page, place.page * 4);
      break;
    case Place::Kind::kScript:
      answer->fields.push_back({"Content-Type", "text/javascript"});
      answer->body = fmt::format("var app = {};\n// <a href=\"/not/a/link\">\n", place.page);
      break;
    default: {
      answer->fields.push_back({"Content-Type", "image/png"});
      answer->body.assign(reinterpret_cast<const char*>(kPng), sizeof(kPng));
      Dice dice{kImageBytes, census_.seed(), place.page};
      const std::uint64_t padding = 500 + dice.below(5000);
      for (std::uint64_t i = 0; i < padding; ++i) {
        answer->body.push_back(static_cast<char>(dice.bits()));
      }
      break;
    }
  }
}

}  // namespace meguri::sim
