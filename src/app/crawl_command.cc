#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/added_seeds.h"
#include "app/archive_door.h"
#include "app/archive_index.h"
#include "app/command.h"
#include "app/control_server.h"
#include "app/control_service.h"
#include "app/crawl_arguments.h"
#include "app/crawl_graph.h"
#include "app/crawl_metrics.h"
#include "app/crawl_snapshot.h"
#include "app/crawl_standing.h"
#include "app/crawl_summary.h"
#include "app/crawl_view.h"
#include "app/metrics_server.h"
#include "app/speed_arguments.h"
#include "app/stop_signals.h"
#include "app/warm_start.h"
#include "base/console.h"
#include "base/log.h"
#include "base/progress.h"
#include "env/posix_file_system.h"
#include "env/process_usage.h"
#include "flow/thread_engine.h"

namespace meguri::app {
namespace {

using base::Duration;

constexpr Duration kEpoch = Duration::seconds(1);
constexpr Duration kFinishTime = Duration::seconds(10);  // for answers in flight, at a stop
constexpr Duration kLookEvery = Duration::from_ms(250);
// Plain lines come every 10 seconds, and less often when the crawl takes longer than this.
constexpr Duration kPlainOften = Duration::minutes(5);
constexpr Duration kPlainLater = Duration::seconds(30);

class CrawlCommand final : public Command {
 public:
  void declare(Options options) override {
    arguments_.declare(options);
    options.option("--archive", "DIR", archive_, "Where the archive is, or is to be");
    speed_.declare(options);
    options.flag("--quiet", quiet_, "Show no progress");
    options.flag("--json", json_, "Print one JSON object at the end");
  }

  base::Status run(Output& out) override;

 private:
  base::Status init(Output& out);
  base::Status work(flow::ThreadEngine& engine, const CrawlWatch& watch, const StopSignals& signals,
                    Duration time_max);
  void show(const CrawlWatch& watch, bool is_stopping, CrawlView& view,
            base::Progress& progress) const;
  base::Result<std::unique_ptr<MetricsServer>> serve_metrics(
      const std::string& address, const std::atomic<const CrawlWatch*>& running) const;
  base::Result<std::vector<FoundWarc>> earlier_files(const CrawlConfig& config,
                                                     const archive::TemporalIndex& index,
                                                     env::FileSystem& files) const;
  base::Status print_end(CrawlSnapshot end, env::FileSystem& files, Output& out) const;

