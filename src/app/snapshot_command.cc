#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/archive_index.h"
#include "app/build_info.h"
#include "app/command.h"
#include "app/figures.h"
#include "app/parallel_work.h"
#include "app/result_file.h"
#include "app/snapshot_arguments.h"
#include "app/snapshot_run.h"
#include "archive/snapshot_lines.h"
#include "archive/snapshot_warc.h"
#include "base/console.h"
#include "env/clock.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using archive::SnapshotItem;
using archive::SnapshotWalk;
using archive::SnapshotWarc;
using base::ErrorCode;

constexpr std::size_t kLostShownMax = 20;

// The items of one piece, added to what will be written as a WARC file.
class WarcIntake final : public PieceOutput {
 public:
  explicit WarcIntake(SnapshotWarc& warc) : intake_(warc) {}
  base::Status take(const SnapshotItem& item) override { return intake_.add(item); }
  base::Status finish() override { return intake_.flush(); }

 private:
  SnapshotWarc::Intake intake_;
};

// What came of it, for people and programs.
struct Outcome {
  SnapshotWalk::Counts counts;
  std::uint64_t bytes = 0;
  bool has_records = false;  // a WARC or WACZ file was written
  archive::SnapshotWarcCounts records = {};
  std::vector<archive::LostRecord> lost = {};  // the first ones
};

class SnapshotCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive; a crawl may run on it");
    arguments_.declare(options);
    options.option("--output", "FORMAT", format_, "urls (the default), cdxj, warc or wacz");
    options.option("-o,--file", "FILE", file_, "Where to write; standard output if not said");
    options.flag("--raw", raw_,
                 "Of cdxj: point to the records of the visits themselves, revisits too, instead of "
                 "to their content");
    options.option("--title", "TEXT", title_, "Of wacz: what it is called");
    options.option("--workers", "N", workers_, "Threads; as many as there are cores if not said");
    options.flag("--json", json_, "Print one JSON object that tells what was written; needs -o");
    options.flag("--quiet", quiet_, "Say nothing while it works");
  }

  base::Status run(Output& out) override;

 private:
  enum class Format : std::uint8_t { kUrls, kCdxj, kWarc, kWacz };

  base::Result<Format> parse_format() const;
  base::Status check_use(Format format) const;
  base::Result<Outcome> write_lines(const SnapshotRun& run, Format format, ResultFile& file) const;
  base::Result<Outcome> write_warc(const SnapshotRun& run, base::Instant now, Format format,
                                   env::FileSystem& files, ResultFile& file) const;
  void tell(const Outcome& outcome, const archive::SnapshotQuery& query, Output& out) const;
  nlohmann::ordered_json to_json(const Outcome& outcome, const archive::SnapshotQuery& query) const;

  SnapshotArguments arguments_;
  std::string archive_;
  std::string format_;
  std::string file_;
  std::string title_;
  std::string workers_;
  bool raw_ = false;
  bool json_ = false;
  bool quiet_ = false;
};

base::Result<SnapshotCommand::Format> SnapshotCommand::parse_format() const {
  if (format_.empty() || format_ == "urls") return Format::kUrls;
  if (format_ == "cdxj") return Format::kCdxj;
  if (format_ == "warc") return Format::kWarc;
  if (format_ == "wacz") return Format::kWacz;
  return base::fail(ErrorCode::kInvalid, "--output must be urls, cdxj, warc or wacz, not '{}'",
                    format_);
}

base::Status SnapshotCommand::check_use(Format format) const {
  const bool is_to_output = ResultFile::is_output(file_);
  if (is_to_output && (format == Format::kWarc || format == Format::kWacz)) {
    return base::fail(ErrorCode::kInvalid, "--output {} needs a file; say -o FILE", format_);
  }
  if (is_to_output && json_) {
    return base::fail(ErrorCode::kInvalid,
                      "--json and the snapshot both want standard output; say -o FILE");
  }
  if (raw_ && format != Format::kCdxj) {
    return base::fail(ErrorCode::kInvalid, "--raw is of --output cdxj");
  }
  return {};
}

