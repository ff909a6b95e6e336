// Reading a command line: what `meguri` and `meguri-bench` share, so that both say one clear
// sentence when they are used wrongly. Exit codes: 0 done, 1 failed, 2 wrong use.
//
// A face of CLI11, whose headers take ten seconds to compile: only command_line.cc pays that.
#pragma once

#include <memory>
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

// Where a program or one of its commands declares what it can be told. The variables are written
// when the line is parsed, so they must stay where they are until then. Borrows its CommandLine.
class Options {
 public:
  void flag(const std::string& name, bool& value, const std::string& help);  // "--json"
  // "--dir", "DIR": an option with a value, called DIR in the help.
  void option(const std::string& name, const std::string& type, std::string& value,
              const std::string& help);
  void argument(const std::string& name, std::string& value, const std::string& help);  // required
  // One or more, behind the others.
  void arguments(const std::string& name, std::vector<std::string>& values,
                 const std::string& help);
  // None or more, behind the others.
  void any_arguments(const std::string& name, std::vector<std::string>& values,
                     const std::string& help);
  // An option that may be given more than once.
  void list(const std::string& name, const std::string& type, std::vector<std::string>& values,
            const std::string& help);
  // A command within this one, and whether the arguments named the command of these options.
  Options add_command(const std::string& name, const std::string& summary,
                      const std::string& example);
  bool named() const;

 private:
  friend class CommandLine;
  explicit Options(CLI::App& app) : app_(&app) {}
  CLI::App* app_;
};

// One program's command line. Declare everything, then parse once. Thread-compatible.
class CommandLine {
 public:
  // `footer` ends the help; it holds an example.
  CommandLine(const std::string& program, const std::string& about, const std::string& footer);
  ~CommandLine();

  void set_version(const std::string& text);  // what --version prints
  Options options();                          // of the program itself
  Options add_command(const std::string& name, const std::string& summary,
                      const std::string& example);

  // `arguments` come without the program's name. Returns the exit code when nothing is left to do:
  // help or version was asked for and printed, or the use is wrong and was complained about.
  std::optional<int> parse(std::vector<std::string> arguments, Output& out);

  bool was_named(const std::string& command) const;  // by the arguments parsed

 private:
  std::unique_ptr<CLI::App> app_;
};

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
