#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/command.h"
#include "app/crawl_arguments.h"
#include "app/crawl_graph.h"
#include "app/crawl_metrics.h"
#include "app/crawl_snapshot.h"
#include "app/crawl_summary.h"
#include "app/crawl_view.h"
#include "app/metrics_server.h"
#include "app/speed_arguments.h"
#include "app/stop_signals.h"
#include "app/values.h"
#include "base/console.h"
#include "base/progress.h"
#include "env/posix_file_system.h"
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
    options.flag("--once", once_, "Visit every page once, and end when none is left");
    options.option("--for", "DURATION", for_,
                   "Stop after so much real time; the same command goes on");
    speed_.declare(options);
    options.option("--metrics", "HOST:PORT", metrics_,
                   "Serve Prometheus metrics there, such as 127.0.0.1:9090 (port 0: any)");
    options.flag("--quiet", quiet_, "Show no progress");
    options.flag("--json", json_, "Print one JSON object at the end");
  }

  base::Status run(Output& out) override;

 private:
  base::Status work(flow::ThreadEngine& engine, const CrawlWatch& watch,
                    const StopSignals& signals);
  void show(const CrawlWatch& watch, bool is_stopping, CrawlView& view,
            base::Progress& progress) const;
  base::Result<std::unique_ptr<MetricsServer>> serve_metrics(
      const std::atomic<const CrawlWatch*>& running) const;
  base::Status print_end(CrawlSnapshot end, env::FileSystem& files, Output& out) const;

  CrawlArguments arguments_;
  std::string archive_;
  std::string for_;
  std::string metrics_;
  SpeedArguments speed_;
  bool once_ = false;
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
                                const StopSignals& signals) {
  std::optional<Duration> limit;
  if (!for_.empty()) {
    ASSIGN_OR_RETURN(limit, parse_duration("--for", for_));
  }
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
      const bool is_late = stops == 0 && limit && now - start >= *limit;
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
    const std::atomic<const CrawlWatch*>& running) const {
  if (metrics_.empty()) return nullptr;
  const auto text = [&running] {
    const CrawlWatch* const watch = running;
    return watch == nullptr ? std::string("# the crawl begins\n") : metrics_text(watch->look());
  };
  ASSIGN_OR_RETURN(auto server, MetricsServer::start(metrics_, text));
  base::Console::standard_error().write_line("metrics at " + server->url());
  return server;
}

base::Status CrawlCommand::run(Output& out) {
  if (archive_.empty()) {
    return base::fail(base::ErrorCode::kInvalid,
                      "say where the archive is to be, by --archive DIR");
  }
  if (!once_) {
    return base::fail(base::ErrorCode::kInvalid,
                      "a crawl that goes on for ever is not there yet; give --once");
  }
  const StopSignals signals;
  env::PosixFileSystem files;
  ASSIGN_OR_RETURN(const crawl::CrawlOptions options, arguments_.options(archive_));
  ASSIGN_OR_RETURN(const std::unique_ptr<env::Clock> clock, speed_.make());
  ASSIGN_OR_RETURN(const CrawlSeams network, arguments_.seams(options, *clock, files));
  RETURN_IF_ERROR(files.make_dirs(archive_ + "/state"));
  RETURN_IF_ERROR(files.make_dirs(archive_ + "/warc"));
  ASSIGN_OR_RETURN(const auto lock, files.lock(archive_ + "/lock"));

  CrawlGraph nodes = build_crawl(options, network);
  flow::ThreadEngine engine(std::move(nodes.graph), {.clock = clock.get(),
                                                     .files = &files,
                                                     .state_dir = archive_ + "/state",
                                                     .epoch_every = kEpoch});
  std::optional<CrawlWatch> watch;
  std::atomic<const CrawlWatch*> running = nullptr;  // to the watch, once there is one
  // Before the crawl begins: its port may be taken.
  ASSIGN_OR_RETURN(const std::unique_ptr<MetricsServer> server, serve_metrics(running));
  RETURN_IF_ERROR(engine.start());
  running = &watch.emplace(engine, nodes, *clock, files, archive_);
  RETURN_IF_ERROR(work(engine, *watch, signals));
  return print_end(watch->look(), files, out);
}

base::Status CrawlCommand::print_end(CrawlSnapshot end, env::FileSystem& files, Output& out) const {
  ASSIGN_OR_RETURN(const CrawlSummary summary,
                   CrawlSummary::of(std::move(end), files, archive_, !stopped_));
  if (json_) {
    out.print("{}\n", summary.to_json().dump());
  } else {
    out.print("{}", summary.to_string());
  }
  return {};
}

}  // namespace

std::unique_ptr<Command> make_crawl_command() { return std::make_unique<CrawlCommand>(); }

}  // namespace meguri::app
