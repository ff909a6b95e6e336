#include "web/http_date.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace meguri::web {
namespace {

constexpr int kYearNow = 2026;

std::string http(std::string_view text, int year_now = kYearNow) {
  const auto date = parse_http_date(text, year_now);
  return date ? date->to_rfc3339() : "none";
}

std::string w3c(std::string_view text) {
  const auto date = parse_w3c_date(text);
  return date ? date->to_rfc3339() : "none";
}

TEST(HttpDate, TheThreeFormsOfRfc9110AreTheSameMoment) {
  for (const std::string_view text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(http(text), "1994-11-06T08:49:37Z") << text;
  }
}

TEST(HttpDate, SloppyFormsAreTheSameMoment) {
  for (const std::string_view text : {"06 Nov 1994 08:49:37 GMT",
                                      "Mon, 06 Nov 1994 08:49:37 GMT",
                                      "  sun,06 nov 1994  08:49:37 gmt\t",
                                      "Sun, 6 Nov 1994 8:49:37",
                                      "Sun, 06-Nov-1994 08:49:37 GMT",
                                      "Sun 06-Nov-1994 08:49:37",
                                      "Sunday, 06 November 1994 08:49:37 UTC",
                                      "Sun, 06 Nov 1994 09:49:37 +0100",
                                      "Sun, 06 Nov 1994 09:49:37+01:00",
                                      "Sun, 06 Nov 1994 03:49:37 -0500 (EST)",
                                      "Sun, 06 Nov 1994 03:49:37 EST",
                                      "Sun Nov 06 03:49:37 EST 1994",
                                      "Sun Nov 06 03:49:37 -0500 1994",
                                      "Sun Nov 06 08:49:37 +0000 1994",
                                      "Sun Nov 6 1994 09:49:37 GMT+0100 (CET)",
                                      "Nov 6, 1994 08:49:37",
                                      "November 6th, 1994 08:49:37 Z",
                                      "Sun, 06 Nov 1994 08:49:37 GMT; length=1234",
                                      "Sun, 06 Nov 94 08:49:37 GMT",
                                      "Sun, 06 Nov 094 08:49:37 GMT",
                                      "06Nov1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37.000 GMT"}) {
    EXPECT_EQ(http(text), "1994-11-06T08:49:37Z") << text;
  }
  EXPECT_EQ(http("Sun, 06 Nov 1994"), "1994-11-06T00:00:00Z");
  EXPECT_EQ(http("06 Nov 1994 08:49"), "1994-11-06T08:49:00Z");
  EXPECT_EQ(http("06 Nov 1994 08:49:37.25"), "1994-11-06T08:49:37.250Z");
  EXPECT_EQ(http("1 Sept 2024 00:00:00 PDT"), "2024-09-01T07:00:00Z");
}

TEST(HttpDate, TwoDigitsMeanAtMostFiftyYearsAhead) {
  EXPECT_EQ(http("06-Nov-76 00:00:00", 2026), "2076-11-06T00:00:00Z");
  EXPECT_EQ(http("06-Nov-77 00:00:00", 2026), "1977-11-06T00:00:00Z");
  EXPECT_EQ(http("06-Nov-00 00:00:00", 2026), "2000-11-06T00:00:00Z");
  EXPECT_EQ(http("06-Nov-94 00:00:00", 1994), "1994-11-06T00:00:00Z");
  EXPECT_EQ(http("06-Nov-49 00:00:00", 1999), "1949-11-06T00:00:00Z");
}

TEST(HttpDate, WhatIsNoDateIsRefused) {
  for (const std::string_view text : {"",
                                      " ",
                                      "0",
                                      "-1",
                                      "never",
                                      "Sun",
                                      "Nov 1994",
                                      "06 1994",
                                      "06 Nov",
                                      "31 Feb 2024",
                                      "29 Feb 2023",
                                      "00 Nov 1994",
                                      "32 Jan 2024",
                                      "06 Nov 1994 24:00:00",
                                      "06 Nov 1994 08:60",
                                      "06 Nov 1994 08:49:61",
                                      "06 Nov 1994 08:49:37 XYZ",
                                      "06 Nov 1994 08:49:37 GMT GMT",
                                      "06 Nov Dec 1994",
                                      "06 Nov 1994 1995",
                                      "06 Nov 1994 08:49 09:50",
                                      "06/11/1994",
                                      "06 Nov 12345",
                                      "06 Nov 1994 +2400",
                                      "06 Nov 1994 08:00 +2400",
                                      "06 Nov 1994 08:00 +0060",
                                      "06 Nov 1994 08:00 (",
                                      "06 Nov 1994 99999999999999999999",
                                      "\xff",
                                      "1994-11-06T08:49:37Z"}) {
    EXPECT_EQ(http(text), "none") << text;
  }
  EXPECT_EQ(http("06 Nov 1994" + std::string(200, ' ') + "08:00"), "none");
  EXPECT_EQ(http(std::string(5'000'000, '1')), "none");
}

TEST(HttpDate, ALeapSecondIsTheLastMillisecondBeforeIt) {
  EXPECT_EQ(http("Sat, 31 Dec 2016 23:59:60 GMT"), "2016-12-31T23:59:59.999Z");
}

TEST(W3cDate, TheExamplesOfTheNoteAreRead) {
  EXPECT_EQ(w3c("1997"), "1997-01-01T00:00:00Z");
  EXPECT_EQ(w3c("1997-07"), "1997-07-01T00:00:00Z");
  EXPECT_EQ(w3c("1997-07-16"), "1997-07-16T00:00:00Z");
  EXPECT_EQ(w3c("1997-07-16T19:20+01:00"), "1997-07-16T18:20:00Z");
  EXPECT_EQ(w3c("1997-07-16T19:20:30+01:00"), "1997-07-16T18:20:30Z");
  EXPECT_EQ(w3c("1997-07-16T19:20:30.45+01:00"), "1997-07-16T18:20:30.450Z");
  EXPECT_EQ(w3c("1994-11-05T08:15:30-05:00"), "1994-11-05T13:15:30Z");
}

TEST(W3cDate, SloppyFormsAreTheSameMoment) {
  for (const std::string_view text :
       {"2024-01-05T10:00:00Z", "2024-01-05t10:00:00z", "2024-01-05 10:00:00", "2024-1-5T10:00",
        " 2024-01-05T10:00:00 \n", "2024-01-05 11:00:00 +0100", "2024-01-05T11:00:00+01",
        "2024-01-05 10:00:00 UTC", "2024-01-05T05:00:00 EST", "2024-01-05T10:00:00.0000000001Z",
        "2024-01-05T10:00:00,0Z"}) {
    EXPECT_EQ(w3c(text), "2024-01-05T10:00:00Z") << text;
  }
}

TEST(W3cDate, WhatIsNoDateIsRefused) {
  for (const std::string_view text :
       {"", "199", "19970", "1997-", "1997-13", "1997-00-01", "0000-00-00", "1997-02-30",
        "1997-07-16T", "1997-07-16T19", "1997-07-16T25:00Z", "1997-07-16T19:20:30Zjunk",
        "1997-07-16T19:20:30+25:00", "1997-07-16X19:20", "1997/07/16", "1997-07-16T19:20 ABC",
        "-997-07-16"}) {
    EXPECT_EQ(w3c(text), "none") << text;
  }
}

TEST(AnyDate, BothFormsAreTaken) {
  const auto any = [](std::string_view text) {
    const auto date = parse_any_date(text, kYearNow);
    return date ? date->to_rfc3339() : "none";
  };
  EXPECT_EQ(any("Sun, 06 Nov 1994 08:49:37 GMT"), "1994-11-06T08:49:37Z");
  EXPECT_EQ(any("1994-11-06T08:49:37Z"), "1994-11-06T08:49:37Z");
  EXPECT_EQ(any("yesterday"), "none");
}

TEST(HttpDate, EveryDayIsWrittenAndReadBack) {
  constexpr std::int64_t kDayMs = 86'400'000;
  for (std::int64_t day = -200'000; day < 200'000; day += 7) {
    const base::Instant time = base::Instant::from_ms(day * kDayMs + 12'345'000);
    ASSERT_EQ(parse_http_date(format_http_date(time), kYearNow), time) << format_http_date(time);
  }
  EXPECT_EQ(format_http_date(base::Instant::from_ms(784'111'777'999)),
            "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(format_http_date(base::Instant::from_ms(-1)), "Wed, 31 Dec 1969 23:59:59 GMT");
  EXPECT_EQ(format_http_date(base::Instant::max()), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(year_of(base::Instant::from_ms(784'111'777'999)), 1994);
}

}  // namespace
}  // namespace meguri::web
