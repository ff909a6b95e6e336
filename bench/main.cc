// meguri-bench: what `meguri bench` becomes. A program of its own, because it links the peers it
// measures against.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/output.h"
#include "bench/benches.h"
#include "bench/report.h"
#include "bench/scratch.h"

namespace meguri::bench {

namespace {

constexpr const char* kName = "meguri bench";

struct Arguments {
  std::string bench;
  std::string output;
  Options options;
  bool json = false;
};

void declare(app::Options options, Arguments& arguments) {
  options.argument("NAME", arguments.bench, "Which benchmark; 'list' names them");
  options.flag("--quick", arguments.options.quick, "The same on a smaller load");
  options.flag("--json", arguments.json, "Print one JSON object");
  options.option("--dir", "DIR", arguments.options.dir, "Scratch folder");
  options.option("--output", "FILE", arguments.output, "Write the report to this file too");
  SatOptions& sat = arguments.options.sat;
  options.option("--records", "N", sat.records, "Of sat: how many records");
  options.option("--unit", "UNIT", sat.unit, "Of sat: hour, day, minute or mixed");
  options.option("--fixed", "BYTES", sat.fixed, "Of sat: bytes of a record besides its URL");
  options.option("--memory", "SIZE", sat.memory, "Of sat: what a store may use, such as 768M");
  options.option("--pool", "SIZE", sat.pool, "Of sat: memory of its write buffers, such as 32M");
  options.option("--page", "SIZE", sat.page, "Of sat: what these buffers grow by, such as 4K");
  options.option("--stores", "NAMES", sat.stores, "Of sat: which stores, with commas between");
  options.flag("--messages", sat.messages, "Of sat: a message for every record that is due");
  options.flag("--growth", sat.growth, "Of sat: instead, from 1 million records to all of them");
  options.option("--figures", "DIR", arguments.options.figures,
                 "Of sat: instead, draw the papers' figures and tell them in DIR/sat.md; of scan: "
                 "draw what each worker did, into DIR/scan.svg and DIR/scan.md");
}

base::Result<const Bench*> find_bench(const std::string& name) {
  const auto found = std::ranges::find(benches(), name, &Bench::name);
  if (found != benches().end()) return &*found;
  std::vector<std::string> names;
  for (const Bench& bench : benches()) names.emplace_back(bench.name);
  return base::fail(base::ErrorCode::kInvalid,
                    "there is no benchmark '{}'{}; 'meguri bench list' names them", name,
                    app::suggestion(name, names));
}

// `mode` "a" only proves that the file can be written, and keeps what it holds.
base::Status write_file(const std::string& path, const char* mode, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  bool good = file != nullptr;
  if (good) {
    good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    good = std::fflush(file) == 0 && good;
  }
  const int error_number = errno;
  if (file != nullptr) std::fclose(file);
  if (good) return {};
  return std::unexpected(base::Error::from_errno(error_number, "cannot write " + path));
}

base::Status run(Arguments& arguments, app::Output& out) {
  if (arguments.bench == "list") {
    for (const Bench& bench : benches()) out.print("{:<12} {}\n", bench.name, bench.summary);
    return {};
  }
  ASSIGN_OR_RETURN(const Bench* bench, find_bench(arguments.bench));
  // A run may take an hour, so what can fail at its end is tried before it.
  if (!arguments.output.empty()) RETURN_IF_ERROR(write_file(arguments.output, "a", ""));
  ASSIGN_OR_RETURN(const Scratch scratch, Scratch::make(arguments.options.dir));
  arguments.options.dir = scratch.path();

  Report report(bench->name);
  RETURN_IF_ERROR(bench->run(arguments.options, report));
  const std::string text = arguments.json ? report.to_json() : report.to_table();
  out.write(text);
  if (!arguments.output.empty()) RETURN_IF_ERROR(write_file(arguments.output, "w", text));
  return {};
}

int run_program(std::vector<std::string> words) {
  app::Output out(stdout);
  Arguments arguments;
  app::CommandLine line(kName, "Measure a part of the program on this machine",
                        "Example:\n  meguri bench flow --quick");
  declare(line.options(), arguments);
  if (const auto ended = line.parse(std::move(words), out)) return *ended;
  const base::Status status = run(arguments, out);
  return app::finish(kName, status, out);
}

}  // namespace

}  // namespace meguri::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return meguri::bench::run_program({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "meguri bench: stopped by an unexpected failure: %s.\n", error.what());
    return meguri::app::kExitFailed;
  }
}
