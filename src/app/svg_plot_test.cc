#include "app/svg_plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace meguri::app {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

Plot small() {
  Plot plot;
  plot.title = "Time by size";
  plot.x = {.label = "size (MiB)", .is_log = true};
  plot.y = {.label = "time (µs)", .is_log = true};
  plot.series = {{"first", {{1, 10}, {10, 100}, {100, 1000}}}, {"second", {{10, 20}}}};
  plot.lines = {{PlotLine::Kind::kAtY, "limit", 500}};
  return plot;
}

TEST(SvgPlot, HasEverySeriesWithItsPoints) {
  const std::string svg = to_svg(small());
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<polyline "), 2U);
  EXPECT_EQ(count(svg, "<circle "), 4U + 2U);  // points, and one of each series in the legend
  EXPECT_EQ(count(svg, "stroke-dasharray"), 2U);
  for (const char* text : {">Time by size<", ">size (MiB)<", ">time (µs)<", ">first<", ">limit<"}) {
    EXPECT_EQ(count(svg, text), 1U) << text;
  }
}

TEST(SvgPlot, PlacesEqualRatiosEquallyFarApartOnALogarithmicAxis) {
  const std::string svg = to_svg(small());
  const std::size_t at = svg.find("points=\"") + 8;
  double x[3];
  double y[3];
  ASSERT_EQ(std::sscanf(svg.c_str() + at, "%lf,%lf %lf,%lf %lf,%lf", &x[0], &y[0], &x[1], &y[1],
                        &x[2], &y[2]),
            6);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.2);
  EXPECT_NEAR(y[1] - y[0], y[2] - y[1], 0.2);
  EXPECT_LT(x[0], x[1]);
  EXPECT_GT(y[0], y[1]);  // upwards
}

TEST(SvgPlot, LeavesOutWhatALogarithmicAxisCannotShow) {
  Plot plot = small();
  plot.series[0].points[0].second = 0;
  plot.series[0].points[1].second = std::nan("");
  const std::string svg = to_svg(plot);
  EXPECT_EQ(count(svg, "<circle "), 2U + 2U);
  EXPECT_EQ(count(svg, "nan"), 0U);
  EXPECT_EQ(count(svg, "inf"), 0U);
}

TEST(SvgPlot, OfNothingIsAnEmptyFrame) {
  const std::string svg = to_svg({});
  EXPECT_EQ(count(svg, "nan"), 0U);
  EXPECT_EQ(count(svg, "<polyline "), 0U);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(SvgPlot, DrawsBarsFromTheGround) {
  Plot plot;
  plot.x = {.label = "size", .is_log = true};
  plot.y = {.label = "pages"};
  plot.series = {{"pages", {{1, 5}, {10, 0}, {100, 10}}, {10, 100, 1000}}};
  const std::string svg = to_svg(plot, PlotGround::kPage);
  EXPECT_EQ(count(svg, "class=\"s0\""), 2U + 1U);  // two that can be seen, and the legend
  EXPECT_EQ(count(svg, "<circle "), 0U);
  EXPECT_EQ(count(svg, "<polyline "), 0U);
  EXPECT_EQ(count(svg, "fill=\"white\""), 0U);  // the page has its own ground
}

TEST(SvgPlot, DrawsHowFarValuesLieFromAPoint) {
  Plot plot = small();
  plot.y.is_log = false;
  plot.lines.clear();
  const std::string without = to_svg(plot);
  plot.series[0].spreads = {5, 50, 500};
  const std::string with = to_svg(plot);
  EXPECT_EQ(count(with, "class=\"s0\"") - count(without, "class=\"s0\""), 3U);
}

TEST(SvgPlot, TellsItsTitleToWhoDoesNotSeeIt) {
  EXPECT_EQ(count(to_svg(small(), PlotGround::kPage), "aria-label=\"Time by size\""), 1U);
  EXPECT_EQ(count(to_svg(small(), PlotGround::kPage), ">Time by size<"), 0U);
}

TEST(SvgPlot, EscapesNamesAndCutsLongOnes) {
  Plot plot = small();
  plot.series[0].name = "a<b & \"c\"";
  plot.series[1].name = std::string(20, 'x') + "µµµµµµµµµµµµµµµµµµµµ";
  const std::string svg = to_svg(plot);
  EXPECT_EQ(count(svg, ">a&lt;b &amp; &quot;c&quot;<"), 1U);
  EXPECT_EQ(count(svg, ">" + std::string(20, 'x') + "µµµµµµµµµµ…<"), 1U);
}

TEST(SvgPlot, HasTicksWhereItIsToldTo) {
  Plot plot = small();
  plot.x.ticks = {1, 10, 100};
  plot.x.tick_names = {"one", "ten", "many"};
  const std::string svg = to_svg(plot);
  for (const char* text : {">one<", ">ten<", ">many<"}) EXPECT_EQ(count(svg, text), 1U) << text;
  EXPECT_EQ(count(to_markdown(plot), "| ten | 100 | 20 |"), 1U);
}

TEST(SvgPlot, TellsMillionsShortly) {
  Plot plot = small();
  plot.series[0].points[2].second = 1e8;
  const std::string svg = to_svg(plot);
  EXPECT_EQ(count(svg, ">100 M<"), 1U);
  EXPECT_EQ(count(svg, ">100000<"), 1U);
}

TEST(PlotTicks, SurroundAllValues) {
  EXPECT_EQ(plot_ticks(0, 36, false), (std::vector<double>{0, 5, 10, 15, 20, 25, 30, 35, 40}));
  EXPECT_EQ(plot_ticks(0, 0, false).front(), 0);
  EXPECT_EQ(plot_ticks(1, 100000, true), (std::vector<double>{1, 10, 100, 1000, 10000, 100000}));
  EXPECT_EQ(plot_ticks(3, 8, true), (std::vector<double>{1, 2, 5, 10}));
  for (const auto& [low, high] : {std::pair{0.37, 12.0}, {900.0, 26000.0}, {1e-4, 3.0}}) {
    for (const bool is_log : {false, true}) {
      const auto ticks = plot_ticks(low, high, is_log);
      EXPECT_LE(ticks.front(), low);
      EXPECT_GE(ticks.back(), high);
      EXPECT_LE(ticks.size(), 12U);
    }
  }
}

TEST(PlotNumber, HasThreeDigits) {
  EXPECT_EQ(plot_number(0), "0");
  EXPECT_EQ(plot_number(1), "1");
  EXPECT_EQ(plot_number(0.0314159), "0.0314");
  EXPECT_EQ(plot_number(3.14159), "3.14");
  EXPECT_EQ(plot_number(31.4159), "31.4");
  EXPECT_EQ(plot_number(26012), "26012");
  EXPECT_EQ(plot_number(9600), "9600");
  EXPECT_EQ(plot_number(3e9), "3e+09");
}

TEST(PlotMarkdown, HasARowForEachXAndAColumnForEachSeries) {
  EXPECT_EQ(to_markdown(small()),
            "| size (MiB) | first | second |\n"
            "| ---: | ---: | ---: |\n"
            "| 1 | 10 | – |\n"
            "| 10 | 100 | 20 |\n"
            "| 100 | 1000 | – |\n"
            "\n"
            "Lines: limit: 500.\n");
}

}  // namespace
}  // namespace meguri::app
