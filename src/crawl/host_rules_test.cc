#include "crawl/host_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace meguri::crawl {
namespace {

HostRule rule_for(std::vector<std::string> matches) {
  HostRule rule;
  rule.matches = std::move(matches);
  return rule;
}

TEST(HostRules, WithoutRulesAllHostsAreAlike) {
  CrawlOptions options;
  options.pages_per_host_max = 7;
  options.user_agent = "us";
  options.proxy = "http://proxy:1";
  HostRules rules(options);
  const HostPolicy& policy = rules.of("www.example.org");
  EXPECT_EQ(policy.pages_max, 7U);
  EXPECT_EQ(policy.user_agent, "us");
  EXPECT_EQ(policy.proxy, "http://proxy:1");
  EXPECT_TRUE(policy.obeys_robots);
  EXPECT_FALSE(policy.wait_ms);
  EXPECT_EQ(&policy, &rules.of("other.example"));
}

TEST(HostRules, AStarTakesTheDomainAndAllBelowIt) {
  CrawlOptions options;
  HostRule rule = rule_for({"*.Example.org"});
  rule.wait_ms = 1;
  options.hosts = {rule};
  HostRules rules(options);
  EXPECT_EQ(rules.of("example.org").wait_ms, 1U);
  EXPECT_EQ(rules.of("a.b.example.org").wait_ms, 1U);
  EXPECT_FALSE(rules.of("badexample.org").wait_ms);
  EXPECT_FALSE(rules.of("org").wait_ms);
  EXPECT_FALSE(rules.of("example.org.evil.com").wait_ms);
}

TEST(HostRules, ANameIsThatHostAlone) {
  CrawlOptions options;
  HostRule rule = rule_for({"example.org", "[::1]", "日本.jp"});
  rule.is_paused = true;
  options.hosts = {rule};
  HostRules rules(options);
  EXPECT_TRUE(rules.of("example.org").is_paused);
  EXPECT_TRUE(rules.of("[::1]").is_paused);
  EXPECT_TRUE(rules.of("xn--wgv71a.jp").is_paused);
  EXPECT_FALSE(rules.of("www.example.org").is_paused);
}

TEST(HostRules, TheLastRuleThatSaysSomethingCounts) {
  CrawlOptions options;
  HostRule all = rule_for({"*"});
  all.wait_ms = 1000;
  all.obeys_robots = false;
  all.fields = {{.name = "Cookie", .value = "a"}};
  HostRule one = rule_for({"www.example.org"});
  one.wait_ms = 2000;
  one.fields = {{.name = "cookie", .value = "b"}, {.name = "X-Other", .value = "c"}};
  options.hosts = {all, one};
  HostRules rules(options);
  const HostPolicy& both = rules.of("www.example.org");
  EXPECT_EQ(both.wait_ms, 2000U);
  EXPECT_FALSE(both.obeys_robots);
  ASSERT_EQ(both.fields.size(), 2U);
  EXPECT_EQ(both.fields[0].value, "b");
  EXPECT_EQ(rules.of("example.org").wait_ms, 1000U);
  EXPECT_EQ(&rules.of("a.example"), &rules.of("b.example")) << "one policy for both";
}

TEST(HostRules, NoProxyIsSaidBeforeTheRules) {
  CrawlOptions options;
  options.proxy = "http://proxy:1";
  options.no_proxy = {"*.internal", "near.example"};
  HostRule rule = rule_for({"far.internal"});
  rule.proxy = "socks5h://proxy:2";
  options.hosts = {rule};
  HostRules rules(options);
  EXPECT_EQ(rules.of("www.example.org").proxy, "http://proxy:1");
  EXPECT_EQ(rules.of("a.internal").proxy, "");
  EXPECT_EQ(rules.of("near.example").proxy, "");
  EXPECT_EQ(rules.of("far.internal").proxy, "socks5h://proxy:2");
}

TEST(HostRules, WhatIsNoHostMatchesNone) {
  for (const char* text : {"", "*.", "a b", "a/b", "a:80", "http://a/", "a.*.b", "*a", "u@a"}) {
    EXPECT_FALSE(canonical_match(text)) << text;
  }
  EXPECT_EQ(canonical_match("*"), "*");
  EXPECT_EQ(canonical_match("*.EXAMPLE.org"), "*.example.org");
}

}  // namespace
}  // namespace meguri::crawl
