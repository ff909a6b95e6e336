#include <nlohmann/json.hpp>
#include <string>

#include "app/figures.h"
#include "app/warc_findings.h"
#include "app/warc_tools.h"
#include "app/warc_walk.h"
#include "archive/record_references.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using Json = nlohmann::ordered_json;

// Prints what is found as it is found.
class Checking {
 public:
  Checking(env::FileSystem& files, Output& out, bool is_quiet)
      : out_(out), walk_(files, true), is_quiet_(is_quiet) {}

  // An error: the file cannot be read, or is no WARC file.
  base::Status check(const std::string& path, std::uint32_t number) {
    findings_.begin_file(path);
    const auto end = walk_.walk(path, [&](const WalkedRecord& walked) {
      findings_.add_record(walked, references_.add(walked.record, number));
      tell();
      return !out_.is_broken();
    });
    if (!end) return std::unexpected(end.error());
    findings_.end_file(*end);
    tell();
    return {};
  }

  void note_unreadable(const base::Error& error) {
    findings_.add_trouble("", "unreadable", error.message());
    tell();
  }

  void finish(const std::vector<std::string>& paths) {
    for (const auto& place : references_.dangling()) {
      findings_.add_note(paths.at(place.file), std::to_string(place.offset), "refers_to_nothing",
                         "this revisit refers to no record in the files named");
    }
    walk_.clear();
    if (is_quiet_) {
      out_.print("{}\n", findings_.to_json().dump(-1, ' ', false, Json::error_handler_t::replace));
      return;
    }
    findings_.print_notes(out_);
    findings_.print_summary(out_);
  }

  std::uint64_t troubles() const { return findings_.troubles(); }

 private:
  void tell() {
    const auto troubles = findings_.take_new();
    if (is_quiet_ || troubles.empty()) return;
    walk_.clear();
    for (const WarcTrouble& trouble : troubles) {
      const std::string where = trouble.place.empty() ? "" : " at " + trouble.place;
      out_.print("{}{}: {}\n", printable(trouble.file), where, printable(trouble.what));
    }
    out_.flush();
  }

  Output& out_;
  WarcWalk walk_;
  WarcFindings findings_;
  archive::RecordReferences references_;
  const bool is_quiet_;  // all comes at the end
};

}  // namespace

void WarcCheck::declare(Options options) {
  options.arguments("FILE", paths_, "WARC or ARC files: plain, gzip or zstd");
  options.flag("--json", json_, "Print one JSON object");
}

base::Status WarcCheck::run(Output& out) {
  env::PosixFileSystem files;
  Checking checking(files, out, json_);
  for (std::size_t i = 0; i < paths_.size() && !out.is_broken(); ++i) {
    const base::Status status = checking.check(paths_[i], static_cast<std::uint32_t>(i));
    if (status) continue;
    // One sentence is enough where there is nothing else to tell.
    if (paths_.size() == 1 && !json_) return status;
    checking.note_unreadable(status.error());
  }
  checking.finish(paths_);
  if (checking.troubles() == 0) return {};
  const std::string found = counted(checking.troubles(), "fault was", "faults were");
  return base::fail(base::ErrorCode::kCorrupt, "{} found", found);
}

}  // namespace meguri::app
