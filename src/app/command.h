// Command: one subcommand of `meguri`, and the list of them all.
#pragma once

#include <memory>
#include <span>

#include "app/command_line.h"
#include "app/output.h"
#include "base/result.h"

namespace meguri::app {

// Lives from the reading of the command line to the end of the program. Its options are its
// members, so it must not move between declare() and run().
class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  virtual void declare(Options options) = 0;  // says what it can be told
  // Called once, after a successful parse. The result goes to `out`, progress to stderr. An error
  // of kInvalid is wrong use (exit code 2), every other a failure (1).
  virtual base::Status run(Output& out) = 0;
};

struct CommandEntry {
  const char* name;
  const char* summary;  // one line of `meguri --help`
  const char* example;  // the end of `meguri NAME --help`
  std::unique_ptr<Command> (*make)();
};

// In the order in which `meguri --help` shows them.
std::span<const CommandEntry> commands();

std::unique_ptr<Command> make_add_command();
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_canon_command();
std::unique_ptr<Command> make_crawl_command();
std::unique_ptr<Command> make_demo_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_hosts_command();
std::unique_ptr<Command> make_import_command();
std::unique_ptr<Command> make_inspect_command();
std::unique_ptr<Command> make_pause_command();
std::unique_ptr<Command> make_remove_command();
std::unique_ptr<Command> make_repair_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_resume_command();
std::unique_ptr<Command> make_robots_command();
std::unique_ptr<Command> make_scan_command();
std::unique_ptr<Command> make_simulate_command();
std::unique_ptr<Command> make_snapshot_command();
std::unique_ptr<Command> make_status_command();
std::unique_ptr<Command> make_store_command();
std::unique_ptr<Command> make_verify_command();
std::unique_ptr<Command> make_version_command();
std::unique_ptr<Command> make_virtual_web_command();
std::unique_ptr<Command> make_url_command();
std::unique_ptr<Command> make_warc_command();
std::unique_ptr<Command> make_why_command();

}  // namespace meguri::app
