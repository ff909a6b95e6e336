#include "sim/world.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "sim/world_testing.h"
#include "web/content_decoder.h"
#include "web/feed.h"
#include "web/http_date.h"
#include "web/page.h"
#include "web/robots.h"
#include "web/sitemap.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = kTestStart;
constexpr Instant kNow = kTestNow;

World world_of(std::uint64_t hosts, std::uint64_t pages, std::uint64_t seed = 1) {
  return World(test_world(hosts, pages, seed));
}

Answer ask(const World& world, std::string_view host, std::string_view target, Instant now = kNow) {
  Request request;
  request.origin.host = host;
  request.target = target;
  return world.answer(request, now);
}

web::Page read(const Answer& answer, const std::string& url) {
  web::FieldList fields;
  for (const Field& field : answer.fields) fields.add(field.name, field.value);
  const auto parsed = web::Url::parse(url);
  web::PageContext context;
  context.url = &*parsed;
  context.fields = &fields;
  context.want_text = true;
  return web::read_page(answer.body, context);
}

// The first host that a test can use.
template <typename Condition>
HostNumber find_host(const World& world, Condition condition) {
  for (HostNumber host = 0; host < world.census().hosts(); ++host) {
    if (world.census().content_of(host) == host && condition(Site(world.census(), host))) {
      return host;
    }
  }
  ADD_FAILURE() << "no such host";
  return 0;
}

TEST(World, IsTheSameEverywhere) {
  const World world = world_of(200, 5000, 42);
  std::uint64_t hash = 0;
  for (HostNumber host = 0; host < 200; ++host) {
    const Site site(world.census(), host);
    const std::string name = world.census().name_of(host);
    for (const PageNumber page : {std::uint64_t{0}, site.pages() / 2, site.pages() - 1}) {
      const Answer answer = ask(world, name, site.address_of(page));
      hash = base::mix64(hash ^ base::hash64(answer.body));
      for (const Field& field : answer.fields) hash ^= base::hash64(field.name + field.value);
    }
    hash = base::mix64(hash ^ base::hash64(ask(world, name, "/robots.txt").body));
    hash = base::mix64(hash ^ base::hash64(ask(world, name, "/sitemap.xml").body));
    hash = base::mix64(hash ^ base::hash64(ask(world, name, "/feed.xml").body));
  }
  EXPECT_EQ(hash, 7225641945075963760U);
  EXPECT_EQ(ask(world, world.census().name_of(3), "/"), ask(world, world.census().name_of(3), "/"));
}

