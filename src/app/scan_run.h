// A scan from its list of documents to its last result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/snapshot_run.h"
#include "app/stop_signals.h"
#include "archive/temporal_index.h"
#include "base/result.h"
#include "env/file_system.h"
#include "scan/analyser.h"
#include "scan/dispatcher.h"
#include "scan/run_folder.h"

namespace meguri::app {

// Writes the list of the documents of a snapshot to `path`; temporary files are beside it. How many
// there are.
base::Result<std::uint64_t> write_document_list(env::FileSystem& files, const SnapshotRun& run,
                                                const std::string& path);

struct ScanRequest {
  const StopSignals& signals;  // made before any thread was, those of the index among them
  const archive::TemporalIndex& index;
  std::string archive;              // its folder
  std::string list;                 // of documents, as write_document_list() wrote it
  scan::AnalyserSettings analyser;  // its scratch folder is used here, too
  scan::DispatchSettings dispatch;  // its worker settings are made of the analyser's
  std::string worker_program = "/proc/self/exe";
  bool is_ordered = false;
  bool shows_errors = false;  // what analysers say on standard error is shown
  bool is_quiet = false;      // says nothing of how far it is
  scan::Dispatcher::OnUsage on_usage = {};
};

struct ScanOutcome {
  scan::DispatchCounts counts;              // of this run
  std::vector<scan::WorkerRecord> workers;  // likewise
  double seconds = 0;
};

// Runs the analyser over the documents that are not done. kStopped: a signal came. The outcome is
// filled in whatever happens.
base::Status run_scan(env::FileSystem& files, const ScanRequest& request, const scan::DoneSet& done,
                      scan::DispatchSink& sink, ScanOutcome& outcome);

// The exact URL of a document, read from its record where the list does not have it; empty: it
// cannot be read.
std::string url_of(env::FileSystem& files, const ScanRequest& request,
                   const scan::DocumentPointer& pointer);

// A line of JSON that says which document has no result, and why.
std::string describe_skipped(env::FileSystem& files, const ScanRequest& request,
                             const scan::SkippedDocument& document);

// The first argument of the program that makes it a worker of a scan.
inline constexpr std::string_view kScanWorker = "scan-worker";
// All that such a program does; its exit code.
int run_scan_worker();

}  // namespace meguri::app
