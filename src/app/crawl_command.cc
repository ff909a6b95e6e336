#include <fmt/format.h>

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
#include "app/crawl_standing.h"
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
constexpr Duration kLookEvery = Duration::from_ms(500);

class CrawlCommand final : public Command {
 public:
  void declare(Options options) override {
    arguments_.declare(options);
    options.option("--archive", "DIR", archive_, "Where the archive is, or is to be");
    options.flag("--once", once_, "Visit every page once, and end when none is left");
    options.option("--for", "DURATION", for_,
                   "Stop after so much real time; the same command goes on");
    speed_.declare(options);
    options.flag("--json", json_, "Print one JSON object at the end");
  }

  base::Status run(Output& out) override;

 private:
  base::Status work(flow::ThreadEngine& engine, const CrawlGraph& nodes,
                    const StopSignals& signals);

  CrawlArguments arguments_;
  std::string archive_;
  std::string for_;
  SpeedArguments speed_;
  bool once_ = false;
  bool json_ = false;
  bool stopped_ = false;  // before everything was done
};

// Until all is done, a signal comes, or the time is over.
base::Status CrawlCommand::work(flow::ThreadEngine& engine, const CrawlGraph& nodes,
                                const StopSignals& signals) {
  std::optional<Duration> limit;
  if (!for_.empty()) {
    ASSIGN_OR_RETURN(limit, parse_duration("--for", for_));
  }
  const crawl::RegistryCounts& counts = engine.module(nodes.registry).counts();
  const crawl::Scheduler& scheduler = engine.module(nodes.scheduler);
  const env::RealClock clock;
  base::Progress progress(base::Console::standard_error());
  std::atomic<bool> is_over = false;
  std::thread watch([&] {
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
      const CrawlStanding standing = CrawlStanding::of(counts);
      progress.update(now,
                      fmt::format("{}; {}", standing.to_string(), scheduler.summary().to_string()));
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
  watch.join();
  progress.finish(CrawlStanding::of(counts).to_string());
  return status;
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
  RETURN_IF_ERROR(engine.start());
  RETURN_IF_ERROR(work(engine, nodes, signals));
  const CrawlStanding standing = CrawlStanding::of(engine.module(nodes.registry).counts());
  if (json_) {
    nlohmann::json result = standing.to_json();
    result["finished"] = !stopped_;
    out.print("{}\n", result.dump());
  } else {
    out.print("{}\n", standing.to_string());
    if (stopped_) out.print("stopped before the end; the same command goes on\n");
  }
  return stopped_ ? base::Status() : standing.check_visited();
}

}  // namespace

std::unique_ptr<Command> make_crawl_command() { return std::make_unique<CrawlCommand>(); }

}  // namespace meguri::app
