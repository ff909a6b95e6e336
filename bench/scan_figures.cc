#include "bench/scan_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "env/file_system.h"
#include "env/posix_file_system.h"
#include "scan/builtin_burn.h"

namespace meguri::bench {
namespace {

constexpr int kPlotWidth = 880;
constexpr int kPlotHeight = 480;
constexpr double kBins = 60;

// What was used up by a time, of a trace of (time, used up).
double used_at(const std::vector<std::pair<double, double>>& trace, double time) {
  const auto after = std::ranges::lower_bound(trace, time, {}, &std::pair<double, double>::first);
  if (after == trace.end()) return trace.empty() ? 0 : trace.back().second;
  const std::pair<double, double> before =
      after == trace.begin() ? std::pair(0.0, 0.0) : *std::prev(after);
  const double width = after->first - before.first;
  if (width <= 0) return after->second;
  return before.second + (after->second - before.second) * (time - before.first) / width;
}

double longest_of(const std::vector<ScanModeRun>& runs) {
  double longest = 0;
  for (const ScanModeRun& run : runs) longest = std::max(longest, run.cost.real_seconds);
  return longest;
}

}  // namespace

app::Plot plot_of(const ScanModeRun& run, double seconds) {
  app::Plot plot;
  plot.title = fmt::format("{}: {}", run.name, run.what);
  plot.x = {.label = "time, s", .ticks = app::plot_ticks(0, seconds, false)};
  plot.y = {.label = "CPU of a worker, % of a core", .ticks = {0, 25, 50, 75, 100}};
  const double width = seconds / kBins;
  for (std::size_t i = 0; i < run.cost.workers.size(); ++i) {
    const auto& trace = run.cost.workers[i].trace;
    app::PlotSeries series{.name = fmt::format("worker {}", i + 1), .points = {}};
    for (double bin = 0; bin < kBins; ++bin) {
      const double used = used_at(trace, (bin + 1) * width) - used_at(trace, bin * width);
      series.points.emplace_back((bin + 0.5) * width, std::min(used / width, 1.0) * 100);
    }
    plot.series.push_back(std::move(series));
  }
  plot.lines.push_back(
      {.kind = app::PlotLine::Kind::kAtX, .name = "end", .at = run.cost.real_seconds});
  return plot;
}

std::string scan_figure(const std::vector<ScanModeRun>& runs) {
  const double seconds = longest_of(runs);
  const int height = kPlotHeight * static_cast<int>(runs.size());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\">\n",
      kPlotWidth, height);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    svg += fmt::format("<g transform=\"translate(0,{})\">\n{}</g>\n",
                       kPlotHeight * static_cast<int>(i), to_svg(plot_of(runs[i], seconds)));
  }
  return svg + "</svg>\n";
}

std::string scan_figure_text(const Machine& machine, bool is_quick, double documents,
                             const std::vector<ScanModeRun>& runs) {
  std::string text = fmt::format(
      "# Three ways to dispatch\n\n"
      "Paper 001's Figure 2, repeated. Written by `./meguri bench scan --figures "
      "docs/experiments{}`.\n\n"
      "Machine: {}, {} cores, {:.1f} GiB, Linux {}, {}. The dispatcher runs on the cores of the "
      "workers.\n\n"
      "{:.0f} documents, of which each costs CPU by its number (`src/scan/builtin_burn.h`): "
      "bounded Pareto, 0.3 ms on the mean and at most {:.0f} ms; each {} in a row share a factor "
      "between a half and two. Busy is a worker while it has a document. What a worker uses of a "
      "core is what is left of it by the others.\n\n"
      "![CPU of each worker over time](scan.svg)\n\n"
      "| mode | time, s | least busy worker, % | ends apart, % of the time | CPU of workers, s |\n"
      "| --- | --- | --- | --- | --- |\n",
      is_quick ? " --quick" : "", machine.cpu, machine.cores,
      static_cast<double>(machine.memory_bytes) / (1U << 30U), machine.kernel, machine.compiler,
      documents, static_cast<double>(scan::kBurnNsMax) / 1e6, scan::kBurnAlike);
  for (const ScanModeRun& run : runs) {
    text += fmt::format("| {} | {:.2f} | {:.1f} | {:.2f} | {:.2f} |\n", run.name,
                        run.cost.real_seconds, run.cost.least_busy_share() * 100,
                        run.cost.end_spread() * 100, run.cost.worker_cpu_seconds());
  }
  text += '\n';
  for (const ScanModeRun& run : runs) text += fmt::format("- {}: {}.\n", run.name, run.what);
  return text;
}

base::Status write_scan_figure(const std::string& folder, bool is_quick, double documents,
                               const std::vector<ScanModeRun>& runs) {
  env::PosixFileSystem files;
  RETURN_IF_ERROR(files.make_dirs(folder));
  RETURN_IF_ERROR(env::write_file_atomically(files, folder + "/scan.svg", scan_figure(runs)));
  return env::write_file_atomically(files, folder + "/scan.md",
                                    scan_figure_text(this_machine(), is_quick, documents, runs));
}

}  // namespace meguri::bench
