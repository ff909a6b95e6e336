#include "web/robots.h"

#include <gtest/gtest.h>

#include <string>

#include "web/robots_lines.h"
#include "web/testing.h"

namespace meguri::web {
namespace {

bool allowed(std::string_view file, std::string_view agent, std::string_view path) {
  return Robots::parse(file, agent).check(path).allowed;
}

TEST(Robots, TheSimpleExampleOfTheRfcHolds) {
  READ_TEST_DATA(file, "robots/rfc9309-example-simple-robots.txt");
  EXPECT_FALSE(allowed(file, "anybot", "/a.gif"));
  EXPECT_TRUE(allowed(file, "anybot", "/a.gif?x"));
  EXPECT_FALSE(allowed(file, "anybot", "/example/"));
  EXPECT_TRUE(allowed(file, "anybot", "/publications/"));
  EXPECT_FALSE(allowed(file, "anybot", "/example/page.html"));
  EXPECT_TRUE(allowed(file, "anybot", "/"));
  EXPECT_FALSE(allowed(file, "foobot", "/"));
  EXPECT_TRUE(allowed(file, "foobot", "/example/page.html"));
  EXPECT_TRUE(allowed(file, "foobot", "/example/allowed.gif"));
  EXPECT_FALSE(allowed(file, "foobot", "/example/"));
  for (const std::string_view agent : {"barbot", "bazbot"}) {
    EXPECT_FALSE(allowed(file, agent, "/example/page.html"));
    EXPECT_TRUE(allowed(file, agent, "/example/allowed.gif"));
    EXPECT_TRUE(allowed(file, agent, "/a.gif"));
  }
  EXPECT_TRUE(allowed(file, "quxbot", "/example/page.html")) << "a group without rules";
  EXPECT_TRUE(Robots::parse(file, "quxbot").flags().own_group);
  EXPECT_EQ(Robots::parse(file, "foobot").check("/").line, 10);
  EXPECT_EQ(Robots::parse(file, "anybot").check("/a.gif").rule, "*.gif$");
}

TEST(Robots, TheLongestMatchExampleOfTheRfcHolds) {
  READ_TEST_DATA(file, "robots/rfc9309-example-longest-match-robots.txt");
  EXPECT_TRUE(allowed(file, "foobot", "/example/page/"));
  EXPECT_TRUE(allowed(file, "foobot", "/example/page/allowed.gif"));
  EXPECT_FALSE(allowed(file, "foobot", "/example/page/disallowed.gif"));
  EXPECT_TRUE(allowed(file, "other", "/example/page/disallowed.gif"));
}

TEST(Robots, TheMergingExampleOfTheRfcHolds) {
  READ_TEST_DATA(file, "robots/rfc9309-example-rule-group-merging.txt");
  for (const std::string_view path : {"/foo", "/bar", "/baz"}) {
    EXPECT_FALSE(allowed(file, "examplebot", path)) << path;
    EXPECT_EQ(allowed(file, "BazBot", path), path != "/baz") << path;
    EXPECT_EQ(allowed(file, "other", path), path == "/baz") << path;
  }
}

TEST(Robots, GroupsThatShareAnAgentAreMerged) {
  READ_TEST_DATA(file, "robots/merge-rules.txt");
  EXPECT_FALSE(allowed(file, "testy", "/"));
  EXPECT_FALSE(allowed(file, "curl", "/any"));
  EXPECT_TRUE(allowed(file, "wget", "/foo/bar")) << "Allow wins over Disallow of equal length";
  EXPECT_FALSE(allowed(file, "wget", "/tmp/bar"));
  EXPECT_TRUE(allowed(file, "wget", "/ckh/bar"));
  EXPECT_FALSE(allowed(file, "other", "/foo/bar"));
  EXPECT_FALSE(allowed(file, "other", "/tmp/bar"));
}

TEST(Robots, ByteOrderMarksAreUnderstood) {
  for (const char* name :
       {"robots/robots-with-utf8-bom.txt", "robots/robots-with-utf16be-bom.txt"}) {
    READ_TEST_DATA(file, name);
    const Robots robots = Robots::parse(file, "meguri");
    EXPECT_TRUE(robots.flags().star_group);
    EXPECT_EQ(robots.check("/profile").line, 4);
    EXPECT_EQ(robots.check("/a/output/print").rule, "/*/output/print");
    EXPECT_TRUE(robots.check("/index.html").allowed);
    EXPECT_EQ(robots.sitemaps(),
              std::vector<std::string>{"http://www.newsweek.com/sitemap_index.xml"});
    EXPECT_EQ(Robots::parse(file, "googlebot").check("/profile").line, 12);
  }
  std::string little("\xFF\xFE", 2);
  for (const char c : std::string_view("User-agent: *\r\nDisallow: /\r\n")) {
    little.append({c, '\0'});
  }
  EXPECT_EQ(Robots::parse(little, "meguri").check("/a").line, 2);
}

TEST(Robots, WildcardsOfALargeSiteHold) {
  READ_TEST_DATA(file, "robots/wildcards.txt");
  const Robots any = Robots::parse(file, "meguri");
  EXPECT_FALSE(any.check("/wishlist/bogus").allowed);
  EXPECT_TRUE(any.check("/wishlist/universal/page").allowed);
  EXPECT_TRUE(any.check("/gp/wishlist/ipad-install-now").allowed);
  EXPECT_FALSE(any.check("/gp/registry/wishlist/a/reserve").allowed);
  EXPECT_EQ(any.check("/gp/registry/wishlist/a/reserve").rule, "/gp/registry/wishlist/*/reserve");
  EXPECT_FALSE(any.check("/fruit/gcrnsts").allowed);
  EXPECT_TRUE(any.check("/rss/people/me/reviews").allowed);
  EXPECT_TRUE(any.check("/").allowed);
  EXPECT_EQ(any.sitemaps().size(), 8);
  const Robots google = Robots::parse(file, "Googlebot");
  EXPECT_FALSE(google.check("/rss/people/me/reviews").allowed);
  EXPECT_FALSE(google.check("/x/sim/B001132UEE").allowed);
  EXPECT_FALSE(Robots::parse(file, "EtaoSpider").check("/").allowed);
}

TEST(Robots, AgentsAreWholeProductTokensInAnyCase) {
  const auto disallowed = [](std::string_view line, std::string_view agent) {
    return !allowed("User-agent: " + std::string(line) + "\nDisallow: /\n", agent, "/");
  };
  for (const std::string_view line : {"meguri", "MEGURI", "Meguri/1.0", "meguri 2.0 (+http://x/)",
                                      "meguri*", "meguri, other", "meguri2", "*", "* meguri"}) {
    EXPECT_TRUE(disallowed(line, "meguri")) << line;
    EXPECT_TRUE(disallowed(line, "Meguri/1.0 (+https://example.org/)")) << line;
  }
  for (const std::string_view line : {"meguri-images", "meguri_", "meg", "other", "", "*meguri",
                                      "/meguri", "other meguri", "\"meguri\"", "2meguri"}) {
    EXPECT_FALSE(disallowed(line, "meguri")) << line;
  }
  EXPECT_FALSE(disallowed("Googlebot-Image", "Googlebot"));
  EXPECT_FALSE(disallowed("Googlebot", "Googlebot-Image"));
  EXPECT_FALSE(disallowed("", "")) << "an empty token matches no line";
}

TEST(Robots, OwnGroupReplacesTheGroupOfEveryone) {
  const std::string_view file =
      "User-agent: *\nDisallow: /\n\nUser-agent: meguri\nDisallow: /private\n";
  EXPECT_TRUE(allowed(file, "meguri", "/public"));
  EXPECT_FALSE(allowed(file, "meguri", "/private"));
  EXPECT_FALSE(allowed(file, "other", "/public"));
}

TEST(Robots, OnlyRulesEndTheListOfAgents) {
  const std::string_view file =
      "User-agent: a\nSitemap: http://x/s.xml\n\nFoo: bar\nCrawl-delay: 5\nUser-agent: b\n"
      "Disallow: /x\n\nDisallow: /y\nUser-agent: c\nDisallow: /z\n";
  for (const std::string_view agent : {"a", "b"}) {
    EXPECT_FALSE(allowed(file, agent, "/x")) << agent;
    EXPECT_FALSE(allowed(file, agent, "/y")) << agent;
    EXPECT_TRUE(allowed(file, agent, "/z")) << agent;
  }
  EXPECT_TRUE(allowed(file, "c", "/x"));
  EXPECT_FALSE(allowed("User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /\n", "b", "/"));
  EXPECT_TRUE(allowed("User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /\n", "a", "/"));
}

TEST(Robots, RulesOutsideOfGroupsAndEmptyOnesMatchNothing) {
  EXPECT_TRUE(allowed("Disallow: /\nUser-agent: *\nDisallow: /x\n", "meguri", "/a"));
  EXPECT_TRUE(allowed("User-agent: *\nDisallow:\n", "meguri", "/a"));
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: a\nDisallow: http://h/a\n", "meguri", "/a"));
  EXPECT_TRUE(allowed("", "meguri", "/a"));
  EXPECT_TRUE(Robots::allow_all().check("/a").allowed);
  EXPECT_TRUE(Robots::allow_all().blob().empty());
}

TEST(Robots, RobotsTxtItselfIsAlwaysAllowed) {
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /\n", "meguri", "/robots.txt"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /\n", "meguri", "/robots.txt.bak"));
  EXPECT_TRUE(Robots::disallow_all().check("/robots.txt").allowed);
  EXPECT_FALSE(Robots::disallow_all().check("/").allowed);
  EXPECT_FALSE(Robots::disallow_all().check("").allowed);
  EXPECT_EQ(Robots::disallow_all().check("/a").line, 0);
}

