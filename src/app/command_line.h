// Reading a command line: what `meguri` and `meguri-bench` share, so that both say one clear
// sentence when they are used wrongly. Exit codes: 0 done, 1 failed, 2 wrong use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/output.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace meguri::app {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongUse = 2;

// Parses `arguments` (without the program's name) into the options and subcommands of `app`.
// Returns the exit code when nothing is left to do: help or version was asked for and printed, or
// the use is wrong and was complained about.
std::optional<int> parse_command_line(CLI::App& app, std::vector<std::string> arguments,
                                      Output& out);

// Says on stderr "WHO: MESSAGE." and returns the exit code: kInvalid is wrong use.
int report_error(std::string_view who, const base::Error& error);

// The exit code of a program that has done its work, or failed to, after its output is flushed.
int finish(std::string_view who, const base::Status& status, Output& out);

// The name nearest to what was typed, if it is near enough to be a slip.
std::optional<std::string> nearest_name(std::string_view typed,
                                        const std::vector<std::string>& names);

// " (did you mean 'crawl'?)", or nothing.
std::string suggestion(std::string_view typed, const std::vector<std::string>& names);

}  // namespace meguri::app
