#include "sim/captures.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/world_testing.h"

namespace meguri::sim {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kStart = kTestStart;

World small_world() { return World(test_world(40, 400)); }

TEST(Captures, AreReadInAllTheirForms) {
  const auto captures = parse_captures(
      "# remark\n"
      "http://a.test/x 2026-01-02T03:04:05Z\n"
      "\n"
      "http://a.test/y\t20260102030405678\r\n"
      "!meta {}\n"
      "test,a)/z 20260102030405 {\"mime\": \"text/html\", \"url\": "
      "\"http:\\/\\/a.test/z?a=1\\u0026b\"}");
  ASSERT_TRUE(captures) << captures.error().message();
  const Instant time = Instant::parse_rfc3339("2026-01-02T03:04:05Z").value();
  const std::vector<Capture> expected = {
      {"http://a.test/x", time},
      {"http://a.test/y", time + Duration::from_ms(678)},
      {"http://a.test/z?a=1&b", time},
  };
  EXPECT_EQ(*captures, expected);
}

TEST(Captures, RubbishIsNamedByItsLine) {
  for (const std::string line :
       {"http://a.test/", "http://a.test/ yesterday", "http://a.test/ 20260102030405 more",
        "a 20260102030405 {\"mime\": \"x\"}", "a 20260102030405 {\"url\": \"http://a.test",
        "a 20260102030405 {\"url\": \"\\u0000\"}"}) {
    const auto captures = parse_captures("\n" + line + "\n");
    ASSERT_FALSE(captures) << line;
    EXPECT_TRUE(captures.error().message().starts_with("line 2 ")) << captures.error().message();
  }
}

TEST(Captures, OfEveryVersionHoldEverything) {
  const World world = small_world();
  const Period period = {kStart, kStart + Duration::days(50)};
  std::vector<Capture> captures;
  std::size_t pages = 0;
  for (HostNumber host = 0; host < 40; ++host) {
    const Site site(world.census(), host);
    for (PageNumber page = 0; page < site.pages(); ++page) {
      const std::string url = "http://" + world.census().name_of(host) + site.address_of(page);
      const auto versions =
          world.page(site, page).history().versions(period.from, period.to, 1'000'000);
      if (!versions.empty()) ++pages;
      for (const Version& version : versions) {
        captures.push_back({url, std::max(version.since, period.from)});
      }
    }
  }
  captures.push_back({"http://example.com/", kStart});
  captures.push_back({"http://" + world.census().name_of(0) + "/robots.txt", kStart});
  captures.push_back({"http://" + world.census().name_of(0) + "/", kStart - Duration::days(1)});
  const CaptureReport all = judge_captures(world, captures, period, {});
  EXPECT_EQ(all.pages, pages);
  EXPECT_EQ(all.pages_captured, pages);
  EXPECT_EQ(all.captures, captures.size());
  EXPECT_EQ(all.captures_of_no_page, 3U);
  EXPECT_EQ(all.holdings.recall(), 1);
  EXPECT_EQ(all.holdings.coverage(), 1);
  EXPECT_EQ(all.holdings.waste(), 0);

  const CaptureReport none = judge_captures(world, {}, period, {});
  EXPECT_EQ(none.pages, pages);
  EXPECT_EQ(none.pages_captured, 0U);
  EXPECT_EQ(none.holdings.recall(), 0);

  const std::string seed = "http://" + world.census().name_of(world.census().host_of_rank(0)) + "/";
  const CaptureReport reached =
      judge_captures(world, captures, period, std::vector<std::string>{seed});
  EXPECT_LT(reached.pages, pages);
  EXPECT_GT(reached.pages, pages / 3);
  EXPECT_EQ(reached.holdings.recall(), 1);
}

}  // namespace
}  // namespace meguri::sim
