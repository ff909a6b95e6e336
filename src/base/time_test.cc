#include "base/time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace meguri::base {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;

std::int64_t rfc3339_ms(std::string_view text) {
  const auto time = Instant::parse_rfc3339(text);
  EXPECT_TRUE(time) << text;
  return time ? time->ms() : 0;
}

std::int64_t duration_ms(std::string_view text) {
  const auto duration = Duration::parse(text);
  EXPECT_TRUE(duration) << text;
  return duration ? duration->ms() : -1;
}

bool is_leap_year(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in_month(int year, int month) {
  constexpr std::array kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays.at(static_cast<std::size_t>(month - 1)) + (month == 2 && is_leap_year(year) ? 1 : 0);
}

TEST(Instant, EveryDayOfTenThousandYearsIsTheNextOfTheDayBefore) {
  std::int64_t day = -719'528;  // 0000-01-01
  for (int year = 0; year <= 9999; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int date = 1; date <= days_in_month(year, month); ++date, ++day) {
        const std::string digits = Instant::from_ms(day * kDayMs).to_digits();
        const int number = year * 10'000 + month * 100 + date;
        ASSERT_EQ(number, std::stoi(digits.substr(0, 8))) << day;
        ASSERT_EQ(digits.substr(8), "000000") << day;
      }
    }
  }
  EXPECT_EQ(day, 2'932'897);  // 10000-01-01
}

