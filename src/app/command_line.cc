#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

namespace meguri::app {

namespace {

// The command the user was in when the parse failed, or the program itself.
const CLI::App& deepest_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest_command(*parsed.front());
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string sentence_of_unexpected(const CLI::App& app, const CLI::App& command) {
  const std::vector<std::string> unexpected = app.remaining(true);
  if (unexpected.empty()) return "unexpected argument";
  const std::string& first = unexpected.front();
  if (first.starts_with('-')) {
    const std::string name = first.substr(0, first.find('='));
    return fmt::format("unknown option '{}'{}", name, suggestion(name, names_of_options(command)));
  }
  const std::vector<std::string> names = names_of_commands(command);
  if (names.empty()) return fmt::format("unexpected argument '{}'", first);
  return fmt::format("unknown command '{}'{}", first, suggestion(first, names));
}

std::string sentence_of(const CLI::ParseError& error, const CLI::App& app,
                        const CLI::App& command) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    return sentence_of_unexpected(app, command);
  }
  std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string option = text.substr(0, text.find(':'));
    return option + (text.ends_with("missing") ? " needs a value" : " was given too many values");
  }
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with('.') || text.ends_with(' ')) text.pop_back();
  return text;
}

// CLI11 hands what stands behind "--" to the program, not to its command. So each such argument is
// marked, which makes it one of the command whatever it begins with, and unmarked where it arrives.
constexpr char kPlainMark = '\x01';

void mark_plain(std::vector<std::string>& arguments) {
  const auto dashes = std::ranges::find(arguments, "--");
  if (dashes == arguments.end()) return;
  for (auto it = dashes + 1; it != arguments.end(); ++it) it->insert(it->begin(), kPlainMark);
  arguments.erase(dashes);
}

std::string unmarked(std::string text) {
  if (text.starts_with(kPlainMark)) text.erase(0, 1);
  return text;
}

}  // namespace

void Options::flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
}

void Options::option(const std::string& name, const std::string& type, std::string& value,
                     const std::string& help) {
  app_->add_option(name, value, help)->type_name(type);
}

void Options::argument(const std::string& name, std::string& value, const std::string& help) {
  app_->add_option(name, value, help)->required()->type_name("")->transform(unmarked, "", "");
}

void Options::arguments(const std::string& name, std::vector<std::string>& values,
                        const std::string& help) {
  app_->add_option(name, values, help)
      ->required()
      ->type_name("")
      ->expected(1, -1)
      ->transform(unmarked, "", "");
}

void Options::any_arguments(const std::string& name, std::vector<std::string>& values,
                            const std::string& help) {
  app_->add_option(name, values, help)->type_name("")->expected(0, -1)->transform(unmarked, "", "");
}

void Options::list(const std::string& name, const std::string& type,
                   std::vector<std::string>& values, const std::string& help) {
  app_->add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

Options Options::add_command(const std::string& name, const std::string& summary,
                             const std::string& example) {
  CLI::App* command = app_->add_subcommand(name, summary);
  command->group("Commands")->footer("Example:\n  " + example);
  return Options(*command);
}

bool Options::named() const { return app_->parsed(); }

CommandLine::CommandLine(const std::string& program, const std::string& about,
                         const std::string& footer)
    : app_(std::make_unique<CLI::App>(about + "\n", program)) {
  app_->set_help_flag("-h,--help", "Print this help");
  app_->get_formatter()->label("SUBCOMMAND", "COMMAND");
  app_->footer(footer);
  // One command, so that its arguments may be called as another.
  app_->require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

void CommandLine::set_version(const std::string& text) {
  app_->set_version_flag("--version", text, "Say which version this is");
}

Options CommandLine::options() { return Options(*app_); }

Options CommandLine::add_command(const std::string& name, const std::string& summary,
                                 const std::string& example) {
  return options().add_command(name, summary, example);
}

std::optional<int> CommandLine::parse(std::vector<std::string> arguments, Output& out) {
  mark_plain(arguments);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app_->parse(std::move(arguments));
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    const CLI::App& command = deepest_command(*app_);
    const CLI::App* parent = command.get_parent();
    out.write(command.help(parent == nullptr ? "" : full_name(*parent)));
  } catch (const CLI::CallForVersion& version) {
    out.print("{}\n", version.what());
  } catch (const CLI::ParseError& error) {
    const CLI::App& command = deepest_command(*app_);
    const std::string name = full_name(command);
    return report_error(name, base::Error(base::ErrorCode::kInvalid,
                                          fmt::format("{}; see '{} --help'",
                                                      sentence_of(error, *app_, command), name)));
  }
  return finish(app_->get_name(), {}, out);
}

bool CommandLine::was_named(const std::string& command) const {
  return app_->got_subcommand(command);
}

int report_error(std::string_view who, const base::Error& error) {
  const std::string line = fmt::format("{}: {}.\n", who, error.message());
  std::fwrite(line.data(), 1, line.size(), stderr);
  return error.code() == base::ErrorCode::kInvalid ? kExitWrongUse : kExitFailed;
}

int finish(std::string_view who, const base::Status& status, Output& out) {
  const base::Status written = out.finish();
  if (!status) return report_error(who, status.error());
  if (!written) return report_error(who, written.error());
  return kExitDone;
}

namespace {

// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view typed,
                                        const std::vector<std::string>& names) {
  constexpr std::size_t kTypedBytesMax = 64;  // longer is no slip, and the distance is quadratic
  if (typed.empty() || typed.size() > kTypedBytesMax) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t limit = 2 + typed.size() / 4;  // the distance must be below it
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(typed, name);
    if (distance < limit) {
      limit = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string suggestion(std::string_view typed, const std::vector<std::string>& names) {
  const std::optional<std::string> nearest = nearest_name(typed, names);
  return nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : std::string();
}

}  // namespace meguri::app
