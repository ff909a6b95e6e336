#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/archive_index.h"
#include "app/command.h"
#include "app/diff_run.h"
#include "app/figures.h"
#include "app/parallel_work.h"
#include "app/result_file.h"
#include "app/snapshot_arguments.h"
#include "archive/named_time.h"
#include "base/text.h"
#include "env/clock.h"
#include "env/posix_file_system.h"

namespace meguri::app {
namespace {

using archive::DifferenceKind;
using archive::DiffQuery;
using archive::PageVersion;
using base::ErrorCode;
using web::TextDiff;
using web::TextDiffOutcome;
using Json = nlohmann::ordered_json;
using KindSet = std::array<bool, archive::kDifferenceKinds>;

constexpr std::array kKinds = {DifferenceKind::kAdded, DifferenceKind::kGone,
                               DifferenceKind::kChanged, DifferenceKind::kUnchanged};

char mark_of(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::kAdded: return '+';
    case DifferenceKind::kGone: return '-';
    case DifferenceKind::kChanged: return '~';
    case DifferenceKind::kUnchanged: return '=';
  }
  return '?';
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<KindSet> parse_only(std::string_view text) {
  KindSet kinds = {true, true, true, false};
  if (text.empty()) return kinds;
  kinds = {};
  std::vector<std::string> names;
  for (const DifferenceKind kind : kKinds) names.emplace_back(archive::name_of(kind));
  for (;;) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, end);
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      return base::fail(ErrorCode::kInvalid,
                        "--only takes added, gone, changed and unchanged, with commas between, not "
                        "{}{}",
                        base::quoted(name), suggestion(name, names));
    }
    kinds[static_cast<std::size_t>(found - names.begin())] = true;
    if (end == text.size()) return kinds;
    text.remove_prefix(end + 1);
  }
}

// What is to be said of two texts that are not shown; empty: nothing.
std::string remark_of(const TextDiff& text) {
  switch (text.outcome) {
    case TextDiffOutcome::kSame: return "the text is the same";
    case TextDiffOutcome::kDiffers: return "";
    case TextDiffOutcome::kTooLong: return "the texts are too long to be compared";
    case TextDiffOutcome::kTooDifferent:
      return fmt::format("the texts are too different to be shown: {} less, {} more",
                         counted(text.removed, "line", "lines"), grouped(text.inserted));
  }
  return "";
}

std::string remarks_of(const ComparedPage& compared) {
  std::string remarks = compared.remark;
  const std::string of_text = compared.text == nullptr ? "" : remark_of(*compared.text);
  if (!of_text.empty()) remarks += (remarks.empty() ? "" : "; ") + of_text;
  return remarks;
}

// "~ URL", and under it, shifted so that they are no such lines, those of the texts.
void append_lines(const ComparedPage& compared, std::string& out) {
  const archive::PageDifference& page = compared.page;
  out.push_back(mark_of(page.kind));
  out.push_back(' ');
  base::append_printable(page.url, &out);
  out.push_back('\n');
  if (const std::string remarks = remarks_of(compared); !remarks.empty()) {
    out.append("  (");
    base::append_printable(remarks, &out);
    out.append(")\n");
  }
  if (compared.text == nullptr || compared.text->hunks.empty()) return;
  out += fmt::format("  --- {}\n  +++ {}\n", page.before->date.to_rfc3339_ms(),
                     page.after->date.to_rfc3339_ms());
  std::string_view rest = compared.text->hunks;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out.append("  ");
    base::append_printable(rest.substr(0, end), &out);
    out.push_back('\n');
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

Json json_of(const PageVersion& version) {
  Json json = {{"date", version.date.to_rfc3339_ms()}, {"status", version.status}};
  if (version.is_gone) return json;
  if (!version.mime.empty()) json["mime"] = version.mime;
  if (!version.digest.empty()) {
    json["digest"] = archive::digest_text(version.digest, version.is_sha1);
  }
  return json;
}

// A member of a list; the comma before the first is left out by whoever writes it.
void append_json(const ComparedPage& compared, std::string& out) {
  const archive::PageDifference& page = compared.page;
  Json json = {{"url", page.url}, {"difference", archive::name_of(page.kind)}};
  if (page.before != nullptr) json["before"] = json_of(*page.before);
  if (page.after != nullptr) json["after"] = json_of(*page.after);
  if (compared.text != nullptr) {
    json["lines_removed"] = compared.text->removed;
    json["lines_inserted"] = compared.text->inserted;
    if (!compared.text->hunks.empty()) json["text_diff"] = compared.text->hunks;
  }
  if (std::string remarks = remarks_of(compared); !remarks.empty()) {
    json["remark"] = std::move(remarks);
  }
  out.append(",\n").append(dumped(json));
}

std::string line_of(const DiffCounts& counts) {
  std::string line;
  for (const DifferenceKind kind : kKinds) {
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", grouped(counts.of(kind)),
                        archive::name_of(kind));
  }
  return line;
}

class DiffCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("DIR", archive_, "The archive; a crawl may run on it");
    options.option("--from", "TIME", from_,
                   "The first moment: 2026-11-18T08:00:00Z, 20261118, 2026-11 (when it ended), 7d "
                   "ago");
    options.option("--to", "TIME", to_, "The second; now if not said");
    pages_.declare(options);
    options.option("--only", "KINDS", only_,
                   "What is listed: added, gone, changed, unchanged, with commas between; all but "
                   "unchanged if not said. All are counted");
    options.flag("--text", text_, "Show how the text of each page changed, line by line");
    options.option("-o,--file", "FILE", file_, "Where to write; standard output if not said");
    options.option("--workers", "N", workers_, "Threads; as many as there are cores if not said");
    options.flag("--json", json_, "Write one JSON object with the counts and the list");
    options.flag("--quiet", quiet_, "Say nothing while it works");
  }

  base::Status run(Output& out) override;

 private:
  base::Result<DiffQuery> parse_query(base::Instant now) const;
  base::Result<DiffCounts> write(const DiffRun& run, ResultFile& file) const;
  Json head_of(const DiffQuery& query) const;
  static Json json_of_counts(const DiffCounts& counts);
  void tell(const DiffQuery& query, const DiffCounts& counts, const ResultFile& file,
            Output& out) const;

  PageArguments pages_;
  std::string archive_;
  std::string from_;
  std::string to_;
  std::string only_;
  std::string file_;
  std::string workers_;
  bool text_ = false;
  bool json_ = false;
  bool quiet_ = false;
};

base::Result<DiffQuery> DiffCommand::parse_query(base::Instant now) const {
  if (from_.empty()) {
    return base::fail(ErrorCode::kInvalid,
                      "--from is missing: say since when, such as --from '7d ago'");
  }
  DiffQuery query;
  ASSIGN_OR_RETURN(query.from, archive::parse_moment(from_, now));
  query.to = now;
  if (!to_.empty()) {
    ASSIGN_OR_RETURN(query.to, archive::parse_moment(to_, now));
  }
  if (query.from > query.to) {
    return base::fail(ErrorCode::kInvalid, "--from ({}) must not be later than --to ({})",
                      query.from.to_rfc3339_ms(), query.to.to_rfc3339_ms());
  }
  archive::SnapshotQuery chosen;
  RETURN_IF_ERROR(pages_.apply(chosen));
  query.scope = std::move(chosen.scope);
  query.filter = std::move(chosen.filter);
  return query;
}

base::Status DiffCommand::run(Output& out) {
  env::PosixFileSystem files;
  const env::RealClock clock;
  ASSIGN_OR_RETURN(const DiffQuery query, parse_query(clock.utc()));
  ASSIGN_OR_RETURN(const KindSet listed, parse_only(only_));
  ASSIGN_OR_RETURN(const std::size_t workers, parse_workers(workers_));
  ASSIGN_OR_RETURN(const auto index, open_archive_index(files, archive_));
  const DiffRun run{.files = files,
                    .archive = archive_,
                    .index = *index,
                    .query = query,
                    .is_listed = listed,
                    .has_text = text_,
                    .workers = workers,
                    // Lines on a terminal are progress enough.
                    .is_quiet = quiet_ || ResultFile::is_output(file_)};
  ASSIGN_OR_RETURN(const auto file, ResultFile::open(files, file_, out));
  const auto counts = write(run, *file);
  if (!counts) {
    // `meguri diff … | head`: the reader had what it wanted.
    if (counts.error().code() == ErrorCode::kStopped && out.is_broken()) return {};
    return std::unexpected(counts.error());
  }
  RETURN_IF_ERROR(file->finish());
  if (!ResultFile::is_output(file_)) tell(query, *counts, *file, out);
  if (counts->lost == 0) return {};
  return base::fail(ErrorCode::kCorrupt, "{} could not be read; 'meguri verify {}' says more",
                    counted(counts->lost, "record", "records"), archive_);
}

base::Result<DiffCounts> DiffCommand::write(const DiffRun& run, ResultFile& file) const {
  if (!json_) {
    ASSIGN_OR_RETURN(
        const DiffCounts counts,
        run_diff(run, append_lines, [&](std::string_view bytes) { return file.write(bytes); }));
    RETURN_IF_ERROR(file.write(line_of(counts) + "\n"));
    return counts;
  }
  std::string head = dumped(head_of(run.query));
  head.pop_back();
  RETURN_IF_ERROR(file.write(head + R"(,"differences":[)"));
  bool is_first = true;
  const auto write_members = [&](std::string_view bytes) {
    if (std::exchange(is_first, false)) bytes.remove_prefix(1);
    return file.write(bytes);
  };
  ASSIGN_OR_RETURN(const DiffCounts counts, run_diff(run, append_json, write_members));
  const std::string tail = dumped(json_of_counts(counts));
  RETURN_IF_ERROR(file.write((is_first ? "]," : "\n],") + tail.substr(1) + "\n"));
  return counts;
}

Json DiffCommand::head_of(const DiffQuery& query) const {
  return {{"archive", archive_},
          {"from", query.from.to_rfc3339_ms()},
          {"to", query.to.to_rfc3339_ms()}};
}

Json DiffCommand::json_of_counts(const DiffCounts& counts) {
  Json json = {{"counts", Json::object()}};
  for (const DifferenceKind kind : kKinds) {
    json["counts"][std::string(archive::name_of(kind))] = counts.of(kind);
  }
  json["lost"] = counts.lost;
  return json;
}

// Of what stands in a file.
void DiffCommand::tell(const DiffQuery& query, const DiffCounts& counts, const ResultFile& file,
                       Output& out) const {
  if (json_) {
    Json json = head_of(query);
    json["file"] = file_;
    json["bytes"] = file.bytes();
    json.update(json_of_counts(counts));
    out.print("{}\n", dumped(json));
    return;
  }
  out.print("{}: {} in {}\n", line_of(counts), bytes_text(file.bytes()), printable(file_));
}

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace meguri::app
