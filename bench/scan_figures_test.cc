#include "bench/scan_figures.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace meguri::bench {
namespace {

// One worker works for ten seconds, the other for half of them, at half of a core.
ScanModeRun run_of(const std::string& name) {
  ScanCost cost{.results = 100, .real_seconds = 10, .workers = {}};
  cost.workers.push_back({.busy_share = 1, .cpu_seconds = 10, .end_seconds = 10, .trace = {}});
  cost.workers.push_back({.busy_share = 0.5, .cpu_seconds = 2.5, .end_seconds = 5, .trace = {}});
  for (double second = 1; second <= 10; ++second) {
    cost.workers[0].trace.emplace_back(second, second);
    if (second <= 5) cost.workers[1].trace.emplace_back(second, second / 2);
  }
  return {.name = name, .what = "what it does", .cost = cost};
}

TEST(ScanFigures, ShowWhatWorkersUsedAndWhenTheyEnded) {
  const app::Plot plot = plot_of(run_of("static"), 20);
  ASSERT_EQ(plot.series.size(), 2U);
  EXPECT_EQ(plot.title, "static: what it does");
  for (const auto& [time, share] : plot.series[0].points) {
    EXPECT_NEAR(share, time < 10 ? 100 : 0, 0.01) << time;
  }
  for (const auto& [time, share] : plot.series[1].points) {
    EXPECT_NEAR(share, time < 5 ? 50 : 0, 0.01) << time;
  }
  EXPECT_EQ(plot.x.ticks.back(), 20);  // as long as the longest of all runs
  EXPECT_EQ(plot.lines.front().at, 10);
}

TEST(ScanFigures, WorkersWithoutATraceUsedNothing) {
  ScanModeRun run = run_of("static");
  for (ScanWorkerCost& worker : run.cost.workers) worker.trace.clear();
  for (const auto& [time, share] : plot_of(run, 10).series[0].points) EXPECT_EQ(share, 0) << time;
}

TEST(ScanFigures, HaveAllModesInOnePicture) {
  const std::string svg = scan_figure({run_of("pipelined"), run_of("sync"), run_of("static")});
  EXPECT_TRUE(svg.starts_with("<svg xmlns"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  for (const char* name : {"pipelined: what", "sync: what", "static: what", "height=\"1440\""}) {
    EXPECT_NE(svg.find(name), std::string::npos) << name;
  }
}

TEST(ScanFigures, TellTheMachineAndEveryMode) {
  const Machine machine{.cpu = "CPU",
                        .cores = 2,
                        .memory_bytes = std::uint64_t{3} << 30U,
                        .kernel = "6.1",
                        .compiler = "GCC"};
  const std::string text = scan_figure_text(machine, true, 1234, {run_of("sync")});
  EXPECT_NE(text.find("--quick"), std::string::npos);
  EXPECT_NE(text.find("Machine: CPU, 2 cores, 3.0 GiB, Linux 6.1, GCC."), std::string::npos);
  EXPECT_NE(text.find("1234 documents"), std::string::npos);
  EXPECT_NE(text.find("| sync | 10.00 | 50.0 | 50.00 | 12.50 |\n"), std::string::npos) << text;
  EXPECT_NE(text.find("- sync: what it does.\n"), std::string::npos);
}

}  // namespace
}  // namespace meguri::bench