TEST(World, AddressesLeadToTheirPages) {
  const World world = world_of(100, 20'000);
  for (HostNumber host = 0; host < 100; ++host) {
    const Site site(world.census(), host);
    std::set<std::string> seen;
    for (PageNumber page = 0; page < std::min<std::uint64_t>(site.pages(), 300); ++page) {
      const std::string address = site.address_of(page);
      EXPECT_TRUE(seen.insert(address).second) << address;
      EXPECT_EQ(site.page_of(address), page) << address;
      EXPECT_FALSE(site.page_of(address + "x"));
    }
    EXPECT_FALSE(site.page_of("/missing"));
    EXPECT_FALSE(site.page_of(""));
    EXPECT_FALSE(site.page_of("/-99999999999999999999.html"));
  }
}

TEST(World, CopiesHavePagesOfTheirOwnWhenTheirTimeIsOver) {
  WorldOptions options = test_world(40, 800, 3);
  const World always(options);
  options.copies_until = kNow;
  const World world(options);
  std::size_t copies = 0;
  for (HostNumber host = 0; host < 40; ++host) {
    const Site site(world.census(), host);
    const std::string name = world.census().name_of(host);
    const std::string home = site.address_of(0);
    const Instant before = kNow - base::Duration::from_ms(1);
    EXPECT_EQ(ask(world, name, home, before), ask(always, name, home, before));
    const bool is_same = ask(world, name, home) == ask(always, name, home);
    EXPECT_EQ(is_same, world.census().content_of(host) == host) << name;
    copies += is_same ? 0 : 1;
  }
  EXPECT_GT(copies, 0U);
}

TEST(World, LinksOfTheDocumentAreThoseOfThePage) {
  const World world = world_of(50, 3000);
  int pages = 0;
  for (HostNumber host = 0; host < 50; ++host) {
    if (world.census().content_of(host) != host) continue;
    const Site site(world.census(), host);
    const std::string name = world.census().name_of(host);
    const Page page = world.page(site, 0);
    std::set<std::string> expected;
    for (const OutLink& link : page.links(page.history().at(kNow))) {
      const Site there(world.census(), link.host);
      expected.insert("http://" + world.census().name_of(link.host) + link.target_on(there));
    }
    const web::Page document = read(ask(world, name, "/"), "http://" + name + "/");
    std::set<std::string> found;
    for (const web::PageLink& link : document.links) {
      const bool is_page =
          link.source == web::LinkSource::kA || link.source == web::LinkSource::kArea ||
          link.source == web::LinkSource::kIframe || link.source == web::LinkSource::kMetaRefresh ||
          (link.rel_bits & web::kRelNext) != 0;
      if (is_page) found.insert(link.url.href());
    }
    EXPECT_EQ(found, expected) << name;
    ++pages;
  }
  EXPECT_GT(pages, 30);
}

TEST(World, EveryHostAndPageIsReachedFromTheLargestHost) {
  const World world = world_of(60, 2000);
  const Census& census = world.census();
  // At the beginning, so that nobody is dead; pages to be born later are counted out.
  const HostNumber first = census.host_of_rank(0);
  std::set<std::pair<HostNumber, PageNumber>> seen = {{first, 0}};
  std::vector<std::pair<HostNumber, PageNumber>> open(seen.begin(), seen.end());
  while (!open.empty()) {
    const auto [host, number] = open.back();
    open.pop_back();
    const Site site(census, host);
    const Page page = world.page(site, number);
    for (const OutLink& link : page.links({1, kStart})) {
      const std::pair<HostNumber, PageNumber> next = {link.host, link.page};
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    if (census.content_of(host) != host) continue;
    for (PageNumber page = 0; page < census.pages_of(host); ++page) {
      EXPECT_TRUE(seen.contains({host, page})) << census.name_of(host) << " " << page;
    }
  }
}

// Links that are not of a site's tree fall by a power law: the first x of all pages have the cube
// root of x of them.
TEST(World, InDegreesFollowAPowerLaw) {
  const World world = world_of(1, 20'000);
  const Site site(world.census(), 0);
  std::vector<double> degrees(site.pages());
  double all = 0;
  for (PageNumber number = 6; number < site.pages(); ++number) {
    const Page page = world.page(site, number);
    for (const OutLink& link : page.links({number, kStart})) {
      const bool is_structure = link.page <= 5 || link.page == number + 1 ||
                                link.page == (number - 1) / 6 || (link.page - 1) / 6 == number;
      if (is_structure) continue;
      ++degrees[link.page];
      ++all;
    }
  }
  ASSERT_GT(all, 100'000);
  for (const double share : {0.001, 0.01, 0.1, 0.5}) {
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(share * 20'000); ++i) sum += degrees[i];
    // The menu's pages, a share of 0.0003, are counted out.
    const double menu = std::cbrt(6.0 / 20'000);
    EXPECT_NEAR(sum / all, (std::cbrt(share) - menu) / (1 - menu), 0.02) << share;
  }
}

TEST(World, SizesAndCompressionAreThoseOfRealPages) {
  const World world = world_of(250, 25'000);
  double bytes = 0;
  double packed = 0;
  int count = 0;
  for (HostNumber host = 0; host < 250; ++host) {
    const Site site(world.census(), host);
    for (PageNumber page = 0; page < std::min<std::uint64_t>(site.pages(), 10); ++page) {
      const Answer answer = ask(world, world.census().name_of(host), site.address_of(page));
      if (answer.status != 200) continue;
      uLongf size = compressBound(answer.body.size());
      std::string out(size, '\0');
      ASSERT_EQ(
          compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                    reinterpret_cast<const Bytef*>(answer.body.data()), answer.body.size(), 6),
          Z_OK);
      bytes += static_cast<double>(answer.body.size());
      packed += static_cast<double>(answer.body.size()) / static_cast<double>(size);
      ++count;
    }
  }
  ASSERT_GT(count, 1500);
  EXPECT_NEAR(bytes / count, 21'800, 2'200);
  // A page of text packs to a third or a fifth.
  EXPECT_GT(packed / count, 2.5);
  EXPECT_LT(packed / count, 6.5);
}

TEST(World, CodingsAreThoseThatBothSidesCan) {
  const World world = world_of(250, 2'500);
  std::map<std::string, int> codings;
  for (HostNumber host = 0; host < 250; ++host) {
    const Site site(world.census(), host);
    const std::string name = world.census().name_of(host);
    Request request;
    request.origin.host = name;
    request.target = "/";
    const Answer plain = world.answer(request, kNow);
    EXPECT_FALSE(plain.field("Content-Encoding"));
    request.accepts_gzip = true;
    const Answer gzip = world.answer(request, kNow);
    request.accepts_brotli = true;
    const Answer any = world.answer(request, kNow);
    EXPECT_EQ(gzip.field("Content-Encoding").value_or("") == "gzip", site.can_gzip());
    EXPECT_EQ(any.field("Content-Encoding").value_or("") == "br", site.can_brotli());
    for (const Answer& answer : {gzip, any}) {
      const std::string coding(answer.field("Content-Encoding").value_or(""));
      EXPECT_EQ(web::decode_content(answer.body, coding).bytes, plain.body) << coding;
      ++codings[coding];
    }
  }
  EXPECT_GT(codings["gzip"], 100);
  EXPECT_GT(codings["br"], 40);
}

TEST(World, FramesetsLinkByTheirFrames) {
  const World world = world_of(20, 4000);
  int framesets = 0;
  for (HostNumber host = 0; host < 20; ++host) {
    if (world.census().content_of(host) != host) continue;
    const Site site(world.census(), host);
    const std::string name = world.census().name_of(host);
    for (PageNumber number = 0; number < site.pages(); ++number) {
      const Page page = world.page(site, number);
      if (!page.is_frameset() || !page.history().exists(kNow)) continue;
      const Answer answer = ask(world, name, site.address_of(number));
      if (answer.status != 200) continue;
      std::multiset<std::string> expected;
      for (const OutLink& link : page.links(page.history().at(kNow))) {
        if (link.form != LinkForm::kFrame) continue;
        expected.insert("http://" + world.census().name_of(link.host) +
                        link.target_on(Site(world.census(), link.host)));
      }
      std::multiset<std::string> found;
      for (const web::PageLink& link :
           read(answer, "http://" + name + site.address_of(number)).links) {
        if (link.source == web::LinkSource::kFrame) found.insert(link.url.href());
      }
      EXPECT_EQ(found, expected) << name << " " << number;
      ++framesets;
    }
  }
  EXPECT_GT(framesets, 5);
}

TEST(World, PagesChangeWhenTheirHistorySaysSo) {
  const World world = world_of(100, 5000);
  int versions = 0;
  for (HostNumber host = 0; host < 100; ++host) {
    if (world.census().content_of(host) != host) continue;
    const Site site(world.census(), host);
    const Page page = world.page(site, 0);
    const std::string name = world.census().name_of(host);
    std::string before;
    for (const Version& version :
         page.history().versions(kStart, kStart + Duration::days(365), 6)) {
      const Instant at = std::max(version.since, kStart);
      const std::string text = read(ask(world, name, "/", at), "http://h/").main_text;
      EXPECT_NE(text, before) << name;
      before = text;
      ++versions;
    }
    if (page.is_volatile()) continue;
    const auto list = page.history().versions(kStart, kStart + Duration::days(365), 2);
    if (list.size() < 2) continue;
    EXPECT_EQ(ask(world, name, "/", kStart).body,
              ask(world, name, "/", list[1].since - Duration::from_ms(1)).body);
  }
  EXPECT_GT(versions, 150);
}

TEST(World, VolatilePagesDifferAtEveryAccess) {
  const World world = world_of(200, 5000);
  const HostNumber host =
      find_host(world, [&](const Site& site) { return world.page(site, 0).is_volatile(); });
  const std::string name = world.census().name_of(host);
  EXPECT_NE(ask(world, name, "/", kNow).body,
            ask(world, name, "/", kNow + Duration::from_ms(1)).body);
  EXPECT_EQ(ask(world, name, "/", kNow).body, ask(world, name, "/", kNow).body);
}

TEST(World, ValidatorsAnswer304WhileNothingChanged) {
  const World world = world_of(300, 5000);
  for (const Validators kind : {Validators::kEtag, Validators::kLastModified, Validators::kBoth}) {
    const HostNumber host =
        find_host(world, [&](const Site& site) { return site.validators() == kind; });
    const std::string name = world.census().name_of(host);
    const Answer first = ask(world, name, "/");
    const auto etag = first.field("ETag");
    const auto modified = first.field("Last-Modified");
    EXPECT_EQ(etag.has_value(), kind != Validators::kLastModified);
    EXPECT_EQ(modified.has_value(), kind != Validators::kEtag);
    Request request;
    request.origin.host = name;
    request.target = "/";
    request.if_none_match = etag;
    request.if_modified_since = modified;
    const Answer again = world.answer(request, kNow);
    EXPECT_EQ(again.status, 304);
    EXPECT_TRUE(again.body.empty());
    const Page page = world.page(Site(world.census(), host), 0);
    const auto later = page.history().versions(kNow, kNow + Duration::days(4000), 2);
    ASSERT_EQ(later.size(), 2U);
    EXPECT_EQ(world.answer(request, later[1].since + Duration::seconds(1)).status, 200);
  }
}

TEST(World, JapaneseIsInItsCharset) {
  const World world = world_of(2000, 20'000);
  for (const web::Charset charset :
       {web::Charset::kShiftJis, web::Charset::kEucJp, web::Charset::kIso2022Jp}) {
    const HostNumber host = find_host(world, [&](const Site& site) {
      return site.charset() == charset && site.charset_hint() == CharsetHint::kHeader;
    });
    const std::string name = world.census().name_of(host);
    const web::Page page = read(ask(world, name, "/"), "http://" + name + "/");
    EXPECT_EQ(page.charset.charset, charset);
    EXPECT_NE(page.main_text.find("。"), std::string::npos);
    EXPECT_EQ(page.main_text.find("\xEF\xBF\xBD"), std::string::npos);
  }
}

// When a sitemap says that the pages of a host changed, for each.
std::vector<Instant> sitemap_dates(const World& world, const std::string& host, Instant now) {
  std::vector<Instant> dates;
  const std::string url = "http://" + host + "/sitemap.xml";
  for (const web::PageLink& link : read(ask(world, host, "/sitemap.xml", now), url).links) {
    if (link.date) dates.push_back(*link.date);
  }
  return dates;
}

TEST(World, ListsCanBeTrueOrLyingEverywhere) {
  WorldOptions options = test_world(30, 600);
  const World mixed(options);
  options.census.lists = ListHabit::kTrue;
  const World honest(options);
  options.census.lists = ListHabit::kLying;
  const World lying(options);
  for (HostNumber host = 0; host < 30; ++host) {
    const std::string name = honest.census().name_of(host);
    EXPECT_EQ(ask(honest, name, "/").status, ask(mixed, name, "/").status);
    const Instant later = kNow + Duration::hours(1);
    EXPECT_EQ(ask(honest, name, "/feed.xml").status, 200);
    const std::vector<Instant> truth = sitemap_dates(honest, name, later);
    ASSERT_FALSE(truth.empty());
    const Site site(honest.census(), host);
    EXPECT_EQ(truth.front().ms() / 1000,
              honest.page(site, 0).history().at(later).since.ms() / 1000);
    for (const Instant date : sitemap_dates(lying, name, later)) EXPECT_EQ(date, later);

    // What says the same is not sent again.
    Request request;
    request.origin.host = name;
    request.target = "/sitemap.xml";
    const Answer first = honest.answer(request, kNow);
    const std::string etag(first.field("ETag").value());
    request.if_none_match = etag;
    const Answer again = honest.answer(request, kNow);
    EXPECT_EQ(again.status, 304);
    EXPECT_TRUE(again.body.empty());
    EXPECT_EQ(honest.answer(request, kNow + Duration::days(3000)).status, 200);
    EXPECT_EQ(lying.answer(request, later).status, 200);
  }
}

TEST(World, RobotsSitemapsAndFeedsAreReadable) {
  const World world = world_of(400, 60'000);
  int robots = 0;
  int refused = 0;
  std::map<SitemapHabit, int> sitemaps;
  std::map<FeedHabit, int> feeds;
  for (HostNumber host = 0; host < 400; ++host) {
    const Site site(world.census(), host);
    const std::string name = world.census().name_of(host);
    const Answer text = ask(world, name, "/robots.txt");
    EXPECT_EQ(text.status, site.has_robots() ? 200 : 404);
    if (site.has_robots()) {
      ++robots;
      const web::Robots rules = web::Robots::parse(text.body, "meguri");
      EXPECT_TRUE(rules.check("/").allowed);
      EXPECT_EQ(rules.sitemaps().size(), site.sitemap() == SitemapHabit::kNone ? 0U : 1U);
      for (PageNumber page = 1; page < std::min<std::uint64_t>(site.pages(), 200); ++page) {
        if (!rules.check(site.address_of(page)).allowed) ++refused;
      }
    }
    ++sitemaps[site.sitemap()];
    if (site.sitemap() != SitemapHabit::kNone) {
      const bool gzip = site.sitemap() == SitemapHabit::kGzip;
      const Answer answer = ask(world, name, gzip ? "/sitemap.xml.gz" : "/sitemap.xml");
      const auto decoded = web::decode_content(answer.body, gzip ? "gzip" : "");
      const web::Sitemap sitemap = web::parse_sitemap(decoded.bytes);
      EXPECT_EQ(sitemap.report.kind, site.pages() > World::kSitemapEntries
                                         ? web::DocumentKind::kSitemapIndex
                                         : web::DocumentKind::kSitemap);
      EXPECT_FALSE(sitemap.entries.empty());
      for (const web::SitemapEntry& entry : sitemap.entries) {
        const auto url = web::Url::parse(entry.loc);
        ASSERT_TRUE(url) << entry.loc;
      }
    }
    ++feeds[site.feed()];
    if (site.feed() != FeedHabit::kNone) {
      const web::Feed feed = web::parse_feed(ask(world, name, "/feed.xml").body);
      EXPECT_EQ(feed.kind, site.feed() == FeedHabit::kRss ? web::DocumentKind::kRss
                                                          : web::DocumentKind::kAtom);
      EXPECT_FALSE(feed.entries.empty());
    } else {
      EXPECT_EQ(ask(world, name, "/feed.xml").status, 404);
    }
  }
  EXPECT_NEAR(robots, 140, 35);
  EXPECT_GT(refused, 100);
  EXPECT_NEAR(sitemaps[SitemapHabit::kNone], 168, 40);
  EXPECT_NEAR(feeds[FeedHabit::kNone], 300, 40);
}

TEST(World, OtherTargetsHostsAndMethodsAreAnswered) {
  const World world = world_of(10, 1000);
  const std::string name = world.census().name_of(world.census().host_of_rank(0));
  EXPECT_EQ(ask(world, "nobody.test", "/").status, 421);
  EXPECT_EQ(ask(world, name, "/missing").status, 404);
  EXPECT_EQ(ask(world, name, "/static/style-1.css").field("Content-Type"), "text/css");
  EXPECT_EQ(ask(world, name, "/img/3.png").body.substr(1, 3), "PNG");
  const Answer moved = ask(world, name, "/go/4");
  EXPECT_EQ(moved.status, 301);
  EXPECT_EQ(ask(world, name, *moved.field("location")).field("Location"), std::nullopt);
  Request request;
  request.origin.host = name;
  request.target = "/";
  request.method = "HEAD";
  EXPECT_EQ(world.answer(request, kNow).status, 200);
  EXPECT_TRUE(world.answer(request, kNow).body.empty());
  request.method = "POST";
  EXPECT_EQ(world.answer(request, kNow).status, 405);
}

TEST(World, DeathsErrorsAndDelaysAreAsRareAsStated) {
  const World world = world_of(20, 40'000);
  std::map<int, int> statuses;
  double delays = 0;
  int count = 0;
  for (HostNumber host = 0; host < 20; ++host) {
    const Site site(world.census(), host);
    const std::string name = world.census().name_of(host);
    for (PageNumber page = 1; page < std::min<std::uint64_t>(site.pages(), 600); ++page) {
      const Answer answer = ask(world, name, site.address_of(page));
      ++statuses[answer.status];
      delays += answer.delay.in_seconds();
      ++count;
    }
  }
  ASSERT_GT(count, 5000);
  const auto share = [&](int status) { return static_cast<double>(statuses[status]) / count; };
  EXPECT_NEAR(delays / count, 0.85, 0.06);
  EXPECT_NEAR(share(500), 0.004, 0.003);
  EXPECT_NEAR(share(503), 0.0025, 0.002);
  EXPECT_GT(share(200), 0.75);
  // A fifth is born over two years, of which one month has passed.
  EXPECT_NEAR(share(404) + share(410), 0.2, 0.03);
}

TEST(World, MirrorsServeTheSamePages) {
  const World world = world_of(2000, 20'000);
  int mirrors = 0;
  for (HostNumber host = 0; host < 2000; ++host) {
    const HostNumber original = world.census().content_of(host);
    if (original == host) continue;
    ++mirrors;
    if (mirrors > 20) break;
    const Answer a = ask(world, world.census().name_of(host), "/static/style-1.css");
    const Answer b = ask(world, world.census().name_of(original), "/static/style-1.css");
    EXPECT_EQ(a.body, b.body);
    EXPECT_EQ(Site(world.census(), host).address_of(1),
              Site(world.census(), original).address_of(1));
  }
  EXPECT_GT(mirrors, 20);
}

TEST(World, BadOptionsAreExplained) {
  WorldOptions options;
  options.delay_mean = Duration::hours(1);
  const auto status = options.check();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "answers take 0 to 600 seconds on the mean, not 3600");
}

TEST(World, StandsStillButForDatesAndDelays) {
  WorldOptions options = world_of(20, 400).options();
  const World moving(options);
  options.is_still = true;
  const World still(options);
  const Census& census = still.census();
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    const Site site(census, host);
    std::vector<std::string> targets = {"/robots.txt", "/sitemap.xml", "/feed.xml"};
    for (PageNumber page = 0; page < site.pages(); ++page) targets.push_back(site.address_of(page));
    for (const std::string& target : targets) {
      Answer then = ask(moving, census.name_of(host), target, kStart);
      Answer now = ask(still, census.name_of(host), target, kNow);
      EXPECT_EQ(now.field("Date"), web::format_http_date(kNow));
      EXPECT_EQ(then.status, now.status);
      EXPECT_EQ(then.body, now.body);
    }
    const Page home = still.page(site, 0);
    EXPECT_EQ(home.history().versions(kStart, kNow, 100).size(), 1U);
    EXPECT_EQ(home.history().end_after(kNow), std::nullopt);
  }
}

TEST(World, ASoundOneHasNothingButPages) {
  WorldOptions options = world_of(20, 800).options();
  options.make_sound();
  const World world(options);
  const Census& census = world.census();
  for (HostNumber host = 0; host < census.hosts(); ++host) {
    EXPECT_EQ(census.content_of(host), host);
    const Site site(census, host);
    for (PageNumber number = 0; number < site.pages(); ++number) {
      EXPECT_EQ(ask(world, census.name_of(host), site.address_of(number), kNow).status, 200);
      const Page page = world.page(site, number);
      for (const OutLink& link : page.links(page.history().at(kNow))) EXPECT_FALSE(link.redirects);
    }
  }
}

}  // namespace
}  // namespace meguri::sim
