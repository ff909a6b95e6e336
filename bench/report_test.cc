#include "bench/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace meguri::bench {
namespace {

TEST(Report, JsonSaysWhetherEachGoalIsMet) {
  Report report("flow");
  report.add("hop", 12e6, "items/s", Goal::at_least(10e6));
  report.add("latency", 3, "ms", Goal::at_most(2));
  report.add("peer", 5e6, "items/s");

  const auto json = nlohmann::json::parse(report.to_json());
  EXPECT_EQ(json["bench"], "flow");
  EXPECT_GT(json["machine"]["cores"], 0);
  EXPECT_GT(json["machine"]["memory_bytes"], 0);
  EXPECT_FALSE(json["machine"]["cpu"].get<std::string>().empty());
  EXPECT_FALSE(json["machine"]["kernel"].get<std::string>().empty());
  EXPECT_FALSE(json["machine"]["compiler"].get<std::string>().empty());
  ASSERT_EQ(json["results"].size(), 3U);
  EXPECT_EQ(
      json["results"][0],
      nlohmann::json(
          {{"name", "hop"}, {"value", 12e6}, {"unit", "items/s"}, {"goal", 10e6}, {"met", true}}));
  EXPECT_EQ(json["results"][1]["met"], false);
  EXPECT_TRUE(json["results"][2]["goal"].is_null());
  EXPECT_TRUE(json["results"][2]["met"].is_null());
}

TEST(Report, TableShowsMissedGoals) {
  Report report("flow");
  report.add("hop", 12e6, "items/s", Goal::at_least(20e6));
  report.add("peer", 5.5, "items/s");
  const std::string table = report.to_table();
  EXPECT_NE(table.find("12 M  items/s  ≥ 20 M"), std::string::npos) << table;
  EXPECT_NE(table.find("MISSED"), std::string::npos) << table;
  EXPECT_NE(table.find("5.5  items/s\n"), std::string::npos) << table;
}

TEST(ShortNumber, KeepsFourDigits) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.012345), "0.01235");
  EXPECT_EQ(short_number(9999), "9999");
  EXPECT_EQ(short_number(12'345), "12.35 k");
  EXPECT_EQ(short_number(-12'345'678), "-12.35 M");
  EXPECT_EQ(short_number(3e9), "3 G");
}

}  // namespace
}  // namespace meguri::bench