TEST(Robots, LinesEndWithAnyOfThreeAndAreCountedOnce) {
  const Robots robots =
      Robots::parse("User-agent: *\r\nDisallow: /a\rDisallow: /b\n\n\r\rDisallow: /c", "meguri");
  EXPECT_EQ(robots.check("/a").line, 2);
  EXPECT_EQ(robots.check("/b").line, 3);
  EXPECT_EQ(robots.check("/c").line, 7);
}

TEST(Robots, SlipsOfSiteOwnersAreUnderstood) {
  for (const std::string_view agent :
       {"user-agent: *", "USER-AGENT:*", "useragent: *", "User agent: *", "user-agent *",
        "user-agent\t*", "  User-Agent  :  *  # all", "user-agents: *"}) {
    EXPECT_FALSE(allowed(std::string(agent) + "\ndisallow: /\n", "meguri", "/")) << agent;
  }
  for (const std::string_view rule :
       {"Disallow: /", "disallow /", "dissallow: /", "Dissalow: /", "disalow: /", "DIASLLOW:/",
        "disallaw: /", "Disallow : / # no", "disallow:/", "\tdisallow:\t/\t"}) {
    EXPECT_FALSE(allowed("user-agent: *\n" + std::string(rule), "meguri", "/")) << rule;
  }
  for (const std::string_view rule : {"disallow / x", "#disallow: /", "dis allow: /", ": /",
                                      "disallow: #/", "noindex: /", "/", "disallow"}) {
    EXPECT_TRUE(allowed("user-agent: *\n" + std::string(rule), "meguri", "/")) << rule;
  }
  EXPECT_TRUE(allowed("user-agent: *\ndisallow: /\nallow /a\n", "meguri", "/a"));
}

