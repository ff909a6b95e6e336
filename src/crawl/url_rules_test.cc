#include "crawl/url_rules.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace meguri::crawl {
namespace {

UrlRules rules_of(const ScopeOptions& options, const std::vector<std::string>& seeds) {
  auto rules = UrlRules::make(options, seeds);
  EXPECT_TRUE(rules) << rules.error().message();
  return *std::move(rules);
}

// The name of the reason against a link to `url`; "" if there is none.
std::string_view judge(const UrlRules& rules, std::string url, Offer offer = Offer::kLink,
                       std::string via = "http://www.example.org/docs/index.html",
                       Offer chain = Offer::kLink) {
  Candidate candidate;
  candidate.url = std::move(url);
  candidate.via = std::move(via);
  candidate.offer = offer;
  candidate.chain = chain;
  candidate.depth = 1;
  const auto reason = rules.check(candidate, 2026);
  return reason ? name_of(*reason) : "";
}

const std::vector<std::string> example_seeds = {"http://www.example.org/docs/index.html?x=/y/"};

TEST(UrlRules, HostScopeIsTheHostsOfTheSeeds) {
  const UrlRules rules = rules_of({.scope = Scope::kHost}, example_seeds);
  EXPECT_EQ(judge(rules, "http://www.example.org/"), "");
  EXPECT_EQ(judge(rules, "https://WWW.example.org:8080/other"), "");
  EXPECT_EQ(judge(rules, "http://example.org/"), "scope");
  EXPECT_EQ(judge(rules, "http://a.www.example.org/"), "scope");
}

TEST(UrlRules, DomainScopeIsTheirRegistrableDomains) {
  const UrlRules rules =
      rules_of({.scope = Scope::kDomain}, {"http://www.example.co.uk/", "http://192.0.2.1/"});
  EXPECT_EQ(judge(rules, "http://example.co.uk/"), "");
  EXPECT_EQ(judge(rules, "http://a.b.example.co.uk/"), "");
  EXPECT_EQ(judge(rules, "http://other.co.uk/"), "scope");
  EXPECT_EQ(judge(rules, "http://192.0.2.1/a"), "");
  EXPECT_EQ(judge(rules, "http://192.0.2.2/a"), "scope");
}

TEST(UrlRules, PrefixScopeIsWhatBeginsWithASeedUpToItsLastSlash) {
  const UrlRules rules = rules_of({.scope = Scope::kPrefix}, example_seeds);
  EXPECT_EQ(judge(rules, "http://www.example.org/docs/"), "");
  EXPECT_EQ(judge(rules, "http://www.example.org/docs/a/b.html?q=1"), "");
  EXPECT_EQ(judge(rules, "https://www.example.org/docs/a"), "");
  EXPECT_EQ(judge(rules, "http://www.example.org/docs"), "scope");
  EXPECT_EQ(judge(rules, "http://www.example.org/docs2/"), "scope");
  EXPECT_EQ(judge(rules, "http://www.example.org/?/docs/"), "scope");
  EXPECT_EQ(judge(rules, "http://www.example.org:81/docs/"), "scope");
  EXPECT_EQ(judge(rules, "http://www.example.org/"), "scope");
}

TEST(UrlRules, AnyScopeIsAllOfTheWeb) {
  const UrlRules rules = rules_of({.scope = Scope::kAny}, example_seeds);
  EXPECT_EQ(judge(rules, "http://example.com/"), "");
  EXPECT_EQ(judge(rules, "ftp://example.com/"), "scheme");
  EXPECT_EQ(judge(rules, "mailto:somebody@example.com"), "scheme");
  EXPECT_EQ(judge(rules, "/relative"), "not-a-url");
  EXPECT_EQ(judge(rules, "http://example.com/" + std::string(5000, 'a')), "too-long");
  EXPECT_EQ(judge(rules, "http://example.com:22/"), "bad-port");
  EXPECT_EQ(judge(rules, "http://example.com/a/b/a/b/a/b/"), "repeating-path");
  EXPECT_EQ(judge(rules, "http://example.com/calendar/2199/01/"), "calendar");
}

TEST(UrlRules, EmbedsMayBeOneHopOutside) {
  const UrlRules rules = rules_of({.scope = Scope::kHost}, example_seeds);
  const std::string inside = "http://www.example.org/";
  const std::string image = "http://images.example.com/a.png";
  EXPECT_EQ(judge(rules, image, Offer::kEmbed, inside), "");
  EXPECT_EQ(judge(rules, image, Offer::kLink, inside), "scope");
  EXPECT_EQ(judge(rules, image, Offer::kHint, inside), "scope");
  EXPECT_EQ(judge(rules, image, Offer::kEmbed, "http://styles.example.com/a.css"), "scope");
  EXPECT_EQ(judge(rules, image, Offer::kEmbed, ""), "scope");
  // A redirect leads out of the scope only if an embed began it.
  const std::string outside = "http://styles.example.com/a.png";
  EXPECT_EQ(judge(rules, image, Offer::kRedirect, inside, Offer::kLink), "scope");
  EXPECT_EQ(judge(rules, image, Offer::kRedirect, outside, Offer::kLink), "scope");
  EXPECT_EQ(judge(rules, image, Offer::kRedirect, inside, Offer::kEmbed), "");
  EXPECT_EQ(judge(rules, image, Offer::kRedirect, outside, Offer::kEmbed), "");

  const UrlRules without = rules_of({.scope = Scope::kHost, .embeds = false}, example_seeds);
  EXPECT_EQ(judge(without, image, Offer::kEmbed, inside), "embed");
  EXPECT_EQ(judge(without, inside + "a.png", Offer::kEmbed, inside), "embed");
}

TEST(UrlRules, SitemapsThatRobotsOfAHostInScopeNamesMayBeAnywhere) {
  for (const Scope scope : {Scope::kHost, Scope::kDomain, Scope::kPrefix}) {
    const UrlRules rules = rules_of({.scope = scope}, example_seeds);
    const std::string sitemap = "http://cdn.example.net/sitemap.xml";
    const std::string robots = "http://www.example.org/robots.txt";
    EXPECT_EQ(judge(rules, sitemap, Offer::kSitemap, robots), "");
    EXPECT_EQ(judge(rules, "http://www.example.org/s.xml", Offer::kSitemap, robots), "");
    EXPECT_EQ(judge(rules, sitemap, Offer::kHint, robots), "scope");
    EXPECT_EQ(judge(rules, sitemap, Offer::kSitemap, "http://cdn.example.net/robots.txt"), "scope");
    // What an index names that was visited as a sitemap, and where one leads.
    EXPECT_EQ(judge(rules, "http://b.example.com/1.xml", Offer::kSitemap, sitemap), "");
    EXPECT_EQ(judge(rules, "http://b.example.com/", Offer::kRedirect, sitemap, Offer::kSitemap),
              "");
    // But not what it lists.
    EXPECT_EQ(judge(rules, "http://b.example.com/page", Offer::kHint, sitemap), "scope");
    EXPECT_EQ(judge(rules, "http://www.example.org/docs/p", Offer::kHint, sitemap), "");
  }
}

TEST(UrlRules, SeedsAndWhatTheyRedirectToPassAndWidenTheScope) {
  UrlRules rules = rules_of({.scope = Scope::kHost}, {"http://example.org/"});
  const std::string target = "http://www.example.org/home/";
  EXPECT_EQ(judge(rules, target, Offer::kRedirect, "http://example.org/", Offer::kSeed), "");
  EXPECT_EQ(judge(rules, target, Offer::kRedirect, "http://example.org/", Offer::kLink), "scope");
  EXPECT_EQ(judge(rules, target, Offer::kSeed, ""), "");
  EXPECT_EQ(judge(rules, "http://intranet/", Offer::kSeed, ""), "") << "whoever gave it meant it";
  EXPECT_EQ(judge(rules, "http://intranet/", Offer::kRedirect, "", Offer::kSeed), "single-label");
  EXPECT_EQ(judge(rules, target), "scope") << "judging alone widens nothing";
  rules.widen(*web::Url::parse(target));
  EXPECT_EQ(judge(rules, target), "");
  EXPECT_EQ(judge(rules, "http://www.example.org/other"), "");
}

TEST(UrlRules, APlaceWidensAsTheUrlDoesThatItIsOf) {
  const auto url = web::Url::parse("https://www.intranet:8080/a/b/c?x=/y/");
  for (const Scope scope : {Scope::kHost, Scope::kDomain, Scope::kPrefix, Scope::kAny}) {
    UrlRules all = rules_of({.scope = scope}, {});
    UrlRules placed = rules_of({.scope = scope}, {});
    all.widen(*url);
    const std::string place = all.place_of(*url);
    placed.widen(*web::Url::parse(place));
    EXPECT_EQ(placed.place_of(*web::Url::parse(place)), place);
    for (const char* text : {"http://www.intranet:8080/a/b/d", "http://www.intranet:8080/a/",
                             "http://b.www.intranet/", "http://www.intranet/", "http://other/"}) {
      EXPECT_EQ(judge(placed, text), judge(all, text)) << text;
    }
  }
  EXPECT_EQ(rules_of({.scope = Scope::kAny}, {}).place_of(*web::Url::parse("http://a.org/")), "");
}

TEST(UrlRules, IncludesAndExcludesAreFoundAnywhereInTheUrl) {
  const UrlRules rules = rules_of(
      {.scope = Scope::kAny, .includes = {R"(\.html$)", "/docs/"}, .excludes = {"(?i)PRINT="}},
      example_seeds);
  EXPECT_EQ(judge(rules, "http://example.com/a.html"), "");
  EXPECT_EQ(judge(rules, "http://example.com/docs/a"), "");
  EXPECT_EQ(judge(rules, "http://example.com/a.html?"), "");  // canonical: without the empty query
  EXPECT_EQ(judge(rules, "http://example.com/a.png"), "not-included");
  EXPECT_EQ(judge(rules, "http://example.com/docs/?print=1"), "excluded");
  // Seeds and embeds are not exempt.
  EXPECT_EQ(judge(rules, "http://example.com/seed", Offer::kSeed), "not-included");
  EXPECT_EQ(judge(rules, "http://example.com/docs/?print=1", Offer::kEmbed), "excluded");
}

TEST(UrlRules, SaysWhichPatternCannotBeUsed) {
  const auto rules = UrlRules::make({.includes = {"good"}, .excludes = {"a(b"}}, example_seeds);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code(), base::ErrorCode::kInvalid);
  EXPECT_TRUE(rules.error().message().starts_with("the exclude pattern \"a(b\" cannot be used: "))
      << rules.error().message();
  // More than its memory would hold.
  EXPECT_FALSE(UrlRules::make({.includes = {"((((a{100}){10}){10}){10}){10}"}}, example_seeds));
}

