#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/archive_door.h"
#include "app/archive_index.h"
#include "app/command.h"
#include "app/figures.h"
#include "app/found_warcs.h"
#include "app/parallel_work.h"
#include "app/stop_signals.h"
#include "archive/importer.h"
#include "base/mutex.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using archive::Imported;
using archive::ImportOutcome;
using base::ErrorCode;
using base::MutexLock;

// What came of all files. Thread-safe.
class ImportTally {
 public:
  explicit ImportTally(const std::vector<FoundWarc>& found) : files_(found.size()) {
    for (const FoundWarc& file : found) bytes_ += file.bytes;
  }

  void add(std::uint64_t bytes, std::uint64_t entries) {
    const MutexLock lock(mutex_);
    bytes_done_ += bytes;
    entries_ += entries;
  }
  void end(const Imported& imported) {
    const MutexLock lock(mutex_);
    ++outcomes_[imported.outcome];
    ++files_done_;
    const bool is_new =
        imported.outcome == ImportOutcome::kAdded || imported.outcome == ImportOutcome::kReplaced;
    if (is_new && imported.file.damages > 0) {
      damaged_.emplace_back(imported.file.path, imported.file.damages);
    }
  }
  void fail(const std::string& path, const base::Error& error) {
    const MutexLock lock(mutex_);
    ++files_done_;
    failed_.emplace_back(path, error.message());
  }

  std::string progress() const {
    const MutexLock lock(mutex_);
    return fmt::format("importing: {} of {}, {} of {}, {}", grouped(files_done_),
                       counted(files_, "file", "files"), bytes_text(bytes_done_),
                       bytes_text(bytes_), counted(entries_, "entry", "entries"));
  }
  nlohmann::ordered_json to_json() const {
    const MutexLock lock(mutex_);
    nlohmann::ordered_json json = {{"files", files_},
                                   {"added", count_of(ImportOutcome::kAdded)},
                                   {"replaced", count_of(ImportOutcome::kReplaced)},
                                   {"moved", count_of(ImportOutcome::kMoved)},
                                   {"known", count_of(ImportOutcome::kKnown)},
                                   {"failed", failed_.size()},
                                   {"bytes", bytes_done_},
                                   {"entries", entries_}};
    json["damaged"] = nlohmann::ordered_json::array();
    for (const auto& [path, places] : damaged_) {
      json["damaged"].push_back({{"file", path}, {"places", places}});
    }
    json["errors"] = nlohmann::ordered_json::array();
    for (const auto& [path, why] : failed_) {
      json["errors"].push_back({{"file", path}, {"error", why}});
    }
    return json;
  }
  void print(Output& out) const {
    const MutexLock lock(mutex_);
    for (const auto& [path, why] : failed_) out.print("{}: {}\n", printable(path), printable(why));
    for (const auto& [path, places] : damaged_) {
      out.print("{}: damaged in {}; the rest was read ('meguri warc check' says where)\n",
                printable(path), counted(places, "place", "places"));
    }
    const std::uint64_t is_new =
        count_of(ImportOutcome::kAdded) + count_of(ImportOutcome::kReplaced);
    out.print("{} imported, {} known already, {} that could not be read; {}\n",
              counted(is_new, "file", "files"),
              grouped(count_of(ImportOutcome::kKnown) + count_of(ImportOutcome::kMoved)),
              grouped(failed_.size()), counted(entries_, "new entry", "new entries"));
  }
  std::size_t failed() const {
    const MutexLock lock(mutex_);
    return failed_.size();
  }

 private:
  std::uint64_t count_of(ImportOutcome outcome) const REQUIRES(mutex_) {
    const auto found = outcomes_.find(outcome);
    return found == outcomes_.end() ? 0 : found->second;
  }

  const std::size_t files_;
  std::uint64_t bytes_ = 0;  // of all files
  mutable base::Mutex mutex_;
  std::uint64_t bytes_done_ GUARDED_BY(mutex_) = 0;
  std::uint64_t entries_ GUARDED_BY(mutex_) = 0;
  std::size_t files_done_ GUARDED_BY(mutex_) = 0;
  std::map<ImportOutcome, std::uint64_t> outcomes_ GUARDED_BY(mutex_);
  std::vector<std::pair<std::string, std::uint64_t>> damaged_ GUARDED_BY(mutex_);
  std::vector<std::pair<std::string, std::string>> failed_ GUARDED_BY(mutex_);
};

base::Status told_to_go_on(const base::Status& status) {
  if (status || status.error().code() != ErrorCode::kStopped) return status;
  return base::fail(ErrorCode::kStopped, "stopped; the same command goes on where it was");
}

class ImportCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive; it is made if there is none");
    options.arguments("FILE", paths_,
                      "WARC or ARC files of anybody's, plain, gzip or zstd, or folders of them");
    options.flag("--copy", copies_,
                 "Copy the files into the archive; without, they are read where they are");
    options.flag("--check", checks_,
                 "Read every byte, so that all damage is told; without, contents are passed over "
                 "where records tell their compressed lengths, as those of wget and Meguri do");
    options.flag("--remove", removes_, "Take files out again that were imported");
    options.option("--workers", "N", workers_, "Threads; as many as there are cores if not said");
    options.flag("--json", json_, "Print one JSON object");
    options.flag("--quiet", quiet_, "Say nothing while it works");
  }

  base::Status run(Output& out) override;

 private:
  base::Status check(env::FileSystem& files) const;
  base::Status remove(archive::Importer& importer, const StopSignals& signals, Output& out);
  base::Status import(archive::Importer& importer, const std::vector<FoundWarc>& found,
                      std::size_t workers, ImportTally& tally);

  std::string archive_;
  std::vector<std::string> paths_;
  std::string workers_;
  bool copies_ = false;
  bool checks_ = false;
  bool removes_ = false;
  bool json_ = false;
  bool quiet_ = false;
};

base::Status ImportCommand::check(env::FileSystem& files) const {
  if (!removes_) return {};
  if (copies_ || checks_) {
    return base::fail(ErrorCode::kInvalid,
                      "{} brings files in and --remove takes them out; leave out one of them",
                      copies_ ? "--copy" : "--check");
  }
  return check_has_index(files, archive_);
}

base::Status ImportCommand::run(Output& out) {
  env::PosixFileSystem files;
  RETURN_IF_ERROR(check(files));
  ASSIGN_OR_RETURN(const std::size_t workers, parse_workers(workers_));
  std::vector<FoundWarc> found;
  if (!removes_) {
    ASSIGN_OR_RETURN(found, find_warcs(files, paths_));
  }
  RETURN_IF_ERROR(files.make_dirs(archive_));
  ASSIGN_OR_RETURN(const std::string archive, env::absolute_path(archive_));
  ASSIGN_OR_RETURN(const auto lock, lock_archive(files, archive));
  RETURN_IF_ERROR(files.make_dirs(archive + "/warc"));
  // They end neither the index's own threads, which are of this one, nor its last flush.
  const StopSignals signals(StopSignals::Rest::kDropped);
  ASSIGN_OR_RETURN(const auto index, open_index_for_writing(archive));
  using Reading = archive::FileIndexer::Reading;
  archive::Importer importer(*index, files, archive, checks_ ? Reading::kAll : Reading::kFronts);
  if (removes_) return remove(importer, signals, out);
  for (FoundWarc& file : found) {
    ASSIGN_OR_RETURN(file.path, env::absolute_path(file.path));
  }
  ImportTally tally(found);
  const auto status = import(importer, found, workers, tally);
  RETURN_IF_ERROR(index->flush());
  RETURN_IF_ERROR(told_to_go_on(status));
  if (json_) {
    out.print("{}\n", tally.to_json().dump(-1, ' ', false,
                                           nlohmann::ordered_json::error_handler_t::replace));
  } else {
    tally.print(out);
  }
  if (tally.failed() == 0) return {};
  return base::fail(ErrorCode::kCorrupt, "{} of {} could not be imported", tally.failed(),
                    counted(found.size(), "file", "files"));
}

base::Status ImportCommand::import(archive::Importer& importer, const std::vector<FoundWarc>& found,
                                   std::size_t workers, ImportTally& tally) {
  const auto work = [&](std::size_t i, const std::atomic<bool>& is_stopped) -> base::Status {
    const auto progress = [&](std::uint64_t bytes, std::uint64_t entries) -> base::Status {
      tally.add(bytes, entries);
      if (is_stopped) return base::fail(ErrorCode::kStopped, "stopped");
      return {};
    };
    const auto imported = importer.import(found[i].path, copies_, progress);
    if (imported) {
      tally.end(*imported);
      return {};
    }
    // Of our own disk; it ends everything.
    const ErrorCode code = imported.error().code();
    if (code == ErrorCode::kStopped || code == ErrorCode::kNoSpace) {
      return std::unexpected(imported.error());
    }
    // A file that a folder has by chance is no failure; one that was named is.
    if (code != ErrorCode::kInvalid || found[i].is_named) {
      tally.fail(found[i].path, imported.error());
    }
    return {};
  };
  return do_in_parallel({.count = found.size(), .workers = workers, .work = work, .progress = [&] {
                           return quiet_ ? std::string() : tally.progress();
                         }});
}

base::Status ImportCommand::remove(archive::Importer& importer, const StopSignals& signals,
                                   Output& out) {
  std::vector<std::string> paths;
  for (const std::string& path : paths_) {
    ASSIGN_OR_RETURN(paths.emplace_back(), env::absolute_path(path));
  }
  RETURN_IF_ERROR(told_to_go_on(importer.remove(paths, [&] { return signals.check(); })));
  if (json_) {
    out.print("{}\n", nlohmann::ordered_json{{"removed", paths_.size()}}.dump());
  } else {
    out.print("{} taken out of the index\n", counted(paths_.size(), "file", "files"));
  }
  return {};
}

}  // namespace

std::unique_ptr<Command> make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace meguri::app
