#include "bench/sat_figures.h"

#include <gtest/gtest.h>

#include <string>

#include "bench/sat_experiments.h"
#include "bench/sat_plan.h"

namespace meguri::bench {
namespace {

SatConditions conditions() {
  return {.machine = {.cpu = "CPU",
                      .cores = 2,
                      .memory_bytes = std::uint64_t{3} << 30U,
                      .kernel = "6.1",
                      .compiler = "GCC"},
          .load = "0.5",
          .limit = "LIMIT",
          .is_quick = false};
}

TEST(SatFigures, TellTheMachineAndEveryFigure) {
  SatFigure figure;
  figure.name = "sat-one";
  figure.text = "TEXT";
  figure.paper = "PAPER";
  figure.plot.title = "Title";
  figure.plot.x.label = "x";
  figure.plot.series = {{"series", {{1, 2}}}};
  SatFigure other = figure;
  other.found = "FOUND";
  const std::string text = sat_figures_text(conditions(), {figure, other});
  EXPECT_NE(text.find("Machine: CPU, 2 cores, 3.0 GiB, Linux 6.1, GCC; load 0.5"),
            std::string::npos);
  EXPECT_NE(text.find("LIMIT"), std::string::npos);
  EXPECT_NE(
      text.find("\n## Title\n\nTEXT\n\n![Title](sat-one.svg)\n\n| x | series |\n| ---: | ---: "
                "|\n| 1 | 2 |\n\nPapers: PAPER\n\n## Title"),
      std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("Papers: PAPER\n\nHere: FOUND\n"));
}

TEST(SatFigures, SayWhetherTheRunWasSmall) {
  SatConditions quick = conditions();
  EXPECT_EQ(sat_figures_text(quick, {}).find("--quick"), std::string::npos);
  quick.is_quick = true;
  EXPECT_NE(sat_figures_text(quick, {}).find("--quick"), std::string::npos);
}

TEST(SatScale, IsThePapersWhereItIsFull) {
  EXPECT_EQ(SatScale::full().hours_records, kSatRecords);
  EXPECT_EQ(SatScale::full().pool_bytes, 32U << 20U);
  EXPECT_LT(SatScale::quick().hours_records, kSatRecords / 10);
}

}  // namespace
}  // namespace meguri::bench
