#include "app/scan_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/build_info.h"
#include "archive/warc_record.h"
#include "base/console.h"
#include "env/clock.h"
#include "env/scratch_folder.h"
#include "scan/builtin_analysers.h"
#include "scan/result_counts.h"

namespace meguri::app {

namespace {

using base::ErrorCode;

constexpr std::size_t kReadBytes = std::size_t{1} << 20U;

// What comes before all results.
std::string front_of(const ScanDescription& description, std::string_view file) {
  if (!scan::writes_warc(description.analyser)) return {};
  archive::WarcinfoFields info;
  info.software = fmt::format("meguri/{}", version());
  info.description = "documents of an archive " + description.snapshot;
  const env::RealClock clock;
  return scan::warc_front(info, file.substr(file.rfind('/') + 1), clock.utc());
}

base::Status feed_file(env::FileSystem& files, const std::string& path,
                       scan::ResultCounts& counts) {
  ASSIGN_OR_RETURN(const auto file, files.open_read(path));
  std::string piece;
  for (std::uint64_t offset = 0;; offset += piece.size()) {
    RETURN_IF_ERROR(file->read_at(offset, kReadBytes, &piece));
    if (piece.empty()) break;
    counts.feed(piece);
  }
  counts.finish();
  return {};
}

base::Status remove_if_there(env::FileSystem& files, const std::string& path) {
  const auto status = files.remove(path);
  if (!status && status.error().code() != ErrorCode::kNotFound) return status;
  return {};
}

class FileOutput final : public ScanOutput {
 public:
  FileOutput(env::FileSystem& files, std::string file, ScanDescription description,
             std::unique_ptr<scan::RunFolder> folder, scan::DescribeSkipped describe)
      : files_(files),
        file_(std::move(file)),
        description_(std::move(description)),
        folder_(std::move(folder)),
        sink_(*folder_, std::move(describe)) {}

  std::string list_path() const override { return folder_->list_path(); }
  base::Status begin(std::uint64_t documents) override {
    return folder_->begin(documents, front_of(description_, file_));
  }
  const scan::DoneSet& done() const override { return folder_->done(); }
  const scan::RunCounts& counts() const override { return folder_->counts(); }
  scan::DispatchSink& sink() override { return sink_; }
  base::Status keep() override { return folder_->commit(); }
  std::uint64_t bytes() const override { return bytes_; }
  std::string skipped_path() const override { return file_ + ".skipped.jsonl"; }

  // The results become the file last, so that whoever sees it sees all. A crash on the way leaves a
  // run that has ended, with which --resume comes here again.
  base::Status finish() override {
    RETURN_IF_ERROR(folder_->end());
    if (folder_->counts().skipped > 0) {
      RETURN_IF_ERROR(move_if_there(folder_->skipped_path(), skipped_path()));
    } else {
      RETURN_IF_ERROR(remove_if_there(files_, skipped_path()));
    }
    RETURN_IF_ERROR(scan::counts_results(description_.analyser)
                        ? write_table()
                        : move_if_there(folder_->results_path(), file_));
    RETURN_IF_ERROR(files_.sync_dir(env::parent_of(file_)));
    ASSIGN_OR_RETURN(bytes_, files_.size(file_));
    folder_->close();
    RETURN_IF_ERROR(scan::RunFolder::remove(files_, file_ + ".scan"));
    return env::remove_empty_folder(file_ + ".scan");
  }

 private:
  base::Status move_if_there(const std::string& from, const std::string& to) {
    ASSIGN_OR_RETURN(const bool is_there, files_.exists(from));
    return is_there ? files_.rename(from, to) : base::Status();
  }
  base::Status write_table() {
    scan::ResultCounts counts(scan::result_columns(description_.analyser));
    RETURN_IF_ERROR(feed_file(files_, folder_->results_path(), counts));
    return env::write_file_atomically(files_, file_, counts.to_lines());
  }

  env::FileSystem& files_;
  const std::string file_;
  const ScanDescription description_;
  const std::unique_ptr<scan::RunFolder> folder_;
  scan::FolderSink sink_;
  std::uint64_t bytes_ = 0;
};

class StreamOutput final : public ScanOutput, private scan::DispatchSink {
 public:
  StreamOutput(Output& out, env::ScratchFolder scratch, ScanDescription description,
               scan::DescribeSkipped describe)
      : out_(out),
        scratch_(std::move(scratch)),
        description_(std::move(description)),
        describe_(std::move(describe)) {
    if (scan::counts_results(description_.analyser))
      table_.emplace(scan::result_columns(description_.analyser));
  }

