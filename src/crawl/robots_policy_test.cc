#include "crawl/robots_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::crawl {
namespace {

using base::Duration;
using base::Instant;

constexpr Instant kNow = Instant::from_ms(1'800'000'000'000);
constexpr Duration kAgeMax = Duration::hours(24);
constexpr const char* kText = "User-agent: *\nDisallow: /x\nCrawl-delay: 7\n";

TEST(RobotsPolicy, HoldsRulesUpToTheirAge) {
  RobotsRecord record;
  EXPECT_EQ(robots_step(record, kNow, kAgeMax), RobotsStep::kAsk);
  take_robots(record, 200, kText, "meguri", kNow);
  EXPECT_FALSE(record.rules.check("/x").allowed);
  EXPECT_EQ(robots_step(record, kNow + kAgeMax, kAgeMax), RobotsStep::kUse);
  EXPECT_EQ(robots_step(record, kNow + kAgeMax + Duration::from_ms(1), kAgeMax), RobotsStep::kAsk);
  EXPECT_EQ(robots_step(record, kNow - Duration::from_ms(1), kAgeMax), RobotsStep::kAsk)
      << "the clock was set back";
  take_robots(record, 304, "", "meguri", kNow + kAgeMax * 2);
  EXPECT_EQ(robots_step(record, kNow + kAgeMax * 2, kAgeMax), RobotsStep::kUse);
  EXPECT_FALSE(record.rules.check("/x").allowed);
  take_robots(record, 404, "", "meguri", kNow + kAgeMax * 3);
  EXPECT_TRUE(record.rules.check("/x").allowed);
}

TEST(RobotsPolicy, WaitsLongerAfterEveryFailure) {
  EXPECT_EQ(robots_wait(1), Duration::seconds(30));
  EXPECT_EQ(robots_wait(2), Duration::minutes(2));
  EXPECT_EQ(robots_wait(3), Duration::minutes(10));
  EXPECT_EQ(robots_wait(4), Duration::minutes(40));
  EXPECT_EQ(robots_wait(100), Duration::days(1));
  RobotsRecord record;
  take_robots(record, 500, "", "meguri", kNow);
  EXPECT_EQ(robots_step(record, kNow, kAgeMax), RobotsStep::kWait);
  EXPECT_EQ(robots_step(record, kNow + Duration::seconds(30), kAgeMax), RobotsStep::kAsk);
  take_robots(record, 500, "", "meguri", kNow);
  take_robots(record, 0, "", "meguri", kNow);
  EXPECT_EQ(robots_step(record, kNow, kAgeMax), RobotsStep::kRefuse);
  EXPECT_EQ(robots_step(record, kNow + Duration::minutes(10), kAgeMax), RobotsStep::kAsk);
}

TEST(RobotsPolicy, ForbidsWhileAKnownRobotsFails) {
  RobotsRecord record;
  take_robots(record, 200, "", "meguri", kNow);
  take_robots(record, 503, "", "meguri", kNow);
  EXPECT_NE(robots_step(record, kNow, kAgeMax), RobotsStep::kUse);
  take_robots(record, 200, "", "meguri", kNow);
  EXPECT_EQ(robots_step(record, kNow, kAgeMax), RobotsStep::kUse);
}

TEST(RobotsPolicy, GivesUpOnARobotsThatFailsForAMonth) {
  RobotsRecord record;
  take_robots(record, 500, "", "meguri", kNow);
  take_robots(record, 500, "", "meguri", kNow + Duration::days(29));
  EXPECT_NE(robots_step(record, kNow + Duration::days(29), kAgeMax), RobotsStep::kUse);
  take_robots(record, 500, "", "meguri", kNow + Duration::days(30));
  EXPECT_EQ(robots_step(record, kNow + Duration::days(30), kAgeMax), RobotsStep::kUse);
  EXPECT_TRUE(record.rules.check("/x").allowed);
  take_robots(record, 500, "", "meguri", kNow + Duration::days(31));
  EXPECT_EQ(robots_step(record, kNow + Duration::days(31), kAgeMax), RobotsStep::kUse);
}

TEST(RobotsPolicy, SurvivesTheStore) {
  RobotsRecord record;
  take_robots(record, 200, kText, "meguri", kNow);
  take_robots(record, 500, "", "meguri", kNow + Duration::hours(1));
  const std::string bytes = encode_robots(record, "meguri");
  RobotsRecord read;
  ASSERT_TRUE(decode_robots(bytes, "meguri", read));
  EXPECT_TRUE(read.is_known);
  EXPECT_EQ(read.rules.blob(), record.rules.blob());
  EXPECT_EQ(read.fetched, kNow);
  EXPECT_EQ(read.failures, 1U);
  EXPECT_EQ(read.failing_since, kNow + Duration::hours(1));

  RobotsRecord other;
  ASSERT_TRUE(decode_robots(bytes, "other", other));
  EXPECT_FALSE(other.is_known);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    RobotsRecord cut;
    EXPECT_FALSE(decode_robots(std::string_view(bytes).substr(0, size), "meguri", cut)) << size;
  }
}

}  // namespace
}  // namespace meguri::crawl
