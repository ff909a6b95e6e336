#include "bench/sat_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace meguri::bench {
namespace {

constexpr std::uint32_t kRecords = 200'000;
constexpr double kAll = 17'496'056;

// Different records read in so many minutes, if there were as many as in the papers.
double read_in(const SatLoad& load, double minutes) {
  double sum = 0;
  for (std::uint32_t seq = 0; seq < load.records(); ++seq) {
    sum += std::min(1.0, minutes / load.period_minutes(seq));
  }
  return sum * kAll / load.records();
}

TEST(SatLoad, HasTheRatesOf003) {
  const SatLoad hourly(kRecords, 100, SatUnit::kHour, 1);
  EXPECT_NEAR(read_in(hourly, 60), 138e3, 15e3);
  const SatLoad daily(kRecords, 100, SatUnit::kDay, 1);
  EXPECT_NEAR(read_in(daily, 1440), 1.74e6, 0.1e6);
}

TEST(SatLoad, HasTheRatesOf000) {
  const SatLoad load(kRecords, 100, SatUnit::kHour, 1, SatRates::k000);
  EXPECT_NEAR(read_in(load, 60), 0.346e6, 0.02e6);
  EXPECT_NEAR(read_in(load, 1440), 2.83e6, 0.15e6);
  EXPECT_NEAR(read_in(load, 43'800), 11.4e6, 0.2e6);
  EXPECT_EQ(read_in(load, 525'600), kAll);
}

TEST(SatLoad, HasRecordsAsLongAsThePapers) {
  const SatLoad load(kRecords, 100, SatUnit::kHour, 1);
  double sum = 0;
  std::string body;
  for (std::uint32_t seq = 0; seq < kRecords; ++seq) {
    const std::size_t bytes = load.body_bytes(seq);
    ASSERT_LE(bytes, load.body_bytes_max());
    sum += static_cast<double>(bytes);
  }
  EXPECT_NEAR(sum / kRecords, 163.7, 1);
  load.make_body(7, &body);
  EXPECT_EQ(body.size(), load.body_bytes(7));
}

TEST(SatLoad, IsDueInEveryStepOfItsPeriod) {
  const SatLoad load(kRecords, 100, SatUnit::kHour, 36, SatRates::k000);
  const auto due = load.due_by_step();
  std::vector<std::uint32_t> visits(kRecords);
  for (const auto& step : due) {
    for (const std::uint32_t seq : step) ++visits[seq];
  }
  for (std::uint32_t seq = 0; seq < kRecords; ++seq) {
    const std::uint32_t period = load.period_minutes(seq) / 60;
    ASSERT_GE(visits[seq], 36 / period);
    ASSERT_LE(visits[seq], (36 + period - 1) / period);
  }
}

}  // namespace
}  // namespace meguri::bench
