#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "app/archive_index.h"
#include "app/command.h"
#include "app/figures.h"
#include "app/result_file.h"
#include "app/scan_arguments.h"
#include "app/scan_output.h"
#include "app/scan_run.h"
#include "app/snapshot_arguments.h"
#include "app/stop_signals.h"
#include "base/console.h"
#include "env/clock.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using base::ErrorCode;

// Why documents were skipped, and how many.
using Reasons = std::map<std::string, std::uint64_t>;

class ScanCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive; a crawl may run on it");
    arguments_.declare(options);
    options.option("-o,--file", "FILE", file_, "Where the results go; standard output if not said");
    options.flag("--ordered", ordered_,
                 "Results in the order of the documents in the archive's files; else as they come");
    options.flag("--resume", resume_, "Go on with the run of -o FILE that was ended");
    options.flag("--show-errors", shows_errors_, "Show what analysers say on standard error");
    options.flag("--json", json_, "Print the summary as one JSON object; needs -o");
    options.flag("--quiet", quiet_, "Say nothing while it works");
    snapshot_.declare(options);
  }

  base::Status run(Output& out) override;

 private:
  base::Status check_use() const;
  base::Result<std::unique_ptr<ScanOutput>> open_output(ScanDescription& description, Output& out);
  base::Result<std::unique_ptr<ScanOutput>> begin(ScanDescription& description, Output& out);
  base::Status write_list(const archive::SnapshotQuery& query, std::size_t workers,
                          ScanOutput& output);
  std::string describe_skipped_document(const scan::SkippedDocument& document);
  base::Status end(const base::Status& status, ScanOutput& output, const ScanOutcome& outcome,
                   const ScanDescription& description, Output& out) const;
  std::string summary(const ScanOutput& output, const ScanOutcome& outcome,
                      const ScanDescription& description) const;
  nlohmann::ordered_json to_json(const ScanOutput& output, const ScanOutcome& outcome,
                                 const ScanDescription& description) const;

  ScanArguments arguments_;
  SnapshotArguments snapshot_;
  std::string archive_;
  std::string file_;
  bool ordered_ = false;
  bool resume_ = false;
  bool shows_errors_ = false;
  bool json_ = false;
  bool quiet_ = false;

  env::PosixFileSystem files_;
  std::unique_ptr<archive::TemporalIndex> index_;
  std::unique_ptr<ScanRequest> request_;
  Reasons reasons_;
};

base::Status ScanCommand::check_use() const {
  if (!ResultFile::is_output(file_)) return {};
  if (resume_) return base::fail(ErrorCode::kInvalid, "--resume needs the -o FILE of the run");
  if (json_) {
    return base::fail(ErrorCode::kInvalid,
                      "--json and the results both want standard output; say -o FILE");
  }
  return {};
}

std::string ScanCommand::describe_skipped_document(const scan::SkippedDocument& document) {
  ++reasons_[document.reason];
  return describe_skipped(files_, *request_, document);
}

base::Result<std::unique_ptr<ScanOutput>> ScanCommand::open_output(ScanDescription& description,
                                                                   Output& out) {
  const scan::DescribeSkipped describe = [this](const scan::SkippedDocument& document) {
    return describe_skipped_document(document);
  };
  if (resume_) return resume_file_output(files_, file_, description, describe);
  if (ResultFile::is_output(file_)) return make_stream_output(out, description, describe);
  return make_file_output(files_, file_, description, describe);
}

// A new run with its list, or one that was begun.
base::Result<std::unique_ptr<ScanOutput>> ScanCommand::begin(ScanDescription& description,
                                                             Output& out) {
  if (resume_) {
    ASSIGN_OR_RETURN(auto output, open_output(description, out));
    if (description.archive != archive_) {
      return base::fail(ErrorCode::kInvalid, "the run of {} is of the archive '{}', not of '{}'",
                        file_, description.archive, archive_);
    }
    if (arguments_.has_program()) {
      ASSIGN_OR_RETURN(const scan::AnalyserSettings analyser, arguments_.analyser());
      if (analyser.arguments != description.analyser.arguments) {
        return base::fail(ErrorCode::kInvalid, "the run of {} is of '{}'; leave the program out",
                          file_, describe(description.analyser));
      }
    }
    return output;
  }
  const env::RealClock clock;
  ASSIGN_OR_RETURN(const archive::SnapshotQuery query, snapshot_.query(clock.utc()));
  ASSIGN_OR_RETURN(description.analyser, arguments_.analyser());
  description.archive = archive_;
  description.snapshot = describe(query);
  description.is_ordered = ordered_;
  ASSIGN_OR_RETURN(const scan::DispatchSettings dispatch, arguments_.dispatch());
  ASSIGN_OR_RETURN(auto output, open_output(description, out));
  RETURN_IF_ERROR(write_list(query, dispatch.workers, *output));
  return output;
}

base::Status ScanCommand::write_list(const archive::SnapshotQuery& query, std::size_t workers,
                                     ScanOutput& output) {
  const SnapshotRun run{.index = *index_,
                        .query = query,
                        .workers = workers,
                        .is_quiet = quiet_,
                        .doing = "selecting"};
  ASSIGN_OR_RETURN(const std::uint64_t documents,
                   write_document_list(files_, run, output.list_path()));
  return output.begin(documents);
}

