#include "app/scan_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/archive_index.h"
#include "app/command_line.h"
#include "app/figures.h"
#include "archive/record_source.h"
#include "base/console.h"
#include "base/progress.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "scan/document_list.h"
#include "scan/document_source.h"
#include "scan/list_feed.h"
#include "scan/process_workers.h"
#include "scan/sinks.h"
#include "scan/worker.h"

namespace meguri::app {

namespace {

using archive::SnapshotItem;
using base::Ticks;

constexpr base::Duration kLookEvery = base::Duration::from_ms(50);
constexpr std::size_t kBarWidth = 20;
constexpr std::size_t kSortBytes = std::size_t{16} << 20U;  // of the list, in memory

// The items of one piece, added to the list.
class ListIntake final : public PieceOutput {
 public:
  explicit ListIntake(scan::DocumentListMaker& maker) : intake_(maker) {}
  base::Status take(const SnapshotItem& item) override { return intake_.add(item); }
  base::Status finish() override { return intake_.flush(); }

 private:
  scan::DocumentListMaker::Intake intake_;
};

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(share * kBarWidth);
  return std::string(full, '#') + std::string(kBarWidth - full, '.');
}

// Says how far a scan is, and sees whether it is to end.
class Watch {
 public:
  Watch(const env::Clock& clock, const StopSignals& signals, const scan::Dispatcher& dispatcher,
        std::uint64_t documents, std::uint64_t done, bool is_quiet)
      : clock_(clock),
        signals_(signals),
        dispatcher_(dispatcher),
        documents_(documents),
        done_(done),
        is_quiet_(is_quiet),
        began_(clock.ticks()),
        looked_(began_),
        progress_(base::Console::standard_error()) {}

  bool look() {
    const Ticks now = clock_.ticks();
    if (now - looked_ < kLookEvery) return is_stopped_;
    looked_ = now;
    is_stopped_ = is_stopped_ || signals_.wait(base::Duration());
    if (!is_quiet_ && progress_.is_due(now)) progress_.update(now, text(now));
    return is_stopped_;
  }
  void finish() { progress_.finish(is_quiet_ ? std::string() : text(clock_.ticks())); }
  double seconds() const { return (clock_.ticks() - began_).in_seconds(); }

 private:
  std::string text(Ticks now) const {
    const scan::DispatchCounts& counts = dispatcher_.counts();
    const std::uint64_t here = counts.results + counts.skipped;
    const std::uint64_t all = done_ + here;
    const double share =
        documents_ == 0 ? 1 : static_cast<double>(all) / static_cast<double>(documents_);
    const double seconds = std::max((now - began_).in_seconds(), 0.001);
    const double rate = static_cast<double>(here) / seconds;
    std::string line =
        fmt::format("scanning [{}] {:.0f} %: {} of {}, {} a second", bar(share), share * 100,
                    grouped(all), counted(documents_, "document", "documents"), rate_text(rate));
    if (here > 0 && all < documents_) {
      const double left = static_cast<double>(documents_ - all) / rate;
      line += fmt::format(
          ", {} left", base::Duration::from_ms(static_cast<std::int64_t>(left * 1000)).to_string());
    }
    if (counts.skipped > 0) line += fmt::format(", {} skipped", grouped(counts.skipped));
    return line;
  }

  const env::Clock& clock_;
  const StopSignals& signals_;
  const scan::Dispatcher& dispatcher_;
  const std::uint64_t documents_;
  const std::uint64_t done_;
  const bool is_quiet_;
  const Ticks began_;
  Ticks looked_;
  base::Progress progress_;
  bool is_stopped_ = false;
};

}  // namespace

base::Result<std::uint64_t> write_document_list(env::FileSystem& files, const SnapshotRun& run,
                                                const std::string& path) {
  scan::DocumentListMaker maker(files, env::parent_of(path), kSortBytes);
  RETURN_IF_ERROR(run_snapshot(run, [&](std::size_t, const std::atomic<bool>&) {
    return std::make_unique<ListIntake>(maker);
  }));
  return maker.write(path);
}

base::Status run_scan(env::FileSystem& files, const ScanRequest& request, const scan::DoneSet& done,
                      scan::DispatchSink& sink, ScanOutcome& outcome) {
  const env::RealClock clock;
  scan::DispatchSettings settings = request.dispatch;
  settings.worker_settings = request.analyser.to_json();
  if (done.size() > 0) settings.hopeless_after = std::numeric_limits<std::uint64_t>::max();
  scan::DocumentSource source(files, request.index.files(), request.archive,
                              request.analyser.scratch);
  const bool is_static = settings.mode == scan::DispatchMode::kStatic;
  const std::uint64_t done_before = done.size();
  ASSIGN_OR_RETURN(
      const auto feed,
      scan::ListFeed::open(files, request.list, is_static ? settings.workers : 1, done, source));
  scan::ProcessWorkers workers({.program = request.worker_program,
                                .arguments = {std::string(kScanWorker)},
                                .workers = settings.workers,
                                .shows_errors = request.shows_errors});
  env::Spool spool(files, request.analyser.scratch, {});
  std::optional<scan::OrderedSink> ordered;
  if (request.is_ordered) ordered.emplace(sink, done);
  scan::DispatchSink& to = ordered ? static_cast<scan::DispatchSink&>(*ordered) : sink;
  scan::Dispatcher dispatcher(std::move(settings), workers, *feed, to, clock, spool);
  dispatcher.set_on_usage(request.on_usage);
  Watch watch(clock, request.signals, dispatcher, feed->size(), done_before, request.is_quiet);
  const base::Status status = dispatcher.run([&] { return watch.look(); });
  watch.finish();
  outcome.counts = dispatcher.counts();
  outcome.workers = dispatcher.records();
  outcome.seconds = watch.seconds();
  return status;
}

std::string url_of(env::FileSystem& files, const ScanRequest& request,
                   const scan::DocumentPointer& pointer) {
  if (!pointer.facts.url.empty()) return pointer.facts.url;
  archive::RecordSource source(files, request.index.files(), request.archive);
  const auto reader = source.find(pointer.place);
  return reader ? std::string((*reader)->record().target_uri()) : std::string();
}

std::string describe_skipped(env::FileSystem& files, const ScanRequest& request,
                             const scan::SkippedDocument& document) {
  const scan::DocumentPointer& pointer = document.pointer;
  nlohmann::ordered_json json = {{"number", pointer.facts.number},
                                 {"url", url_of(files, request, pointer)},
                                 {"time", pointer.facts.time.to_rfc3339_ms()}};
  const auto& all = request.index.files();
  if (const auto file = all.find(pointer.place.file); !pointer.is_missing && file != all.end()) {
    json["file"] = path_of(file->second, request.archive);
    json["offset"] = pointer.place.offset;
  }
  json["tries"] = document.tries;
  json["reason"] = document.reason;
  if (!document.said.empty()) json["stderr"] = document.said;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

int run_scan_worker() {
  env::PosixFileSystem files;
  const env::RealClock clock;
  const auto status = scan::run_worker(scan::kWorkerDescriptor, files, clock);
  return status ? kExitDone : kExitFailed;
}

}  // namespace meguri::app