base::Status SnapshotCommand::run(Output& out) {
  env::PosixFileSystem files;
  const env::RealClock clock;
  const base::Instant now = clock.utc();
  ASSIGN_OR_RETURN(archive::SnapshotQuery query, arguments_.query(now));
  ASSIGN_OR_RETURN(const Format format, parse_format());
  RETURN_IF_ERROR(check_use(format));
  ASSIGN_OR_RETURN(const std::size_t workers, parse_workers(workers_));
  query.has_content = format != Format::kUrls && !raw_;
  ASSIGN_OR_RETURN(const auto index, open_archive_index(files, archive_));
  const SnapshotRun run{.index = *index,
                        .query = query,
                        .workers = workers,
                        // Lines on a terminal are progress enough.
                        .is_quiet = quiet_ || ResultFile::is_output(file_),
                        .doing = "selecting"};
  ASSIGN_OR_RETURN(const auto file, ResultFile::open(files, file_, out));
  const bool is_lines = format == Format::kUrls || format == Format::kCdxj;
  auto outcome =
      is_lines ? write_lines(run, format, *file) : write_warc(run, now, format, files, *file);
  if (!outcome) {
    // `meguri snapshot … | head`: the reader had what it wanted.
    if (outcome.error().code() == ErrorCode::kStopped && out.is_broken()) return {};
    return std::unexpected(outcome.error());
  }
  RETURN_IF_ERROR(file->finish());
  outcome->bytes = file->bytes();
  tell(*outcome, query, out);
  if (outcome->records.lost == 0) return {};
  return base::fail(ErrorCode::kCorrupt, "{} could not be read; 'meguri verify {}' says more",
                    counted(outcome->records.lost, "record", "records"), archive_);
}

base::Result<Outcome> SnapshotCommand::write_lines(const SnapshotRun& run, Format format,
                                                   ResultFile& file) const {
  const archive::CdxjFileNames names(run.index.files());
  AppendLines append = archive::append_url_line;
  if (format == Format::kCdxj) {
    append = [&](const SnapshotItem& item, std::string& text) {
      if (raw_) {
        archive::append_raw_cdxj_line(item, names, text);
      } else {
        archive::append_cdxj_line(item, names, text);
      }
    };
  }
  Outcome outcome;
  ASSIGN_OR_RETURN(outcome.counts, write_snapshot_lines(run, append, [&](std::string_view bytes) {
                     return file.write(bytes);
                   }));
  return outcome;
}

base::Result<Outcome> SnapshotCommand::write_warc(const SnapshotRun& run, base::Instant now,
                                                  Format format, env::FileSystem& files,
                                                  ResultFile& file) const {
  archive::SnapshotWarcOptions options;
  options.archive = archive_;
  options.scratch = env::parent_of(file_);
  options.name = file_.substr(file_.rfind('/') + 1);
  options.info.software = fmt::format("meguri/{}", version());
  options.info.description = "what an archive has " + describe(run.query);
  options.date = now;
  options.reads_pages = format == Format::kWacz;
  SnapshotWarc warc(files, run.index.files(), std::move(options));
  Outcome outcome;
  ASSIGN_OR_RETURN(outcome.counts, run_snapshot(run, [&](std::size_t, const std::atomic<bool>&) {
                     return std::make_unique<WarcIntake>(warc);
                   }));
  outcome.has_records = true;
  archive::SnapshotWarcEvents events;
  events.lost = [&](const archive::LostRecord& lost) {
    if (outcome.lost.size() < kLostShownMax) outcome.lost.push_back(lost);
  };
  ASSIGN_OR_RETURN(outcome.records,
                   warc.write([&](std::string_view bytes) { return file.write(bytes); }, events));
  return outcome;
}

nlohmann::ordered_json SnapshotCommand::to_json(const Outcome& outcome,
                                                const archive::SnapshotQuery& query) const {
  nlohmann::ordered_json json = {{"snapshot", describe(query)},
                                 {"output", format_.empty() ? "urls" : format_},
                                 {"file", file_},
                                 {"items", outcome.counts.items},
                                 {"pages", outcome.counts.pages},
                                 {"bytes", outcome.bytes}};
  if (!outcome.has_records) return json;
  json["records"] = outcome.records.records();
  json["lost"] = outcome.records.lost;
  json["losses"] = nlohmann::ordered_json::array();
  for (const archive::LostRecord& lost : outcome.lost) {
    json["losses"].push_back(
        {{"file", lost.path}, {"offset", lost.offset}, {"reason", lost.reason}});
  }
  return json;
}

void SnapshotCommand::tell(const Outcome& outcome, const archive::SnapshotQuery& query,
                           Output& out) const {
  if (json_) {
    out.print("{}\n", to_json(outcome, query)
                          .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  for (const archive::LostRecord& lost : outcome.lost) {
    base::Console::standard_error().write_line(
        fmt::format("{} at {}: {}", printable(lost.path), lost.offset, printable(lost.reason)));
  }
  if (ResultFile::is_output(file_)) return;
  out.print("{} of {} {}", counted(outcome.counts.items, "item", "items"),
            counted(outcome.counts.pages, "page", "pages"), describe(query));
  if (outcome.has_records) {
    out.print(", {}", counted(outcome.records.records(), "record", "records"));
  }
  out.print(": {} in {}\n", bytes_text(outcome.bytes), printable(file_));
}

}  // namespace

std::unique_ptr<Command> make_snapshot_command() { return std::make_unique<SnapshotCommand>(); }

}  // namespace meguri::app
