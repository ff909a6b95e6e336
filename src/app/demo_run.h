// DemoRun: the programs of `meguri demo` at work: a virtual web and a crawler, each in a process of
// its own, on files in one folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/child_program.h"
#include "app/demo_world.h"
#include "app/log_tail.h"
#include "app/stop_signals.h"
#include "base/result.h"
#include "base/time.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "sim/access_log.h"

namespace meguri::app {

// Calls fail with kStopped when a signal comes while they wait. Ends its programs with itself.
// Thread-compatible; no other thread may run beside it, since it forks.
class DemoRun {
 public:
  // How far the crawl is, told about ten times a second.
  struct Standing {
    base::Ticks now;
    std::size_t addresses = 0;  // visited, by the servers' log
    std::size_t hosts = 0;
    double requests_per_second = 0;  // since it was last started
  };
  using Watcher = std::function<void(const Standing&)>;

  DemoRun(const StopSignals& signals, std::string folder, std::uint64_t pages);

  const DemoWorld& web() const { return web_; }
  env::FileSystem& files() { return files_; }
  std::string path(std::string_view name) const;  // of a file in the folder
  const std::string& folder() const { return folder_; }

  base::Status start_web();
  const std::string& seed() const { return seed_; }  // a URL of it
  const std::string& port() const { return port_; }  // ":8080"
  base::Instant web_time() const { return web_.time_at(clock_.utc()); }
  // Ends it; then its log is whole.
  base::Result<std::vector<sim::Access>> stop_web();

  // The same command each time. It goes on where the last one was killed.
  base::Status start_crawl();
  // Until it ends, or has visited so many addresses. True: it ended, with success.
  base::Result<bool> watch_crawl(std::optional<std::size_t> addresses, const Watcher& watcher);
  base::Status kill_crawl();  // at once
  // What this program says with other arguments, when it is done.
  base::Result<std::string> ask(const std::vector<std::string>& arguments);
  std::uint64_t requests() const { return tail_.requests(); }
  std::size_t addresses() const { return tail_.addresses(); }

  double seconds() const { return (clock_.ticks() - begin_).in_seconds(); }
  double crawl_seconds() const { return crawl_seconds_; }  // real ones, that were watched

 private:
  base::Status rest() const;
  std::string last_words(const std::string& name);

  const StopSignals& signals_;
  const std::string folder_;
  const env::RealClock clock_;
  env::PosixFileSystem files_;
  const base::Ticks begin_;
  const DemoWorld web_;
  LogTail tail_;
  std::optional<ChildProgram> web_process_;
  std::optional<ChildProgram> crawl_process_;
  std::string seed_;
  std::string port_;
  std::string dns_;
  double crawl_seconds_ = 0;
};

}  // namespace meguri::app
