#include "crawl/host_load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "env/random.h"

namespace meguri::crawl {
namespace {

using base::Duration;

double days_of(Duration duration) { return static_cast<double>(duration.ms()) / 86'400'000; }

TEST(HostLoad, SparesNobodyWhoCanBearIt) {
  for (const Remedy remedy : {Remedy::kStretch, Remedy::kAddDays}) {
    // Every second at the most, and an hour's worth a day.
    const HostPace pace = pace_of({3600, 10, Duration::seconds(1)}, remedy);
    EXPECT_EQ(pace.factor, 1);
    EXPECT_EQ(pace.added, Duration());
    EXPECT_EQ(pace.access, Duration::seconds(1));
    EXPECT_EQ(pace_of({0, 10, Duration::seconds(1)}, remedy).factor, 1);
  }
}

// Of hosts with pages of any paces: what is left of the load fits, and by stretching it just fits.
TEST(HostLoad, MakesTheScheduleFit) {
  env::Random random(1);
  for (int i = 0; i < 200; ++i) {
    std::vector<double> intervals;
    double load = 0;
    for (std::uint64_t n = random.below(2000) + 1; n > 0; --n) {
      intervals.push_back(std::exp(random.uniform() * 12 - 6));  // minutes to months
      load += 1 / intervals.back();
    }
    const Duration access = Duration::seconds(static_cast<std::int64_t>(random.below(600) + 1));
    const double room = 1 / days_of(access);
    const HostDemand demand{load, intervals.size(), access};
    const HostPace stretched = pace_of(demand, Remedy::kStretch);
    EXPECT_LE(load / stretched.factor, room * 1.000001);
    if (load > room) {
      EXPECT_NEAR(load / stretched.factor, room, room * 1e-6);
    }
    const HostPace added = pace_of(demand, Remedy::kAddDays);
    double left = 0;
    for (const double interval : intervals) left += 1 / (interval + days_of(added.added));
    EXPECT_LE(left, room * 1.000001);
  }
}

TEST(HostLoad, SharesACrowdedServer) {
  const Duration hour = Duration::hours(1);
  // One asks for a hundred times what it bears, which is 24 a day; the other for 10.
  const HostDemand greedy{2400, 100, hour};
  const HostDemand modest{10, 10, hour};
  const double together = bearable_load(greedy) + bearable_load(modest);
  EXPECT_NEAR(together, 34, 1e-9);
  const auto paces = [&](Duration turn, Remedy remedy) {
    const double crowding = crowding_of(together, turn);
    HostDemand one = greedy;
    HostDemand other = modest;
    one.crowding = other.crowding = crowding;
    return std::pair(pace_of(one, remedy), pace_of(other, remedy));
  };
  const auto [slowed, unharmed] = paces(Duration::minutes(1), Remedy::kStretch);
  EXPECT_NEAR(slowed.factor, 100, 1e-9);
  EXPECT_EQ(unharmed.factor, 1);
  // A server that bears 17 a day.
  const auto [first, second] = paces(Duration::days(1) / 17, Remedy::kStretch);
  EXPECT_NEAR(first.factor, 200, 0.01);
  EXPECT_NEAR(second.factor, 2, 0.0001);
  const auto [third, fourth] = paces(Duration::days(1) / 17, Remedy::kAddDays);
  EXPECT_NEAR(days_of(fourth.added), 10.0 / 5 - 10.0 / 10, 0.001);
  EXPECT_NEAR(days_of(third.added), 100.0 / 12 - 100.0 / 2400, 0.001);
}

TEST(HostLoad, TellsWhetherVisitsInARowSuffice) {
  EXPECT_DOUBLE_EQ(feasibility(86'400, Duration::seconds(2)), 0.5);
  EXPECT_TRUE(std::isinf(feasibility(0, Duration::seconds(2))));
}

}  // namespace
}  // namespace meguri::crawl
