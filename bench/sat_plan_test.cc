#include "bench/sat_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace meguri::bench {
namespace {

Options with(void (*set)(SatOptions&)) {
  Options options;
  set(options.sat);
  return options;
}

TEST(SatPlan, IsThePapersByItself) {
  const SatPlan plan = make_sat_plan({}).value();
  EXPECT_EQ(plan.records, 17'496'056U);
  EXPECT_EQ(plan.steps, 36U);
  EXPECT_EQ(plan.pool_bytes, 32U << 20U);
  EXPECT_EQ(plan.page_bytes, 0U);
  EXPECT_EQ(plan.unit, SatUnit::kHour);
  EXPECT_EQ(plan.stores.size(), 10U);
}

TEST(SatPlan, TakesWhatIsGiven) {
  const SatPlan plan = make_sat_plan(with([](SatOptions& sat) {
                         sat.records = "1000";
                         sat.unit = "day";
                         sat.fixed = "400";
                         sat.memory = "2G";
                         sat.pool = "256K";
                         sat.page = "64K";
                         sat.stores = "basic,bdb";
                       })).value();
  EXPECT_EQ(plan.records, 1000U);
  EXPECT_EQ(plan.unit, SatUnit::kDay);
  EXPECT_EQ(plan.steps, 5U);
  EXPECT_EQ(plan.fixed_bytes, 400U);
  EXPECT_EQ(plan.memory_bytes, std::uint64_t{2} << 30U);
  EXPECT_EQ(plan.stores, (std::vector<std::string>{"basic", "bdb"}));
  EXPECT_EQ(plan.setting("/tmp", "basic").pool_bytes, 256U << 10U);
  EXPECT_EQ(plan.setting("/tmp", "basic").page_bytes, 64U << 10U);
  EXPECT_EQ(plan.setting("/tmp", "bdb").page_bytes, 0U);  // is no page of a buffer
  EXPECT_EQ(plan.setting("/tmp", "bdb").dir, "/tmp/bdb");
}

TEST(SatPlan, SaysWhatIsWrong) {
  const auto says = [](void (*set)(SatOptions&)) {
    const auto plan = make_sat_plan(with(set));
    return plan ? "" : plan.error().message();
  };
  EXPECT_EQ(says([](SatOptions& sat) { sat.records = "many"; }), "\"many\" is no number");
  EXPECT_EQ(says([](SatOptions& sat) { sat.records = "0"; }), "\"0\" is no number");
  EXPECT_EQ(says([](SatOptions& sat) { sat.unit = "week"; }),
            "\"week\" is no unit: hour, day, minute or mixed");
  EXPECT_EQ(says([](SatOptions& sat) { sat.stores = "sat,"; }), "there is no store \"\"");
  EXPECT_EQ(says([](SatOptions& sat) { sat.fixed = "3"; }), "the fixed part has at least 16 bytes");
  EXPECT_EQ(says([](SatOptions& sat) { sat.page = "8"; }), "a page has 34 to 16777216 bytes");
  EXPECT_EQ(says([](SatOptions& sat) { sat.pool = "32T"; }), "\"32T\" is no number");
}

TEST(ParseSize, KnowsKMAndG) {
  EXPECT_EQ(parse_size("4096").value(), 4096U);
  EXPECT_EQ(parse_size("64K").value(), 65536U);
  EXPECT_EQ(parse_size("768M").value(), 768U << 20U);
  EXPECT_EQ(parse_size("2G").value(), std::uint64_t{2} << 30U);
  for (const char* text : {"", "K", "-1", "1.5G", "99999999999999G", "0M", "64k"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

}  // namespace
}  // namespace meguri::bench
