#include "crawl/link_offers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace meguri::crawl {
namespace {

const Candidate from_page = {.url = "http://example.org/dir/page",
                             .via = "http://example.org/",
                             .depth = 3,
                             .hops = 2,
                             .offer = Offer::kLink};

// "link 4 http://example.org/x" for each.
std::vector<std::string> offers_in(std::string_view body,
                                   std::string_view content_type = "text/html",
                                   std::string_view x_robots_tag = "",
                                   const Candidate& from = from_page, bool obeys_nofollow = true) {
  const auto url = web::Url::parse(from_page.url);
  web::FieldList fields;
  fields.add("Content-Type", content_type);
  if (!x_robots_tag.empty()) fields.add("X-Robots-Tag", x_robots_tag);
  web::Page page = web::read_page(body, {.url = &*url, .fields = &fields});
  std::vector<std::string> texts;
  const OfferRules rules{.obeys_nofollow = obeys_nofollow};
  for (const Candidate& offer : offers_of(std::move(page), from, rules)) {
    EXPECT_EQ(offer.via, from.url);
    EXPECT_EQ(offer.hops, 0);
    texts.push_back(fmt::format("{} {} {}", name_of(offer.offer), offer.depth, offer.url));
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(LinkOffers, LinksAreOneDeeperAndEmbedsAreNot) {
  EXPECT_EQ(offers_in("<a href=next>n</a><img src=/i.png>"
                      "<link rel=alternate type=application/rss+xml href=feed>"),
            (Texts{"link 4 http://example.org/dir/next", "embed 3 http://example.org/i.png",
                   "hint 4 http://example.org/dir/feed"}));
}

TEST(LinkOffers, LinksOfAForeignPageAreLeftOutOrLastAndItsEmbedsAreNot) {
  OfferMemory memory(1024);
  const auto offers = [&memory](ForeignPage* foreign) {
    const auto url = web::Url::parse(from_page.url);
    web::Page page = web::read_page(
        "<a href=/next>n</a><a href=/next>n</a><img src=/i.png><a href=/b>b</a>", {.url = &*url});
    std::vector<std::pair<std::string, bool>> found;
    for (const Candidate& offer :
         offers_of(std::move(page), from_page, {}, &memory, base::Ticks::from_ms(1), foreign)) {
      found.emplace_back(offer.url, offer.is_last);
    }
    return found;
  };
  using Found = std::vector<std::pair<std::string, bool>>;
  ForeignPage foreign{.links = ForeignLinks::kNone};
  EXPECT_EQ(offers(&foreign), (Found{{"http://example.org/i.png", false}}));
  EXPECT_EQ(foreign.count, 2U);
  // What was left out was not offered; nor was what comes last offered to come soon.
  foreign = {.links = ForeignLinks::kLast};
  EXPECT_EQ(offers(&foreign),
            (Found{{"http://example.org/next", true}, {"http://example.org/b", true}}));
  EXPECT_EQ(foreign.count, 2U);
  EXPECT_EQ(offers(nullptr),
            (Found{{"http://example.org/next", false}, {"http://example.org/b", false}}));
}

TEST(LinkOffers, LeaveOutWhatWasOfferedJustNow) {
  OfferMemory memory(1024);
  const auto count = [&memory](const std::string& from, std::uint32_t depth) {
    const auto url = web::Url::parse(from);
    web::Page page = web::read_page("<a href=/next>n</a><img src=/i.png>", {.url = &*url});
    const Candidate page_of = {.url = from, .via = "", .depth = depth};
    return offers_of(std::move(page), page_of, {}, &memory, base::Ticks::from_ms(1)).size();
  };
  EXPECT_EQ(count("http://example.org/dir/a", 3), 2U);
  EXPECT_EQ(count("http://example.org/dir/b?x=/y", 3), 0U);
  EXPECT_EQ(count("http://example.org/dir/b", 2), 2U);    // nearer to a seed
  EXPECT_EQ(count("http://example.org/other/c", 2), 1U);  // scopes may look at who embeds
}

TEST(LinkOffers, AreCanonicalAndOfferedOnce) {
  EXPECT_EQ(offers_in("<a href='/%7ea#x'>1</a><a href='/~a#y'>2</a>"
                      "<a href='HTTP://user:pw@EXAMPLE.org:80/~a?'>3</a>"),
            (Texts{"link 4 http://example.org/~a"}));
}

TEST(LinkOffers, NeverHoldThePageItself) {
  EXPECT_EQ(offers_in("<a href='#top'>t</a><a href=''>e</a><a href=page>p</a>"), Texts{});
}

TEST(LinkOffers, HoldNothingButWebAddresses) {
  EXPECT_EQ(offers_in("<a href='mailto:a@b.c'>m</a><a href='javascript:x()'>j</a>"
                      "<img src='data:image/png;base64,AA'><a href='ftp://example.org/'>f</a>"
                      "<link rel=preconnect href='//cdn.example'><form action=/send></form>"),
            Texts{});
}

TEST(LinkOffers, PreferTheEmbedOfALinkThatIsBoth) {
  EXPECT_EQ(offers_in("<a href=i.png><img src=i.png></a>"),
            (Texts{"embed 3 http://example.org/dir/i.png"}));
  EXPECT_EQ(offers_in("<img src=i.png><a href=i.png>x</a>"),
            (Texts{"embed 3 http://example.org/dir/i.png"}));
}

TEST(LinkOffers, OfAPageThatSaysNofollowAreItsEmbeds) {
  const Texts embed = {"embed 3 http://example.org/i"};
  EXPECT_EQ(offers_in("<meta name=robots content=nofollow><a href=/x>x</a><img src=/i>"), embed);
  EXPECT_EQ(offers_in("<a href=/x>x</a><img src=/i>", "text/html", "none"), embed);
  EXPECT_EQ(offers_in("<a href=/x>x</a><img src=/i>", "text/html", "otherbot: nofollow").size(),
            2U);
}

TEST(LinkOffers, OfASitemapAreHints) {
  EXPECT_EQ(offers_in("<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/"
                      "sitemap/0.9'><url><loc>http://example.org/s</loc></url></urlset>",
                      "application/xml"),
            (Texts{"hint 4 http://example.org/s"}));
}

TEST(LinkOffers, OfAStyleSheetAreEmbeds) {
  EXPECT_EQ(
      offers_in("@import 'a.css'; p { background: url(b.png) }", "text/css"),
      (Texts{"embed 3 http://example.org/dir/a.css", "embed 3 http://example.org/dir/b.png"}));
}

TEST(LinkOffers, NofollowIsObeyedUnlessItIsToldOtherwise) {
  const std::string meta = "<meta name=robots content=nofollow><a href=x>x</a><img src=i>";
  const std::string plain = "<a href=x>x</a><img src=i>";
  const Texts embeds = {"embed 3 http://example.org/dir/i"};
  const Texts all = {"link 4 http://example.org/dir/x", "embed 3 http://example.org/dir/i"};
  EXPECT_EQ(offers_in(meta), embeds);
  EXPECT_EQ(offers_in(plain, "text/html", "nofollow"), embeds);
  EXPECT_EQ(offers_in(plain, "text/html", "meguri: none"), embeds);
  EXPECT_EQ(offers_in(plain, "text/html", "otherbot: none"), all);
  EXPECT_EQ(offers_in(meta, "text/html", "nofollow", from_page, false), all);
}

TEST(LinkOffers, OfAnIndexOfSitemapsAreSitemapsIfItWasVisitedAsOne) {
  const std::string index =
      "<sitemapindex><sitemap><loc>http://example.org/s.xml.gz</loc></sitemap></sitemapindex>";
  EXPECT_EQ(offers_in(index, "text/xml"), (Texts{"hint 4 http://example.org/s.xml.gz"}));
  Candidate sitemap = from_page;
  sitemap.offer = Offer::kSitemap;
  const Texts level = {"sitemap 3 http://example.org/s.xml.gz"};
  EXPECT_EQ(offers_in(index, "text/xml", "", sitemap), level);
  Candidate redirected = from_page;
  redirected.offer = Offer::kRedirect;
  redirected.chain = Offer::kSitemap;
  EXPECT_EQ(offers_in(index, "text/xml", "", redirected), level);
  const std::string entries = "<urlset><url><loc>http://example.org/p</loc></url></urlset>";
  EXPECT_EQ(offers_in(entries, "text/xml", "", sitemap), (Texts{"hint 4 http://example.org/p"}));
}

constexpr base::Instant kFetched = base::Instant::from_ms(1'767'225'600'000);  // 2026-01-01

std::vector<Candidate> offers_of_text(std::string_view text, const OfferRules& rules,
                                      OfferMemory* memory = nullptr) {
  const auto url = web::Url::parse(from_page.url);
  return offers_of(web::read_page(text, {.url = &*url, .year_now = 2026}), from_page, rules, memory,
                   base::Ticks::from_ms(1));
}

std::string entry_of(std::string_view lastmod) {
  return fmt::format(
      "<urlset><url><loc>http://example.org/p</loc><lastmod>{}</lastmod></url></urlset>", lastmod);
}

TEST(LinkOffers, HaveTheDatesOfSitemapsAndFeeds) {
  const OfferRules rules{.fetched = kFetched};
  const auto date_in = [&rules](std::string_view text) {
    const auto offers = offers_of_text(text, rules);
    EXPECT_EQ(offers.size(), 1U) << text;
    return offers.empty() ? std::nullopt : offers[0].modified;
  };
  const auto day = [](int n) { return kFetched - base::Duration::days(n); };
  EXPECT_EQ(date_in(entry_of("2025-12-31")), day(1));
  EXPECT_EQ(date_in("<rss><channel><item><link>http://example.org/p</link>"
                    "<pubDate>Tue, 30 Dec 2025 00:00:00 GMT</pubDate></item></channel></rss>"),
            day(2));
  EXPECT_EQ(date_in("<feed xmlns='http://www.w3.org/2005/Atom'><entry>"
                    "<link href='http://example.org/p'/><published>2025-12-01</published>"
                    "<updated>2025-12-29T00:00:00Z</updated></entry></feed>"),
            day(3));
  EXPECT_EQ(date_in("<urlset><url><loc>http://example.org/p</loc></url></urlset>"), std::nullopt);
}

TEST(LinkOffers, HaveNoDatesThatCannotBe) {
  const OfferRules rules{.fetched = kFetched};
  const auto date_of = [&rules](std::string_view lastmod) {
    return offers_of_text(entry_of(lastmod), rules).at(0).modified;
  };
  EXPECT_EQ(date_of("2026-01-01T05:00:00Z"), kFetched);  // a clock or a zone that is ahead
  EXPECT_EQ(date_of("2026-01-03"), std::nullopt);
  EXPECT_EQ(date_of("1989-12-31"), std::nullopt);
  EXPECT_NE(date_of("1990-01-01"), std::nullopt);
  EXPECT_EQ(date_of("soon"), std::nullopt);
}

TEST(LinkOffers, HaveNoDatesThatTheLastVersionTold) {
  const auto date_of = [](std::string_view lastmod, int days_before) {
    const OfferRules rules{.fetched = kFetched,
                           .fetched_before = kFetched - base::Duration::days(days_before)};
    return offers_of_text(entry_of(lastmod), rules).at(0).modified.has_value();
  };
  EXPECT_TRUE(date_of("2025-12-31", 2));
  EXPECT_TRUE(date_of("2025-12-28", 2));   // it may have been late
  EXPECT_FALSE(date_of("2025-12-26", 2));  // but not that late
  EXPECT_TRUE(date_of("2025-12-26", 4));
}

TEST(LinkOffers, WithAnotherDateAreOtherOffers) {
  OfferMemory memory(1024);
  const OfferRules rules{.fetched = kFetched};
  const auto count = [&](std::string_view text) {
    return offers_of_text(text, rules, &memory).size();
  };
  EXPECT_EQ(count(entry_of("2025-12-01")), 1U);
  EXPECT_EQ(count(entry_of("2025-12-01")), 0U);
  EXPECT_EQ(count(entry_of("2025-12-02")), 1U);
}

TEST(LinkOffers, LeaveOutFeedsWhereTheseAreNotFollowed) {
  const std::string page =
      "<link rel=alternate type='application/atom+xml; charset=utf-8' href=/a>"
      "<link rel=alternate type='Application/RSS+XML' href=/b><link rel=feed href=/c>"
      "<link rel=alternate hreflang=de href=/de>";
  EXPECT_EQ(offers_of_text(page, {}).size(), 4U);
  const auto offers = offers_of_text(page, {.follows_feeds = false});
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_EQ(offers[0].url, "http://example.org/de");
}

TEST(SitemapOffers, AreTheWellKnownOneWhereNoneIsNamed) {
  const auto url = web::Url::parse("https://example.org:8443/robots.txt");
  Candidate visit;
  visit.depth = 2;
  EXPECT_TRUE(sitemap_offers("User-agent: *\n", *url, visit).empty());
  const auto offers = sitemap_offers("", *url, visit, true);
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_EQ(offers[0].url, "https://example.org:8443/sitemap.xml");
  EXPECT_EQ(offers[0].depth, 2U);
  EXPECT_EQ(sitemap_offers("Sitemap: /other.xml\n", *url, visit, true).at(0).url,
            "https://example.org:8443/other.xml");
}

TEST(SitemapOffers, AreWhatRobotsTxtNamesInAnyGroupOnce) {
  const auto url = web::Url::parse("http://example.org/robots.txt");
  Candidate visit;
  visit.url = url->href();
  visit.depth = 2;
  const auto offers = sitemap_offers(
      "Sitemap: http://cdn.example.net/a.xml\nUser-agent: other\nDisallow: /\n"
      "sitemap: /b.xml#x\nSITEMAP: http://example.org:80/b.xml\nSitemap: ftp://example.org/c\n",
      *url, visit);
  ASSERT_EQ(offers.size(), 2U);
  const Candidate first = {.url = "http://cdn.example.net/a.xml",
                           .via = "http://example.org/robots.txt",
                           .depth = 2,
                           .hops = 0,
                           .offer = Offer::kSitemap};
  EXPECT_EQ(offers[0], first);
  EXPECT_EQ(offers[1].url, "http://example.org/b.xml");
}

TEST(RedirectOffer, KnowsAsWhatItsChainBegan) {
  const auto target = web::Url::parse("http://www.example.org/");
  Candidate seed;
  seed.url = "http://example.org/";
  const Candidate first = redirect_offer(*target, seed).value();
  EXPECT_TRUE(first.is_seed());
  const Candidate second = redirect_offer(*web::Url::parse("http://c.example/"), first).value();
  EXPECT_TRUE(second.is_seed());
  EXPECT_EQ(second.hops, 2);
  for (const Offer offer : {Offer::kLink, Offer::kEmbed, Offer::kHint, Offer::kSitemap}) {
    Candidate other = seed;
    other.offer = offer;  // of depth 0, as embeds of seeds are
    const Candidate led = redirect_offer(*target, other).value();
    EXPECT_FALSE(led.is_seed());
    EXPECT_EQ(led.chain, offer);
    EXPECT_FALSE(redirect_offer(*web::Url::parse("http://c.example/"), led)->is_seed());
  }
}

TEST(RedirectOffer, KeepsTheDepthAndCountsTheHops) {
  const auto url = web::Url::parse(from_page.url);
  const auto target = redirect_of(*url, "../other#part");
  ASSERT_TRUE(target);
  const Candidate expected = {.url = "http://example.org/other",
                              .via = from_page.url,
                              .depth = 3,
                              .hops = 3,
                              .offer = Offer::kRedirect};
  EXPECT_EQ(redirect_offer(*target, from_page), expected);
  EXPECT_FALSE(redirect_of(*url, "javascript:x()"));
  EXPECT_FALSE(redirect_of(*url, "http://"));
  EXPECT_FALSE(redirect_offer(*redirect_of(*url, "page#here"), from_page)) << "the page itself";
  Candidate chained = from_page;
  chained.hops = 255;
  EXPECT_EQ(redirect_offer(*target, chained)->hops, 255) << "it does not begin again";
}

}  // namespace
}  // namespace meguri::crawl
