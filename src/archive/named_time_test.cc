#include "archive/named_time.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace meguri::archive {
namespace {

using base::Duration;
using base::Instant;

Instant at(std::string_view text) { return Instant::parse_rfc3339(text).value(); }
constexpr Instant kNow = Instant::from_ms(1'794'816'550'123);  // 2026-11-16T08:09:10.123Z

TEST(NamedTime, IsAsExactAsItIsWritten) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
      {"2026-11", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
      {"202612", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
      {"2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
      {"20240229", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
      {"2026-11-16T08", "2026-11-16T08:00:00Z", "2026-11-16T09:00:00Z"},
      {"2026-11-16 23:59", "2026-11-16T23:59:00Z", "2026-11-17T00:00:00Z"},
      {"20261116080910", "2026-11-16T08:09:10Z", "2026-11-16T08:09:11Z"},
      {"20261116080910123", "2026-11-16T08:09:10.123Z", "2026-11-16T08:09:10.124Z"},
      {"2026-11-16T08:09:10", "2026-11-16T08:09:10Z", "2026-11-16T08:09:11Z"},
      {"2026-11-16T08:09:10Z", "2026-11-16T08:09:10Z", "2026-11-16T08:09:11Z"},
      {"2026-11-16T10:09:10.5+02:00", "2026-11-16T08:09:10.500Z", "2026-11-16T08:09:10.501Z"},
      {"now", "2026-11-16T08:09:10.123Z", "2026-11-16T08:09:10.124Z"},
      {"7d ago", "2026-11-09T08:09:10.123Z", "2026-11-09T08:09:10.124Z"},
      {"2h30m ago", "2026-11-16T05:39:10.123Z", "2026-11-16T05:39:10.124Z"}};
  for (const auto& [text, begin, end] : cases) {
    const auto named = parse_named_time(text, kNow);
    ASSERT_TRUE(named) << text << ": " << named.error().message();
    EXPECT_EQ(named->begin.to_rfc3339(), at(begin).to_rfc3339()) << text;
    EXPECT_EQ(named->end.to_rfc3339(), at(end).to_rfc3339()) << text;
    EXPECT_EQ(*parse_moment(text, kNow), named->end - Duration::from_ms(1)) << text;
  }
}

TEST(NamedTime, RefusesWhatNamesNone) {
  for (const char* text : {"",
                           "soon",
                           "20",
                           "20261",
                           "2026-13",
                           "2026-02-30",
                           "20260230",
                           "2026-11-",
                           "2026-1-2",
                           "2026-11-16T",
                           "2026-11-16T25",
                           "ago",
                           " ago",
                           "7 ago",
                           "7d",
                           "-7d ago",
                           "99999999d ago",
                           "2026-11-16T08:09:10Zx",
                           "Z",
                           "2026Z Z",
                           "2026/11/16",
                           "0x20"}) {
    EXPECT_FALSE(parse_named_time(text, kNow)) << text;
  }
}

TEST(NamedTime, MakesPeriods) {
  const auto both = parse_period("2026-10..2026-11-16", kNow);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->begin, at("2026-10-01T00:00:00Z"));
  EXPECT_EQ(both->end, at("2026-11-17T00:00:00Z"));
  EXPECT_EQ(parse_period("2026-10", kNow)->end, at("2026-11-01T00:00:00Z"));
  EXPECT_EQ(parse_period("7d ago..", kNow)->end, Instant::max());
  EXPECT_EQ(parse_period("..now", kNow)->begin, Instant());
  EXPECT_EQ(parse_period("..", kNow), TimeSpan{});
  for (const char* text : {"2026-11..2026-10", "x..y", "2026..soon", "2026...2027"}) {
    EXPECT_FALSE(parse_period(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace meguri::archive
