#include "app/program.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "app/build_info.h"
#include "app/command.h"
#include "app/command_line.h"
#include "app/scan_run.h"

namespace meguri::app {

namespace {

constexpr const char* kAbout =
    "Meguri keeps an archive of a part of the web current for ever: it visits each page as often\n"
    "as that page changes, never troubles a server, and keeps every version.";

// `meguri help` and `meguri help NAME` are what people type first.
std::vector<std::string> help_as_option(std::vector<std::string> arguments) {
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return arguments;
}

}  // namespace

int run_program(std::vector<std::string> arguments) {
  // No command: nobody types it, and it is to start fast.
  if (!arguments.empty() && arguments.front() == kScanWorker) return run_scan_worker();
  Output out(stdout);
  CommandLine line("meguri", kAbout,
                   "'meguri COMMAND --help' explains a command.\n\n"
                   "Example:\n  meguri demo");
  line.set_version(fmt::format("meguri {}", version()));

  // The options of a command are its members, so all are made before the line is read.
  std::vector<std::unique_ptr<Command>> made;
  for (const CommandEntry& entry : commands()) {
    made.push_back(entry.make());
    made.back()->declare(line.add_command(entry.name, entry.summary, entry.example));
  }

  const auto ended = line.parse(help_as_option(std::move(arguments)), out);
  if (ended) return *ended;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const char* name = commands()[i].name;
    if (!line.was_named(name)) continue;
    return finish(fmt::format("meguri {}", name), made[i]->run(out), out);
  }
  return report_error("meguri", base::Error(base::ErrorCode::kInvalid,
                                            "name a command; 'meguri --help' lists them"));
}

}  // namespace meguri::app
