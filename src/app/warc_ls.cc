#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/figures.h"
#include "app/warc_tools.h"
#include "app/warc_walk.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using archive::DigestVerdict;
using Json = nlohmann::ordered_json;

// One word for how a record is.
std::string_view state_of(const WalkedRecord& walked) {
  // What was skipped lies before it.
  if (!walked.record.faults.without(archive::WarcFault::kSkipped).is_whole()) return "broken";
  const DigestVerdict block = walked.found.block.verdict;
  const DigestVerdict payload = walked.found.payload.verdict;
  const auto is_any = [&](DigestVerdict verdict) { return block == verdict || payload == verdict; };
  if (is_any(DigestVerdict::kWrong)) return "wrong";
  if (is_any(DigestVerdict::kRight)) return "ok";
  return is_any(DigestVerdict::kUnknown) ? "unknown" : "none";
}

std::string or_dash(std::string_view text) { return text.empty() ? "-" : printable(text); }

void print_line(const WalkedRecord& walked, Output& out) {
  const archive::WarcRecord& record = walked.record;
  const auto number = [](std::uint64_t value) {
    return value == 0 ? std::string("-") : std::to_string(value);
  };
  out.print("{:>11} {:>9} {:<9} {:<20} {:>3} {:<7} {:<20} {}\n", walked.place.to_string(),
            number(record.length), or_dash(record.type()), or_dash(record.get("WARC-Date")),
            number(static_cast<std::uint64_t>(walked.found.status)), state_of(walked),
            or_dash(walked.found.mime), or_dash(record.target_uri()));
}

void say(std::string_view text) {
  Output errors(stderr);
  errors.print("meguri warc: {}.\n", printable(text));
  errors.flush();
}

}  // namespace

void WarcLs::declare(Options options) {
  options.arguments("FILE", paths_, "WARC or ARC files: plain, gzip or zstd");
  options.flag("--json", json_, "Print a JSON object for each record, one a line");
}

base::Status WarcLs::run(Output& out) {
  env::PosixFileSystem files;
  WarcWalk walk(files, ::isatty(STDOUT_FILENO) == 0);
  std::uint64_t bad_files = 0;
  for (const std::string& path : paths_) {
    if (paths_.size() > 1 && !json_) out.print("{}:\n", printable(path));
    bool is_whole = true;
    const auto end = walk.walk(path, [&](const WalkedRecord& walked) {
      is_whole = is_whole && walked.record.faults.is_whole();
      if (json_) {
        out.print("{}\n",
                  json_of(walked, path).dump(-1, ' ', false, Json::error_handler_t::replace));
      } else {
        print_line(walked, out);
      }
      return !out.is_broken();
    });
    if (out.is_broken()) return {};
    if (end && is_whole && end->faults.is_whole()) continue;
    ++bad_files;
    const std::string reason =
        end ? path + " is damaged; 'meguri warc check' says where" : end.error().message();
    if (paths_.size() == 1) {
      return base::fail(end ? base::ErrorCode::kCorrupt : end.error().code(), "{}", reason);
    }
    out.flush();
    say(reason);
  }
  if (bad_files == 0) return {};
  return base::fail(base::ErrorCode::kCorrupt, "{} of {} could not be read, or not all of it",
                    bad_files, counted(paths_.size(), "file", "files"));
}

}  // namespace meguri::app
