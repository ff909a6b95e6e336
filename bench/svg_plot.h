// SvgPlot: a plain line plot as an SVG file, and the same as a table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace meguri::bench {

struct PlotAxis {
  std::string label;  // with its unit
  bool is_log = false;
  // Where ticks are, in place of what is found by itself; and what they say, in place of numbers.
  std::vector<double> ticks = {};
  std::vector<std::string> tick_names = {};
};

struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x rising
};

// A dashed line across the whole plot.
struct PlotLine {
  enum class Kind : std::uint8_t { kAtX, kAtY };
  Kind kind = Kind::kAtY;
  std::string name;
  double at = 0;
};

// On a logarithmic axis all values are above zero: others are left out.
struct Plot {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;
  std::vector<PlotLine> lines;
};

// 880 x 480, the legend at the right; names are cut when they are longer than it is wide.
std::string to_svg(const Plot& plot);

// As markdown: a row for each x of any series, a column for each series, "–" where it has no point;
// then a sentence that tells the lines.
std::string to_markdown(const Plot& plot);

// Values on an axis that are good to read, from the first below `low` to the first above `high`: 1,
// 2 and 5 times powers of ten; if `is_log`, powers of ten, with 2 and 5 times these if they are
// few.
std::vector<double> plot_ticks(double low, double high, bool is_log);

// Three significant digits, without an exponent from 0.001 to 1e9.
std::string plot_number(double value);

}  // namespace meguri::bench