TEST(Instant, DaysAgreeWithTheCalendarOfTheStandardLibraryBothWays) {
  using std::chrono::sys_days;
  for (sys_days day = std::chrono::year(1580) / 1 / 1;
       day < sys_days(std::chrono::year(2420) / 1 / 1); day += std::chrono::days(1)) {
    const std::chrono::year_month_day date(day);
    const std::int64_t ms = day.time_since_epoch().count() * kDayMs + 45'296'789;
    const std::string text =
        fmt::format("{:04}-{:02}-{:02}T12:34:56.789Z", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    ASSERT_EQ(Instant::from_ms(ms).to_rfc3339_ms(), text);
    ASSERT_EQ(rfc3339_ms(text), ms);
  }
}

TEST(Instant, EveryMillisecondOfASecondAndSecondOfADaySurvivesARoundTrip) {
  const std::int64_t start = rfc3339_ms("2024-02-29T00:00:00Z");
  for (std::int64_t ms = 0; ms < 1000; ++ms) {
    const Instant time = Instant::from_ms(start + ms);
    ASSERT_EQ(Instant::parse_rfc3339(time.to_rfc3339()), time);
    ASSERT_EQ(Instant::parse_digits(time.to_digits_ms()), time);
  }
  for (std::int64_t second = 0; second < 86'400; ++second) {
    const Instant time = Instant::from_ms(start + second * 1000);
    ASSERT_EQ(Instant::parse_rfc3339(time.to_rfc3339()), time);
    ASSERT_EQ(Instant::parse_digits(time.to_digits()), time);
  }
}

TEST(Instant, FormatsAreAsDocumented) {
  const Instant time = Instant::from_ms(rfc3339_ms("2026-11-15T08:09:10.123Z"));
  EXPECT_EQ(time.ms(), 1'794'730'150'123);
  EXPECT_EQ(time.to_rfc3339(), "2026-11-15T08:09:10.123Z");
  EXPECT_EQ(time.to_rfc3339_ms(), "2026-11-15T08:09:10.123Z");
  EXPECT_EQ(time.to_digits(), "20261115080910");
  EXPECT_EQ(time.to_digits_ms(), "20261115080910123");
  const Instant whole = time - Duration::from_ms(123);
  EXPECT_EQ(whole.to_rfc3339(), "2026-11-15T08:09:10Z");
  EXPECT_EQ(whole.to_rfc3339_ms(), "2026-11-15T08:09:10.000Z");
  EXPECT_EQ(Instant::from_ms(-1).to_rfc3339(), "1969-12-31T23:59:59.999Z");
}

TEST(Instant, MomentsOutsideTheFourDigitYearsAreWrittenAsTheNearestInside) {
  EXPECT_EQ(Instant::max().to_rfc3339(), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(Instant::from_ms(std::numeric_limits<std::int64_t>::min()).to_digits_ms(),
            "00000101000000000");
}

TEST(Instant, Rfc3339TakesFractionsAndKeepsMilliseconds) {
  const std::int64_t second = rfc3339_ms("2026-11-15T08:09:10Z");
  EXPECT_EQ(rfc3339_ms("2026-11-15T08:09:10.5Z"), second + 500);
  EXPECT_EQ(rfc3339_ms("2026-11-15T08:09:10.05Z"), second + 50);
  EXPECT_EQ(rfc3339_ms("2026-11-15T08:09:10.0009Z"), second);
  EXPECT_EQ(rfc3339_ms("2026-11-15T08:09:10.123456789012345678901234567890Z"), second + 123);
  EXPECT_EQ(rfc3339_ms("2026-11-15T08:09:10.999999Z"), second + 999);
}

TEST(Instant, Rfc3339TakesOffsetsAndSmallLettersAndASpace) {
  const std::int64_t utc = rfc3339_ms("2026-11-15T08:09:10Z");
  EXPECT_EQ(rfc3339_ms("2026-11-15T17:09:10+09:00"), utc);
  EXPECT_EQ(rfc3339_ms("2026-11-14T20:39:10-11:30"), utc);
  EXPECT_EQ(rfc3339_ms("2026-11-15T08:09:10+00:00"), utc);
  EXPECT_EQ(rfc3339_ms("2026-11-15T08:09:10-00:00"), utc);
  EXPECT_EQ(rfc3339_ms("2026-11-16T08:08:10+23:59"), utc);
  EXPECT_EQ(rfc3339_ms("2026-11-15t08:09:10z"), utc);
  EXPECT_EQ(rfc3339_ms("2026-11-15 08:09:10Z"), utc);
}

TEST(Instant, ALeapSecondIsTheLastMillisecondBeforeIt) {
  const std::int64_t last = rfc3339_ms("2016-12-31T23:59:59.999Z");
  EXPECT_EQ(rfc3339_ms("2016-12-31T23:59:60Z"), last);
  EXPECT_EQ(rfc3339_ms("2016-12-31T23:59:60.75Z"), last);
  EXPECT_EQ(rfc3339_ms("2017-01-01T08:59:60+09:00"), last);
  EXPECT_EQ(rfc3339_ms("2015-06-30T15:59:60-08:00"), rfc3339_ms("2015-06-30T23:59:59.999Z"));
  EXPECT_EQ(Instant::parse_digits("20161231235960")->ms(), last);
  EXPECT_FALSE(Instant::parse_rfc3339("2016-12-30T23:59:60Z"));
  EXPECT_FALSE(Instant::parse_rfc3339("2016-12-31T22:59:60Z"));
  EXPECT_FALSE(Instant::parse_rfc3339("2016-12-31T23:58:60Z"));
  EXPECT_FALSE(Instant::parse_rfc3339("2016-12-31T23:59:60+01:00"));
  EXPECT_FALSE(Instant::parse_rfc3339("2016-12-31T23:59:61Z"));
}

TEST(Instant, BadTimesAreRefusedWithAMessageThatQuotesThem) {
  for (const std::string_view text : {"",
                                      "2026",
                                      "2026-11-15",
                                      "2026-11-15T08:09Z",
                                      "2026-11-15T08:09:10",
                                      "2026-11-15T08:09:10.Z",
                                      "2026-11-15T08:09:10Z ",
                                      " 2026-11-15T08:09:10Z",
                                      "2026-11-15T08:09:10+9:00",
                                      "2026-11-15T08:09:10+0900",
                                      "2026-11-15T08:09:10+24:00",
                                      "2026-11-15T08:09:10+09:60",
                                      "2026-11-15T24:00:00Z",
                                      "2026-11-15T08:60:10Z",
                                      "2026-13-15T08:09:10Z",
                                      "2026-00-15T08:09:10Z",
                                      "2026-11-00T08:09:10Z",
                                      "2026-11-31T08:09:10Z",
                                      "2026-02-29T08:09:10Z",
                                      "1900-02-29T08:09:10Z",
                                      "+2026-11-15T08:09:10Z",
                                      "-026-11-15T08:09:10Z",
                                      "2026-11-15X08:09:10Z",
                                      "2026-11-15T08:09:10Zulu",
                                      "0000-01-01T00:00:00+00:01",
                                      "9999-12-31T23:59:59-00:01",
                                      "２026-11-15T08:09:10Z"}) {
    const auto time = Instant::parse_rfc3339(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code(), ErrorCode::kInvalid);
  }
  EXPECT_EQ(Instant::parse_rfc3339("yester\nday").error().message(),
            R"("yester\nday" is not a time such as 2026-11-15T08:09:10Z)");
  const std::string long_text(10'000, 'x');
  EXPECT_LT(Instant::parse_rfc3339(long_text).error().message().size(), 200);
}

TEST(Instant, DigitsAreExactlyFourteenOrSeventeen) {
  const std::string digits = "20261115080910123";
  for (std::size_t length = 0; length <= digits.size(); ++length) {
    EXPECT_EQ(Instant::parse_digits(digits.substr(0, length)).has_value(),
              length == 14 || length == 17)
        << length;
  }
  for (const std::string_view text : {"2026111508091x", "20261315080910", "20261115240910",
                                      "202611150809101234", "2026-11-15T08:0", "+2026111508091"}) {
    EXPECT_FALSE(Instant::parse_digits(text)) << text;
  }
}

TEST(Duration, UnitsAreAsDocumented) {
  EXPECT_EQ(duration_ms("90"), 90'000);
  EXPECT_EQ(duration_ms("0"), 0);
  EXPECT_EQ(duration_ms("1.25"), 1250);
  EXPECT_EQ(duration_ms("250ms"), 250);
  EXPECT_EQ(duration_ms("1.5s"), 1500);
  EXPECT_EQ(duration_ms("10m"), 600'000);
  EXPECT_EQ(duration_ms("3h"), 10'800'000);
  EXPECT_EQ(duration_ms("7d"), 7 * kDayMs);
  EXPECT_EQ(duration_ms("2w"), 14 * kDayMs);
  EXPECT_EQ(duration_ms("1h30m"), 5'400'000);
  EXPECT_EQ(duration_ms("1w2d3h4m5s6ms"), 9 * kDayMs + 11'045'006);
  EXPECT_EQ(duration_ms("0.5d"), kDayMs / 2);
  EXPECT_EQ(duration_ms("0.0001s"), 0);
  EXPECT_EQ(duration_ms("0.33333333333333333333m"), 19'999);
}

TEST(Duration, BadTextsAreRefused) {
  for (const std::string_view text :
       {"",    " ",  "s",   "-5s",  "+5s",  "5 s", "5s ",  "5x",   "1h30", "30m1h", "5m5m", "1..5s",
        ".5s", "5.", "5.s", "1e3s", "0x10", "5S",  "1,5s", "10µs", "5ms5", "nan",   "inf"}) {
    const auto duration = Duration::parse(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code(), ErrorCode::kInvalid);
  }
}

TEST(Duration, WhatWouldOverflowIsRefused) {
  EXPECT_TRUE(Duration::parse("3652425d"));  // 10,000 years
  for (const std::string_view text :
       {"3652426d", "9223372036854775807ms", "9223372036854775808ms", "99999999999999999999999",
        "521775w9d", "18446744073709551617s"}) {
    const auto duration = Duration::parse(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_TRUE(duration.error().message().contains("10,000 years")) << duration.error().message();
  }
}

TEST(Duration, PrintsAtMostTwoUnits) {
  const auto print = [](std::int64_t ms) { return Duration::from_ms(ms).to_string(); };
  EXPECT_EQ(print(0), "0s");
  EXPECT_EQ(print(1), "1ms");
  EXPECT_EQ(print(999), "999ms");
  EXPECT_EQ(print(1000), "1s");
  EXPECT_EQ(print(3199), "3.1s");
  EXPECT_EQ(print(59'999), "59.9s");
  EXPECT_EQ(print(60'000), "1m");
  EXPECT_EQ(print(125'000), "2m05s");
  EXPECT_EQ(print(3'599'999), "59m59s");
  EXPECT_EQ(print(15'000'000), "4h10m");
  EXPECT_EQ(print(12 * kDayMs + 10'800'000), "12d03h");
  EXPECT_EQ(print(7 * kDayMs), "7d");
  EXPECT_EQ(print(-125'000), "-2m05s");
  EXPECT_EQ(Duration::max().to_string(), "106751991167d07h");
  EXPECT_EQ(print(std::numeric_limits<std::int64_t>::min()), "-106751991167d07h");
}

TEST(Duration, WhatIsPrintedWithoutLossIsReadBack) {
  for (std::int64_t ms = 0; ms < 1000; ++ms) {
    ASSERT_EQ(Duration::parse(Duration::from_ms(ms).to_string()), Duration::from_ms(ms));
  }
  for (std::int64_t s = 0; s < 3600; ++s) {
    ASSERT_EQ(Duration::parse(Duration::seconds(s).to_string()), Duration::seconds(s));
  }
  for (std::int64_t h = 0; h < 1000; ++h) {
    ASSERT_EQ(Duration::parse(Duration::hours(h).to_string()), Duration::hours(h));
  }
}

TEST(Ticks, DifferencesAreDurations) {
  const Ticks start = Ticks::from_ms(5000);
  EXPECT_EQ((start + Duration::seconds(2)) - start, Duration::seconds(2));
  EXPECT_LT(start, Ticks::never());
}

}  // namespace
}  // namespace meguri::base