  CrawlArguments arguments_;
  std::string archive_;
  SpeedArguments speed_;
  bool json_ = false;
  bool quiet_ = false;
  bool stopped_ = false;  // before everything was done
};

void CrawlCommand::show(const CrawlWatch& watch, bool is_stopping, CrawlView& view,
                        base::Progress& progress) const {
  if (quiet_) return;
  CrawlSnapshot now = watch.look();
  if (is_stopping) now.held = "stopping when the open requests are answered; again stops at once";
  const base::Ticks at = now.real_now;
  if (now.running >= kPlainOften) progress.set_plain_interval(kPlainLater);
  view.add(std::move(now));
  progress.update(at, view.lines(base::Console::standard_error().columns()), view.plain());
}

// Until all is done, a signal comes, or the time is over.
base::Status CrawlCommand::work(flow::ThreadEngine& engine, const CrawlWatch& watch,
                                const StopSignals& signals, Duration time_max) {
  const env::RealClock clock;
  CrawlView view;
  base::Progress progress(base::Console::standard_error());
  std::atomic<bool> is_over = false;
  std::thread watcher([&] {
    const base::Ticks start = clock.ticks();
    int stops = 0;
    base::Ticks last_stop;
    while (!is_over) {
      const bool signalled = signals.wait(kLookEvery);
      const base::Ticks now = clock.ticks();
      const bool is_late = stops == 0 && time_max > Duration() && now - start >= time_max;
      const bool is_slow = stops == 1 && now - last_stop >= kFinishTime;
      if (signalled || is_late || is_slow) {
        ++stops;
        last_stop = now;
        engine.stop_soon();
      }
      show(watch, stops > 0, view, progress);
    }
  });
  base::Status status = engine.run_until_quiet();
  if (!status && status.error().code() == base::ErrorCode::kStopped) {
    stopped_ = true;
    status = {};
  }
  if (status) status = engine.drain();
  if (!status && status.error().code() == base::ErrorCode::kStopped) status = engine.stop();
  is_over = true;
  watcher.join();
  show(watch, false, view, progress);
  return status;
}

// Null: nobody asked for them.
base::Result<std::unique_ptr<MetricsServer>> CrawlCommand::serve_metrics(
    const std::string& address, const std::atomic<const CrawlWatch*>& running) const {
  if (address.empty()) return nullptr;
  const auto text = [&running] {
    const CrawlWatch* const watch = running;
    return watch == nullptr ? std::string("# the crawl begins\n") : metrics_text(watch->look());
  };
  ASSIGN_OR_RETURN(auto server, MetricsServer::start(address, text));
  base::Console::standard_error().write_line("metrics at " + server->url());
  return server;
}

base::Status CrawlCommand::init(Output& out) {
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const std::string path, arguments_.init(archive_, files));
  out.print("{} is written; change what you like, then: meguri crawl --archive {} --once\n", path,
            archive_);
  return {};
}

// What tells of visits before this crawl: files that were named, and files that were imported.
base::Result<std::vector<FoundWarc>> CrawlCommand::earlier_files(
    const CrawlConfig& config, const archive::TemporalIndex& index, env::FileSystem& files) const {
  auto found = find_warcs(files, config.history);
  if (!found) return std::unexpected(found.error().with_context("--from-archive"));
  if (!config.crawl.revisit.is_on) return found;
  ASSIGN_OR_RETURN(const std::string archive, env::absolute_path(archive_));
  ASSIGN_OR_RETURN(const auto imported, imported_files(index, files, archive));
  found->insert(found->end(), imported.begin(), imported.end());
  return found;
}

base::Status CrawlCommand::run(Output& out) {
  if (archive_.empty()) {
    return base::fail(base::ErrorCode::kInvalid,
                      "say where the archive is to be, by --archive DIR");
  }
  if (arguments_.wants_init()) return init(out);
  env::PosixFileSystem files;
  // Before anything is read: who does not hold the lock may be adding seeds.
  std::unique_ptr<env::FileLock> lock;
  ASSIGN_OR_RETURN(const bool exists, files.exists(archive_));
  if (exists) {
    ASSIGN_OR_RETURN(lock, lock_archive(files, archive_));
  }
  ASSIGN_OR_RETURN(const CrawlConfig config, arguments_.config(archive_, files));
  const StopSignals signals;
  env::raise_open_files_max();  // sockets, and a file for each large body
  ASSIGN_OR_RETURN(const std::unique_ptr<env::Clock> clock, speed_.make());
  const std::string state_dir = archive_ + "/state";
  ASSIGN_OR_RETURN(CrawlSeams network, arguments_.seams(config, *clock, files, state_dir));
  RETURN_IF_ERROR(files.make_dirs(state_dir));
  RETURN_IF_ERROR(files.make_dirs(archive_ + "/warc"));
  if (!lock) {
    ASSIGN_OR_RETURN(lock, lock_archive(files, archive_));
  }
  RETURN_IF_ERROR(network.spool->open());
  for (const std::string& warning : warnings_of(config)) {
    base::Console::standard_error().write_line("meguri crawl: " + warning + ".");
  }

  ASSIGN_OR_RETURN(network.index, open_index_for_writing(archive_));
  ASSIGN_OR_RETURN(const auto earlier, earlier_files(config, *network.index, files));
  const auto history =
      WarmStart(config.crawl, files, state_dir, *clock).prepare(earlier, signals, quiet_);
  if (!history && history.error().code() == base::ErrorCode::kStopped) {
    base::Console::standard_error().write_line("meguri crawl: " + history.error().message() + ".");
    return {};
  }
  if (!history) {
    return std::unexpected(history.error().with_context("reading what was archived before"));
  }
  network.history = *history;

  CrawlGraph nodes = build_crawl(config.crawl, network);
  flow::ThreadEngine engine(
      std::move(nodes.graph),
      {.clock = clock.get(), .files = &files, .state_dir = state_dir, .epoch_every = kEpoch});
  std::optional<CrawlWatch> watch;
  std::atomic<const CrawlWatch*> running = nullptr;  // to the watch, once there is one
  // Before the crawl begins: its port may be taken.
  ASSIGN_OR_RETURN(const std::unique_ptr<MetricsServer> metrics,
                   serve_metrics(config.metrics, running));
  RETURN_IF_ERROR(engine.start());
  running = &watch.emplace(engine, nodes, *clock, files, archive_);
  ControlService service(archive_, files, *clock, nodes.mailbox, [&] {
    return status_json(engine.module(nodes.registry).counts(),
                       engine.module(nodes.scheduler).summary());
  });
  {
    const auto server = ControlServer::start(
        archive_,
        [&service](const std::string& line, const auto& reply) { service.handle(line, reply); });
    if (!server) {
      base::log_warn("nobody can speak with this crawl", {{"why", server.error().message()}});
    }
    RETURN_IF_ERROR(work(engine, *watch, signals, config.time_max));
  }
  return print_end(watch->look(), files, out);
}

base::Status CrawlCommand::print_end(CrawlSnapshot end, env::FileSystem& files, Output& out) const {
  const CrawlStanding standing = end.standing;
  ASSIGN_OR_RETURN(const CrawlSummary summary,
                   CrawlSummary::of(std::move(end), files, archive_, !stopped_));
  if (json_) {
    out.print("{}\n", summary.to_json().dump());
  } else {
    out.print("{}", summary.to_string());
  }
  return stopped_ ? base::Status() : standing.check_visited();
}

}  // namespace

std::unique_ptr<Command> make_crawl_command() { return std::make_unique<CrawlCommand>(); }

}  // namespace meguri::app
