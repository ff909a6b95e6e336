// The figure of `bench scan`: what each worker did over time, for each way to dispatch.
#pragma once

#include <string>
#include <vector>

#include "app/svg_plot.h"
#include "base/result.h"
#include "bench/machine.h"
#include "bench/scan_work.h"

namespace meguri::bench {

// A run of one mode.
struct ScanModeRun {
  std::string name;  // "pipelined"
  std::string what;  // "a worker gets documents before it has answered others"
  ScanCost cost;
};

// The share of a core that each worker used, over time. All plots are as long as `seconds`.
app::Plot plot_of(const ScanModeRun& run, double seconds);

// All of them under each other.
std::string scan_figure(const std::vector<ScanModeRun>& runs);

// What scan.md says.
std::string scan_figure_text(const Machine& machine, bool is_quick, double documents,
                             const std::vector<ScanModeRun>& runs);

// Writes scan.svg and scan.md into a folder, which is made.
base::Status write_scan_figure(const std::string& folder, bool is_quick, double documents,
                               const std::vector<ScanModeRun>& runs);

}  // namespace meguri::bench
