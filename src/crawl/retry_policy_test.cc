#include "crawl/retry_policy.h"

#include <gtest/gtest.h>

namespace meguri::crawl {
namespace {

using base::Duration;
using fetch::DnsOutcome;
using fetch::FetchOutcome;

TEST(RetryPolicy, TriesAgainWhatMayPass) {
  for (const int status : {408, 429, 500, 502, 503, 504, 520}) {
    EXPECT_TRUE(may_pass(FetchOutcome::kAnswered, status)) << status;
  }
  for (const int status : {200, 204, 301, 304, 400, 401, 403, 404, 410, 451, 501, 505}) {
    EXPECT_FALSE(may_pass(FetchOutcome::kAnswered, status)) << status;
  }
  EXPECT_TRUE(may_pass(FetchOutcome::kConnectTimeout, 0));
  EXPECT_TRUE(may_pass(FetchOutcome::kReset, 0));
  EXPECT_TRUE(may_pass(FetchOutcome::kLocalFailure, 0));
  EXPECT_FALSE(may_pass(FetchOutcome::kCertificate, 0));
  EXPECT_FALSE(may_pass(FetchOutcome::kForbiddenAddress, 0));
  EXPECT_FALSE(may_pass(FetchOutcome::kBadResponse, 0));
  EXPECT_TRUE(may_pass(DnsOutcome::kTimeout));
  EXPECT_TRUE(may_pass(DnsOutcome::kServerFailure));
  EXPECT_FALSE(may_pass(DnsOutcome::kNoSuchName));
  EXPECT_FALSE(may_pass(DnsOutcome::kNoAddress));
}

TEST(RetryPolicy, WaitsLongerEachTime) {
  EXPECT_EQ(retry_wait(1), Duration::minutes(1));
  EXPECT_EQ(retry_wait(2), Duration::minutes(5));
  EXPECT_EQ(retry_wait(3), Duration::minutes(15));
  EXPECT_EQ(retry_wait(100), Duration::minutes(15));
}

TEST(RetryPolicy, ReadsRetryAfterOfAnswersThatMeanIt) {
  const auto now = base::Instant::from_ms(1'767'225'600'000);  // 2026-01-01
  web::FieldList fields;
  EXPECT_EQ(hold_of(503, fields, now), Duration());
  fields.add("Retry-After", "90");
  EXPECT_EQ(hold_of(503, fields, now), Duration::seconds(90));
  EXPECT_EQ(hold_of(429, fields, now), Duration::seconds(90));
  EXPECT_EQ(hold_of(301, fields, now), Duration());
  web::FieldList date;
  date.add("Retry-After", "Thu, 01 Jan 2026 00:10:00 GMT");
  EXPECT_EQ(hold_of(503, date, now), Duration::minutes(10));
}

TEST(RetryPolicy, AHostThatNeverAnswersIsGivenUp) {
  EXPECT_FALSE(rest_after(0, 4));
  EXPECT_FALSE(rest_after(kErrorsBeforeRest - 1, 4));
  EXPECT_EQ(rest_after(kErrorsBeforeRest, 4)->wait, Duration::minutes(1));
  EXPECT_FALSE(rest_after(kErrorsBeforeRest, 4)->is_over);
  EXPECT_EQ(rest_after(kErrorsBeforeRest + 2, 4)->wait, Duration::minutes(15));
  EXPECT_TRUE(rest_after(kErrorsBeforeRest + 3, 4)->is_over);
}

}  // namespace
}  // namespace meguri::crawl
