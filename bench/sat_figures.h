// The figures of papers 003 and 000, repeated with the stores of `meguri bench sat`.
#pragma once

#include <string>
#include <vector>

#include "app/svg_plot.h"
#include "base/result.h"
#include "bench/benches.h"
#include "bench/machine.h"

namespace meguri::bench {

using app::Plot;
using app::plot_number;
using app::PlotAxis;
using app::PlotLine;
using app::PlotSeries;

struct SatFigure {
  std::string name;   // of its file, without ".svg"
  std::string unit;   // of what it shows
  std::string text;   // what was done
  std::string paper;  // what the papers found
  std::string found;  // what came out here; may be empty
  Plot plot;
};

// Measures all of them and writes them into the folder options.figures, as NAME.svg and in
// sat.md, and their points into the report.
base::Status draw_sat_figures(const Options& options, Report& report);

// What sat.md says.
struct SatConditions {
  Machine machine;
  std::string load;   // of the machine at the start
  std::string limit;  // how memory was limited
  bool is_quick = false;
};
std::string sat_figures_text(const SatConditions& conditions,
                             const std::vector<SatFigure>& figures);

}  // namespace meguri::bench
