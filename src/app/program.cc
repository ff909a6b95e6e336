#include "app/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <utility>

#include "app/build_info.h"
#include "app/command.h"
#include "app/command_line.h"

namespace meguri::app {

namespace {

constexpr const char* kAbout =
    "Meguri keeps an archive of a part of the web current for ever: it visits each page as often\n"
    "as that page changes, never troubles a server, and keeps every version.\n";

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
  Output out(stdout);
  CLI::App app(kAbout, "meguri");
  app.set_version_flag("--version", fmt::format("meguri {}", version()), "Say which version");
  app.set_help_flag("-h,--help", "Print this help");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.footer("'meguri COMMAND --help' explains a command.\n\nExample:\n  meguri version --json");

  // The options of a command point into it, so all are made before the line is read.
  std::vector<std::unique_ptr<Command>> made;
  for (const CommandEntry& entry : commands()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    command->group("Commands")->footer(fmt::format("Example:\n  {}", entry.example));
    made.push_back(entry.make());
    made.back()->declare(*command);
  }

  const auto ended = parse_command_line(app, help_as_option(std::move(arguments)), out);
  if (ended) return *ended;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const char* name = commands()[i].name;
    if (!app.got_subcommand(name)) continue;
    return finish(fmt::format("meguri {}", name), made[i]->run(out), out);
  }
  return report_error("meguri", base::Error(base::ErrorCode::kInvalid,
                                            "name a command; 'meguri --help' lists them"));
}

}  // namespace meguri::app