  std::string list_path() const override { return scratch_.path() + "/list"; }
  base::Status begin(std::uint64_t /*documents*/) override {
    write(front_of(description_, "standard-output.warc.gz"));
    return {};
  }
  const scan::DoneSet& done() const override { return done_; }
  const scan::RunCounts& counts() const override { return counts_; }
  scan::DispatchSink& sink() override { return *this; }
  base::Status keep() override { return {}; }
  base::Status finish() override {
    if (table_) {
      table_->finish();
      write(table_->to_lines());
    }
    out_.flush();
    return {};
  }
  std::uint64_t bytes() const override { return bytes_; }

 private:
  base::Status result(std::uint64_t /*number*/, const env::SpooledBytes& result) override {
    ++counts_.results;
    RETURN_IF_ERROR(result.for_each_piece([&](std::string_view piece) -> base::Status {
      if (table_) {
        table_->feed(piece);
      } else {
        write(piece);
      }
      return {};
    }));
    // `meguri scan … | head`: the reader had what it wanted.
    if (out_.is_broken()) return base::fail(ErrorCode::kStopped, "nobody reads the results");
    return {};
  }
  base::Status skipped(const scan::SkippedDocument& document) override {
    ++counts_.skipped;
    base::Console::standard_error().write_line("skipped: " + describe_(document));
    return {};
  }
  base::Status look(base::Ticks /*now*/) override {
    out_.flush();
    return {};
  }
  void write(std::string_view bytes) {
    out_.write(bytes);
    bytes_ += bytes.size();
  }

  Output& out_;
  const env::ScratchFolder scratch_;
  const ScanDescription description_;
  const scan::DescribeSkipped describe_;
  std::optional<scan::ResultCounts> table_;
  scan::DoneSet done_;  // nothing, ever
  scan::RunCounts counts_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::string ScanDescription::to_json() const {
  const nlohmann::ordered_json json = {
      {"archive", archive},
      {"snapshot", snapshot},
      {"ordered", is_ordered},
      {"analyser", nlohmann::ordered_json::parse(analyser.to_json())}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

base::Result<ScanDescription> ScanDescription::from_json(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  const auto fail = [] {
    return base::fail(ErrorCode::kCorrupt, "the description of the run cannot be read");
  };
  if (!json.is_object()) return fail();
  const auto archive = json.find("archive");
  const auto snapshot = json.find("snapshot");
  const auto ordered = json.find("ordered");
  const auto analyser = json.find("analyser");
  if (archive == json.end() || !archive->is_string() || snapshot == json.end() ||
      !snapshot->is_string() || ordered == json.end() || !ordered->is_boolean() ||
      analyser == json.end()) {
    return fail();
  }
  ScanDescription description;
  description.archive = archive->get<std::string>();
  description.snapshot = snapshot->get<std::string>();
  description.is_ordered = ordered->get<bool>();
  ASSIGN_OR_RETURN(description.analyser, scan::AnalyserSettings::from_json(analyser->dump()));
  return description;
}

base::Result<std::unique_ptr<ScanOutput>> make_file_output(env::FileSystem& files,
                                                           const std::string& file,
                                                           const ScanDescription& description,
                                                           scan::DescribeSkipped describe) {
  const std::string path = file + ".scan";
  auto folder = scan::RunFolder::create(files, path, description.to_json());
  if (!folder) {
    if (folder.error().code() != ErrorCode::kExists) return std::unexpected(folder.error());
    return base::fail(ErrorCode::kExists,
                      "{} holds a run that was not finished; say --resume to go on with it, or "
                      "remove it",
                      path);
  }
  return std::make_unique<FileOutput>(files, file, description, *std::move(folder),
                                      std::move(describe));
}

base::Result<std::unique_ptr<ScanOutput>> resume_file_output(env::FileSystem& files,
                                                             const std::string& file,
                                                             ScanDescription& description,
                                                             scan::DescribeSkipped describe) {
  auto folder = scan::RunFolder::open(files, file + ".scan");
  if (!folder) {
    if (folder.error().code() != ErrorCode::kNotFound) return std::unexpected(folder.error());
    return base::fail(ErrorCode::kNotFound, "there is no run of {} to go on with", file);
  }
  ASSIGN_OR_RETURN(description, ScanDescription::from_json((*folder)->description()));
  return std::make_unique<FileOutput>(files, file, description, *std::move(folder),
                                      std::move(describe));
}

base::Result<std::unique_ptr<ScanOutput>> make_stream_output(Output& out,
                                                             const ScanDescription& description,
                                                             scan::DescribeSkipped describe) {
  ASSIGN_OR_RETURN(env::ScratchFolder scratch, env::ScratchFolder::make("meguri-scan"));
  return std::make_unique<StreamOutput>(out, std::move(scratch), description, std::move(describe));
}

}  // namespace meguri::app
