// SvgPlot: lines and bars as SVG, and the same as a table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meguri::app {

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
  // Of bars: where each ends that begins at the x of its point. Empty: a line with marks.
  std::vector<double> ends = {};
  // How far the values behind each point of a line lie from it, both ways. Empty: not told.
  std::vector<double> spreads = {};
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

// Where a plot is seen. On paper it is black on white, under its title. In a page it has the page's
// colours for all but the series, which are of the classes s0, s1, … for a page that knows better
// ones, and the page has its title.
enum class PlotGround : std::uint8_t { kPaper, kPage };

// 880 x 480, the legend at the right; names are cut when they are longer than it is wide. Who does
// not see it is told the title.
std::string to_svg(const Plot& plot, PlotGround ground = PlotGround::kPaper);

// Text as it may stand in SVG, XML and HTML, within elements and attributes in double quotes.
std::string markup_text(std::string_view text);

// As markdown: a row for each x of any series, a column for each series, "–" where it has no point;
// then a sentence that tells the lines.
std::string to_markdown(const Plot& plot);

// Values on an axis that are good to read, from the first below `low` to the first above `high`: 1,
// 2 and 5 times powers of ten; if `is_log`, powers of ten, with 2 and 5 times these if they are
// few.
std::vector<double> plot_ticks(double low, double high, bool is_log);

// Three significant digits, without an exponent from 0.001 to 1e9.
std::string plot_number(double value);

}  // namespace meguri::app
