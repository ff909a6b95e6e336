#include "bench/sat_figures.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "bench/control_group.h"
#include "bench/sat_experiments.h"
#include "bench/timing.h"

namespace meguri::bench {
namespace {

base::Status write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return std::unexpected(base::Error::from_errno(errno, "cannot write " + path));
}

std::string load_average() {
  std::ifstream file("/proc/loadavg");
  std::string minute;
  file >> minute;
  return minute;
}

std::string memory_limit() {
  constexpr std::uint64_t kTriedBytes = std::uint64_t{1} << 30U;
  const auto group = ControlGroup::make(kTriedBytes);
  if (group) return "a control group of its own keeps each store within it";
  return fmt::format(
      "no control group could be had ({}), so after a step that ends above it the store's files "
      "are synced, which counts, and dropped, which does not",
      group.error().message());
}

void add_points(const SatFigure& figure, Report& report) {
  for (const PlotSeries& series : figure.plot.series) {
    for (const auto& [x, y] : series.points) {
      report.add(fmt::format("{}, {}, {} {}", figure.name, series.name, figure.plot.x.label,
                             plot_number(x)),
                 y, figure.unit);
    }
  }
  for (const PlotLine& line : figure.plot.lines) {
    report.add(fmt::format("{}, {}", figure.name, line.name), line.at, figure.unit);
  }
}

}  // namespace

base::Status draw_sat_figures(const Options& options, Report& report) {
  const std::string& folder = options.figures;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return std::unexpected(base::Error::from_errno(error.value(), "cannot make " + folder));
  }
  // A run takes long, so what can fail at its end is tried before it.
  RETURN_IF_ERROR(write_text(folder + "/sat.md", ""));
  SatConditions conditions;
  conditions.machine = this_machine();
  conditions.load = load_average();
  conditions.limit = memory_limit();
  conditions.is_quick = options.quick;

  SatExperiments experiments(options.dir, options.quick ? SatScale::quick() : SatScale::full());
  base::Status status;
  const double seconds = seconds_of([&] { status = experiments.run(); });
  RETURN_IF_ERROR(status);
  for (const SatFigure& figure : experiments.figures()) {
    RETURN_IF_ERROR(write_text(folder + "/" + figure.name + ".svg", to_svg(figure.plot)));
    add_points(figure, report);
  }
  report.add("all figures", seconds, "s");
  return write_text(folder + "/sat.md", sat_figures_text(conditions, experiments.figures()));
}

std::string sat_figures_text(const SatConditions& conditions,
                             const std::vector<SatFigure>& figures) {
  const Machine& machine = conditions.machine;
  std::string text = fmt::format(
      "# The figures of papers 003 and 000, repeated\n\n"
      "Written by `./meguri bench sat --figures docs/experiments{}`.{}\n\n"
      "Machine: {}, {} cores, {:.1f} GiB, Linux {}, {}; load {} at the start. The papers': Core "
      "Duo "
      "2 GHz, 2 GiB, two disks of 7,200 rpm (72 MB/s, 8.5 ms a seek), the log on the second. Here "
      "all is on one disk.\n\n"
      "Records and periods are drawn so that the papers' rates come out (`bench/sat_load.cc`); "
      "each "
      "step ends with a sync, of which the papers say nothing. Before each run the files are "
      "dropped "
      "from the page cache. A store may use 768 MiB for 17,496,056 records and as much less for "
      "fewer, besides the pool and 16 MiB: {}. Times are real times per record.\n",
      conditions.is_quick ? " --quick" : "",
      conditions.is_quick
          ? " That is the small run: it shows that everything works, but where a step has a few "
            "thousand records its sync is most of the time."
          : "",
      machine.cpu, machine.cores, static_cast<double>(machine.memory_bytes) / (1U << 30U),
      machine.kernel, machine.compiler, conditions.load, conditions.limit);
  for (const SatFigure& figure : figures) {
    text += fmt::format("\n## {}\n\n{}\n\n![{}]({}.svg)\n\n{}\nPapers: {}\n", figure.plot.title,
                        figure.text, figure.plot.title, figure.name, to_markdown(figure.plot),
                        figure.paper);
    if (!figure.found.empty()) text += fmt::format("\nHere: {}\n", figure.found);
  }
  return text;
}

}  // namespace meguri::bench