// With a matcher that goes back this would take longer than the world lasts, or the whole stack.
TEST(UrlRules, PatternsAreLinearInTheUrl) {
  const UrlRules rules = rules_of(
      {.scope = Scope::kAny, .excludes = {"(a|a)*(a|aa)*(a*)*b$", "(x+x+)+y"}}, example_seeds);
  EXPECT_EQ(judge(rules, "http://example.com/" + std::string(4000, 'a')), "");
  EXPECT_EQ(judge(rules, "http://example.com/" + std::string(4000, 'x')), "");
  EXPECT_EQ(judge(rules, "http://example.com/" + std::string(4000, 'a') + "b"), "excluded");
}

TEST(UrlRules, DepthAndHopsHaveLimits) {
  const UrlRules rules =
      rules_of({.scope = Scope::kAny, .depth_max = 2, .hops_max = 3}, example_seeds);
  Candidate candidate;
  candidate.url = "http://example.com/";
  candidate.depth = 2;
  candidate.hops = 3;
  EXPECT_EQ(rules.check(candidate, 0), std::nullopt);
  candidate.hops = 4;
  EXPECT_EQ(rules.check(candidate, 0), UrlReason::kHops);
  candidate.depth = 3;
  EXPECT_EQ(rules.check(candidate, 0), UrlReason::kDepth);
}