base::Status ScanCommand::run(Output& out) {
  const StopSignals signals;
  RETURN_IF_ERROR(check_use());
  ASSIGN_OR_RETURN(const scan::DispatchSettings dispatch, arguments_.dispatch());
  if (!resume_) RETURN_IF_ERROR(arguments_.analyser());  // wrong use is told before the index
  ASSIGN_OR_RETURN(index_, open_archive_index(files_, archive_));
  ScanDescription description;
  ASSIGN_OR_RETURN(const auto output, begin(description, out));
  request_ = std::make_unique<ScanRequest>(ScanRequest{.signals = signals,
                                                       .index = *index_,
                                                       .archive = archive_,
                                                       .list = output->list_path(),
                                                       .analyser = description.analyser,
                                                       .dispatch = dispatch,
                                                       .is_ordered = description.is_ordered,
                                                       .shows_errors = shows_errors_,
                                                       .is_quiet = quiet_});
  request_->analyser.scratch = env::parent_of(output->list_path());
  ScanOutcome outcome;
  const base::Status status = run_scan(files_, *request_, output->done(), output->sink(), outcome);
  return end(status, *output, outcome, description, out);
}

void write_lines(base::Console& console, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    console.write_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

base::Status ScanCommand::end(const base::Status& status, ScanOutput& output,
                              const ScanOutcome& outcome, const ScanDescription& description,
                              Output& out) const {
  if (!status) {
    RETURN_IF_ERROR(output.keep());
    const bool is_stopped = status.error().code() == ErrorCode::kStopped;
    if (is_stopped && out.is_broken()) return {};
    if (ResultFile::is_output(file_)) return status;
    return std::unexpected(base::Error(
        status.error().code(),
        fmt::format("{}; what there is is kept: --resume goes on", status.error().message())));
  }
  RETURN_IF_ERROR(output.finish());
  if (json_) {
    out.print("{}\n", to_json(output, outcome, description)
                          .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else if (!ResultFile::is_output(file_)) {
    out.write(summary(output, outcome, description));
  } else if (!quiet_) {
    write_lines(base::Console::standard_error(), summary(output, outcome, description));
  }
  const std::uint64_t skipped = output.counts().skipped;
  if (skipped == 0) return {};
  const std::string where = output.skipped_path();
  return base::fail(ErrorCode::kFailed, "{} skipped{}{}",
                    counted(skipped, "document was", "documents were"),
                    where.empty() ? "" : "; they are named in ", where);
}

// The share of the run's time in which a worker had a document.
double busy_share(const scan::WorkerRecord& worker, double seconds) {
  const double busy =
      static_cast<double>(worker.ready_ns - std::min(worker.idle_ns, worker.ready_ns));
  return seconds <= 0 ? 0 : std::min(busy / 1e9 / seconds, 1.0);
}

std::string ScanCommand::summary(const ScanOutput& output, const ScanOutcome& outcome,
                                 const ScanDescription& description) const {
  const scan::RunCounts& counts = output.counts();
  const std::uint64_t documents = counts.results + counts.skipped;
  const std::uint64_t here = outcome.counts.results + outcome.counts.skipped;
  std::string text =
      fmt::format("{} {}: {}", counted(documents, "document", "documents"), description.snapshot,
                  counted(counts.results, "result", "results"));
  if (!ResultFile::is_output(file_)) {
    text += fmt::format(" in {} ({})", printable(file_), bytes_text(output.bytes()));
  }
  text += fmt::format(", {} skipped; {} of this run in {:.1f} s, {} a second\n",
                      grouped(counts.skipped), grouped(here), outcome.seconds,
                      rate_text(static_cast<double>(here) / std::max(outcome.seconds, 0.001)));
  for (const auto& [reason, count] : reasons_) {
    text += fmt::format("  skipped {}: {}\n", grouped(count), printable(reason));
  }
  text += fmt::format("  {} of workers, {} after their share of documents\n",
                      counted(outcome.counts.failures, "failure", "failures"),
                      counted(outcome.counts.restarts, "restart", "restarts"));
  for (std::size_t i = 0; i < outcome.workers.size(); ++i) {
    const scan::WorkerRecord& worker = outcome.workers[i];
    text += fmt::format("  worker {}: {}, {:.0f} % busy, {:.1f} s of CPU\n", i + 1,
                        counted(worker.results, "result", "results"),
                        100 * busy_share(worker, outcome.seconds),
                        static_cast<double>(worker.cpu_ns) / 1e9);
  }
  return text;
}

nlohmann::ordered_json ScanCommand::to_json(const ScanOutput& output, const ScanOutcome& outcome,
                                            const ScanDescription& description) const {
  const scan::RunCounts& counts = output.counts();
  nlohmann::ordered_json json = {{"snapshot", description.snapshot},
                                 {"program", describe(description.analyser)},
                                 {"file", file_},
                                 {"bytes", output.bytes()},
                                 {"documents", counts.results + counts.skipped},
                                 {"results", counts.results},
                                 {"skipped", counts.skipped},
                                 {"reasons", reasons_},
                                 {"failures", outcome.counts.failures},
                                 {"restarts", outcome.counts.restarts},
                                 {"seconds", outcome.seconds},
                                 {"workers", nlohmann::ordered_json::array()}};
  for (const scan::WorkerRecord& worker : outcome.workers) {
    json["workers"].push_back({{"results", worker.results},
                               {"busy", busy_share(worker, outcome.seconds)},
                               {"cpu_seconds", static_cast<double>(worker.cpu_ns) / 1e9}});
  }
  return json;
}

}  // namespace

std::unique_ptr<Command> make_scan_command() { return std::make_unique<ScanCommand>(); }

}  // namespace meguri::app