TEST(Robots, SitemapsAreOfTheWholeFile) {
  const Robots robots = Robots::parse(
      "Sitemap: http://h/1.xml\nUser-agent: x\nsite-map: http://h/2.xml\nDisallow: /\n"
      "SITEMAP:http://h/3.xml\nsitemap: http://h/1.xml\nSitemap:\nSitemap: /4.xml #four\n",
      "meguri");
  EXPECT_EQ(robots.sitemaps(), (std::vector<std::string>{"http://h/1.xml", "http://h/2.xml",
                                                         "http://h/3.xml", "/4.xml"}));
  std::string many;
  for (int i = 0; i < 1500; ++i) many += "Sitemap: /" + std::to_string(i) + "\n";
  EXPECT_EQ(Robots::parse(many, "meguri").sitemaps().size(), kRobotsSitemapsMax);
  EXPECT_TRUE(Robots::parse("Sitemap: /" + std::string(5000, 'a'), "meguri").sitemaps().empty());
}

TEST(Robots, CrawlDelayIsThatOfOurGroupElseOfEveryone) {
  const std::string_view file =
      "User-agent: a\nCrawl-delay: 10\n\nUser-agent: *\nCrawl-delay: 2.5\nDisallow: /x\n"
      "User-agent: b\nDisallow: /y\n\nUser-agent: c\nRequest-rate: 1/3\nCrawl-delay: 1\n";
  const auto delay_ms = [&](std::string_view agent) {
    const auto delay = Robots::parse(file, agent).crawl_delay();
    return delay ? delay->ms() : -1;
  };
  EXPECT_EQ(delay_ms("a"), 10'000);
  EXPECT_EQ(delay_ms("b"), 2500);
  EXPECT_EQ(delay_ms("c"), 3000);
  EXPECT_EQ(delay_ms("other"), 2500);
  EXPECT_FALSE(Robots::parse("User-agent: *\nDisallow: /", "a").crawl_delay());
  EXPECT_FALSE(Robots::parse("Crawl-delay: 5\nUser-agent: *\nDisallow: /", "a").crawl_delay());
  EXPECT_EQ(Robots::parse("User-agent: *\nCrawl-delay: 0", "a").crawl_delay(), base::Duration());
}

TEST(RobotsLines, DelaysAndRatesAreParsedOrIgnored) {
  const auto delay = [](std::string_view text) {
    const auto parsed = parse_crawl_delay(text);
    return parsed ? parsed->ms() : -1;
  };
  EXPECT_EQ(delay("5"), 5000);
  EXPECT_EQ(delay("0.5"), 500);
  EXPECT_EQ(delay(".25"), 250);
  EXPECT_EQ(delay("1."), 1000);
  EXPECT_EQ(delay("1.23456789"), 1234);
  EXPECT_EQ(delay("99999999999999999999"), kRobotsDelayMax.ms());
  for (const std::string_view bad :
       {"", ".", "-1", "+1", "1s", "1 2", "1,5", "1e3", "abc", "1..2", "inf", "nan"}) {
    EXPECT_EQ(delay(bad), -1) << bad;
  }
  const auto rate = [](std::string_view text) {
    const auto parsed = parse_request_rate(text);
    return parsed ? parsed->ms() : -1;
  };
  EXPECT_EQ(rate("1/10"), 10'000);
  EXPECT_EQ(rate("30/1m"), 2000);
  EXPECT_EQ(rate("2/1h 0600-0845"), 1'800'000);
  EXPECT_EQ(rate("100/5s"), 50);
  EXPECT_EQ(rate("0/5"), -1);
  EXPECT_EQ(rate("1/5x"), -1);
  EXPECT_EQ(rate("1"), -1);
}

TEST(Robots, PagesSentInsteadMakeNoRules) {
  const Robots robots = Robots::parse(
      "\xEF\xBB\xBF\n <!DOCTYPE html><html><pre>\nUser-agent: *\nDisallow: /\n</pre>", "meguri");
  EXPECT_TRUE(robots.check("/").allowed);
  EXPECT_TRUE(robots.flags().markup);
}

TEST(Robots, WhatLiesBehindTheSizeLimitIsIgnoredWithTheLineItCuts) {
  std::string file = "User-agent: *\nDisallow: /first\n";
  file.append(kRobotsBytesMax - file.size() - 8, '#');
  file += "\nDisallow: /cut\nDisallow: /behind\n";
  const Robots robots = Robots::parse(file, "meguri");
  EXPECT_TRUE(robots.flags().bytes_cut);
  EXPECT_FALSE(robots.check("/first").allowed);
  EXPECT_TRUE(robots.check("/cut").allowed);
  EXPECT_TRUE(robots.check("/behind").allowed);
  EXPECT_TRUE(robots.check("/").allowed);

  std::string whole = "User-agent: *\n";
  whole.append(kRobotsBytesMax - whole.size() - 14, '#');
  whole += "\nDisallow: /in";
  ASSERT_EQ(whole.size(), kRobotsBytesMax);
  EXPECT_FALSE(Robots::parse(whole + "\n# more", "meguri").check("/in").allowed);
  EXPECT_FALSE(Robots::parse(whole, "meguri").flags().bytes_cut);
  EXPECT_TRUE(Robots::parse(whole + "side\n", "meguri").check("/inside").allowed);
}

TEST(Robots, OverlongRulesForbidMoreNeverLess) {
  const std::string path = "/" + std::string(3000, 'a');
  const Robots cut = Robots::parse("User-agent: *\nDisallow: " + path, "meguri");
  EXPECT_TRUE(cut.flags().rule_cut);
  EXPECT_FALSE(cut.check(path).allowed);
  EXPECT_FALSE(cut.check(path.substr(0, kRobotsRuleBytesMax)).allowed);
  EXPECT_TRUE(cut.check(path.substr(0, kRobotsRuleBytesMax - 1)).allowed);
  const Robots ignored = Robots::parse("User-agent: *\nDisallow: /\nAllow: " + path, "meguri");
  EXPECT_TRUE(ignored.flags().rules_ignored);
  EXPECT_FALSE(ignored.check(path).allowed);

  const std::string escape = "/" + std::string(kRobotsRuleBytesMax - 3, 'a') + "%C3%A9";
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: " + escape, "meguri", escape));
  const std::string dollar = "/" + std::string(kRobotsRuleBytesMax - 2, 'a') + "$bc";
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: " + dollar, "meguri", dollar));
}

TEST(Robots, RulesBeyondTheLimitAreIgnoredAndSaid) {
  std::string file = "User-agent: *\n";
  for (std::size_t i = 0; i <= kRobotsRulesMax; ++i) {
    file += "Disallow: /" + std::to_string(i) + "$\n";
  }
  const Robots robots = Robots::parse(file, "meguri");
  EXPECT_TRUE(robots.flags().rules_ignored);
  EXPECT_FALSE(robots.check("/0").allowed);
  EXPECT_FALSE(robots.check("/" + std::to_string(kRobotsRulesMax - 1)).allowed);
  EXPECT_TRUE(robots.check("/" + std::to_string(kRobotsRulesMax)).allowed);
}

TEST(Robots, ADisallowForAnyAgentCountsIfAsked) {
  const std::string_view file =
      "User-agent: *\nAllow: /\nDisallow: /mine\nAllow: /mine/ok\n\nUser-agent: gptbot\n"
      "Disallow: /secret\nAllow: /secret/open\n\nUser-agent: meguri\nDisallow: /own\n";
  const auto strict = [&](std::string_view agent, std::string_view path) {
    return Robots::parse(file, agent, RobotsScope::kAnyAgent).check(path);
  };
  EXPECT_TRUE(allowed(file, "other", "/secret"));
  EXPECT_EQ(strict("other", "/secret").line, 7);
  EXPECT_FALSE(strict("other", "/secret").allowed);
  EXPECT_FALSE(strict("other", "/secret/open").allowed);
  EXPECT_FALSE(strict("other", "/own").allowed);
  EXPECT_TRUE(strict("other", "/mine/ok").allowed);
  EXPECT_TRUE(strict("other", "/else").allowed);
  EXPECT_FALSE(strict("meguri", "/mine").allowed);
  EXPECT_FALSE(strict("meguri", "/mine/ok").allowed) << "another group's Allow lifts nothing";
}

TEST(Robots, BlobsAnswerLikeTheFileTheyCameFrom) {
  READ_TEST_DATA(file, "robots/wildcards.txt");
  const Robots robots =
      Robots::parse(file + "\nUser-agent: *\nCrawl-delay: 1.5\n", "meguri", RobotsScope::kAnyAgent);
  const auto copy = Robots::from_blob(robots.blob());
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->blob(), robots.blob());
  EXPECT_EQ(copy->flags(), robots.flags());
  EXPECT_EQ(copy->crawl_delay(), base::Duration::from_ms(1500));
  for (const std::string_view path : {"/", "/gp/cart", "/wishlist/universal", "/a/gcrnsts"}) {
    EXPECT_EQ(copy->check(path).allowed, robots.check(path).allowed) << path;
    EXPECT_EQ(copy->check(path).line, robots.check(path).line) << path;
  }
  for (std::size_t length = 1; length < robots.blob().size(); ++length) {
    ASSERT_FALSE(Robots::from_blob(robots.blob().substr(0, length))) << length;
  }
  EXPECT_TRUE(Robots::from_blob("")->check("/").allowed);
  EXPECT_FALSE(Robots::from_blob("x"));
}

TEST(Robots, StatusesMeanWhatTheRfcSays) {
  for (const int status : {200, 206, 299}) {
    EXPECT_EQ(robots_for_status(status), RobotsPolicy::kParse) << status;
  }
  for (const int status : {301, 307, 400, 401, 403, 404, 410, 451, 499}) {
    EXPECT_EQ(robots_for_status(status), RobotsPolicy::kAllowAll) << status;
  }
  for (const int status : {0, 100, 429, 500, 503, 599, 600, -1}) {
    EXPECT_EQ(robots_for_status(status), RobotsPolicy::kDisallowAll) << status;
  }
  EXPECT_EQ(robots_for_status(304), RobotsPolicy::kKeep);
}

}  // namespace
}  // namespace meguri::web