TEST(UrlRules, AcceptedUrlsAreCanonical) {
  const UrlRules rules = rules_of({.scope = Scope::kAny}, example_seeds);
  Candidate candidate;
  candidate.url = "HTTP://user@Example.COM.:80/%7ea/%c3?#part";
  EXPECT_EQ(rules.check(candidate, 0), std::nullopt);
  EXPECT_EQ(candidate.url, "http://example.com/~a/%C3");
}

TEST(UrlRules, NamesThatNobodyRegisteredAreForCrawlsWithSuchSeeds) {
  const UrlRules strict = rules_of({.scope = Scope::kAny}, example_seeds);
  EXPECT_EQ(judge(strict, "http://localhost/"), "single-label");
  EXPECT_EQ(judge(strict, "http://www.kotamira.test/"), "unknown-suffix");
  const UrlRules open = rules_of({.scope = Scope::kAny}, {"http://www.kotamira.test:8080/"});
  EXPECT_EQ(judge(open, "http://localhost/"), "");
  EXPECT_EQ(judge(open, "http://blog.kotamira.test/"), "");
}

TEST(UrlRules, EveryReasonHasAName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kUrlReasons; ++i) names.insert(name_of(static_cast<UrlReason>(i)));
  EXPECT_EQ(names.size(), kUrlReasons);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(UrlRules, WhatIsATrapIsForTheOptionsToSay) {
  const std::vector<std::string> seeds = {"http://www.example.org/"};
  const std::string site = "http://www.example.org/";
  const UrlRules usual = rules_of({.scope = Scope::kHost}, seeds);
  EXPECT_EQ(judge(usual, site + std::string(5000, 'a')), "too-long");
  EXPECT_EQ(judge(usual, site + "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21"),
            "too-deep");
  EXPECT_EQ(judge(usual, site + "a/b/a/b/a/b/"), "repeating-path");
  EXPECT_EQ(judge(usual, site + "?PHPSESSID=0123456789abcdef0123"), "session-id");
  EXPECT_EQ(judge(usual, site + "calendar/2040/01/"), "calendar");
  EXPECT_EQ(judge(usual, site + "calendar/1900/01/"), "");

  ScopeOptions loose{.scope = Scope::kHost};
  loose.url = {.bytes_max = 10'000,
               .depth_max = 30,
               .repeats_max = 5,
               .allow_session_ids = true,
               .years_back_max = 20,
               .years_ahead_max = 20};
  const UrlRules other = rules_of(loose, seeds);
  EXPECT_EQ(judge(other, site + std::string(5000, 'a')), "");
  EXPECT_EQ(judge(other, site + "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21"), "");
  EXPECT_EQ(judge(other, site + "a/b/a/b/a/b/"), "");
  EXPECT_EQ(judge(other, site + "?PHPSESSID=0123456789abcdef0123"), "");
  EXPECT_EQ(judge(other, site + "calendar/2040/01/"), "");
  EXPECT_EQ(judge(other, site + "calendar/1900/01/"), "calendar");
}

}  // namespace
}  // namespace meguri::crawl
